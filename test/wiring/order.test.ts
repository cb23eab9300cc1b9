/** The order in which a bot starts and stops, listeners of the outbox, and reloads of settings. */
import { expect, onTestFinished, test, vi } from 'vitest'
import { HostedBots } from '../../src/bots/hosted-bots.ts'
import type { LoadedBot } from '../../src/config/read-several.ts'
import { SecretSource } from '../../src/config/secrets.ts'
import { settingsFrom, type Secrets } from '../../src/config/settings.ts'
import { MetricRegistry } from '../../src/observe/metrics.ts'
import { sendNow } from '../../src/outbox/give.ts'
import { Outbox } from '../../src/outbox/outbox.ts'
import { createBot } from '../../src/wiring/bot.ts'
import { subscribeOutbox } from '../../src/wiring/subscriptions.ts'
import { entryOf } from '../outbox/support.ts'
import { temporary } from '../store/support.ts'
import { watchedLog } from '../support/watched-log.ts'
import { storeWith, useCore } from './core-scene.ts'
import { count, expectEffects, line, scene as playedScene } from './subscriptions-scene.ts'

vi.mock('../../src/outbox/give.ts', { spy: true })

const { engine } = useCore()

async function scene() {
  const secrets = { botToken: SecretSource.fromValue('t'), clientToken: null, passphrase: null }
  const store = await storeWith('active')
  const upstream = { url: 'http://127.0.0.1:9' }
  const settings = settingsFrom({ upstream, dataDir: temporary() })
  const bot = await createBot({ settings, secrets, log: watchedLog(), parts: { store, engine } })
  onTestFinished(() => bot[Symbol.asyncDispose]())
  onTestFinished(() => void vi.restoreAllMocks())
  const order: string[] = []
  /** Notes each call of a method. */
  const note = (name: string, part: object, method: PropertyKey) => {
    const methods = part as Record<PropertyKey, (...args: unknown[]) => unknown>
    const real = methods[method] as (...args: unknown[]) => unknown
    vi.spyOn(methods, method).mockImplementation(function (this: unknown, ...args: unknown[]) {
      order.push(name)
      return Reflect.apply(real, this, args)
    })
  }
  return { bot, order, note }
}

test('a bot starts its parts in their order, the outbox last', async () => {
  const { bot, order, note } = await scene()
  const { link, core, updates } = bot
  note('watch', link.watch, 'start')
  note('publication', core.publication ?? {}, 'start')
  note('consumers', updates.consumers, 'start')
  note('webhook', updates.webhook, 'start')
  note('backlog', updates.backlog, 'start')
  note('outbox', Outbox.prototype, 'start')
  bot.start()
  expect(order).toEqual(['watch', 'publication', 'consumers', 'webhook', 'backlog', 'outbox'])
  await bot.stop(async () => {})
})

test('a bot that stops in mid-send ends its calls, and ends once the send is recorded', async () => {
  const { bot, order, note } = await scene()
  const { link, core, updates } = bot
  const ended = Promise.withResolvers<void>()
  vi.mocked(sendNow).mockImplementation(async () => {
    order.push('send begins')
    await ended.promise
    return { code: null, sentId: 7, retryMs: null, mayPass: false, isOfAll: false }
  })
  bot.start()
  const { id } = await core.outbox.add(entryOf({ dueAtMs: Date.now() }), Buffer.from('{}'))
  await expect.poll(() => order).toEqual(['send begins'])
  const behind = await core.outbox.add(entryOf({ dueAtMs: Date.now() }), Buffer.from('{}'))
  const counted = vi.spyOn(link.metrics, 'count')
  note('stopping', link.health, 'set')
  note('watch ends', link.watch, 'stop')
  note('webhook ends', updates.webhook, Symbol.asyncDispose)
  note('consumers end', updates.consumers, Symbol.asyncDispose)
  note('outbox begins no send', Outbox.prototype, Symbol.asyncDispose)
  note('calls end', link, Symbol.asyncDispose)
  const stopping = bot.stop(async () => void order.push('door drains'))
  void stopping.then(() => order.push('stopped'))
  await expect.poll(() => order).toContain('calls end')
  for (let n = 0; n < 50; n++) await new Promise(setImmediate)
  expect([...new Set(order)]).toEqual([
    'send begins',
    'stopping',
    'watch ends',
    'webhook ends',
    'consumers end',
    'outbox begins no send',
    'door drains',
    'calls end',
  ])
  ended.resolve()
  await stopping
  expect(order.at(-1)).toBe('stopped')
  expect(core.outbox.get(id)).toMatchObject({ state: 'sent', sentId: 7 })
  expect(core.outbox.get(behind.id)?.state).toBe('waiting')
  expect(counted).toHaveBeenCalledWith('postern_outbox_settled_total', { outcome: 'sent' })
})

test('the end of an entry is counted and logged, and an entry that waits too long is a reason', async () => {
  const { parts, link, log } = playedScene()
  subscribeOutbox(parts.part('outbox'), link, log)
  const event = { id: 'e', chatId: 8, code: null }
  const ended = (outcome: string, code: string | null) => [
    count('outbox_settled_total', { outcome }),
    line(
      outcome === 'sent' ? 'log.info' : 'log.warn',
      { entry: 'e', outcome, chatId: 8, code },
      'left the outbox',
    ),
  ]
  await expectEffects(parts, [
    ['outbox.onSettled', { ...event, state: 'sent' }, ended('sent', null)],
    ['outbox.onSettled', { ...event, state: 'refused', code: 'x' }, ended('refused', 'x')],
    ['outbox.onSettled', { ...event, state: 'held', code: 'y' }, ended('held', 'y')],
    ['outbox.onStuck', { id: 'e' }, ['health.set "outbox-stuck" "entry e"']],
    ['outbox.onStuck', null, ['health.clear "outbox-stuck"']],
  ])
})

/** Whether a bot starts anew at a reload where this secret is another one; else it is of the process. */
const OF_BOT: Record<keyof Secrets, boolean> = {
  botToken: true,
  clientToken: true,
  passphrase: true,
  agentPin: true,
  alertUrl: true,
  storeUrl: false,
  traceHeaders: false,
  howToMakePassphrase: false,
}

test.each(Object.entries(OF_BOT))(
  'a reload with another %s starts its bot anew: %s',
  async (name, isChanged) => {
    const upstream = { url: 'http://127.0.0.1:9' }
    const settings = settingsFrom({ upstream, dataDir: '/nowhere' })
    const secret = (value: string) =>
      name === 'howToMakePassphrase' ? value : SecretSource.fromValue(value)
    const loaded = (value: string): LoadedBot => {
      const usual = { botToken: SecretSource.fromValue('t'), clientToken: null, passphrase: null }
      const secrets = { ...usual, [name]: secret(value) }
      return { name: 'news', settings, secrets } as unknown as LoadedBot
    }
    const bots = new HostedBots({
      log: watchedLog(),
      logOf: () => watchedLog(),
      engine,
      registry: new MetricRegistry(),
      parts: { database: null },
    })
    onTestFinished(() => bots[Symbol.asyncDispose]())
    expect((await bots.set([loaded('one')])).added).toEqual(['news'])
    expect((await bots.set([loaded('one')])).changed).toEqual([])
    expect((await bots.set([loaded('two')])).changed).toEqual(isChanged ? ['news'] : [])
  },
)
