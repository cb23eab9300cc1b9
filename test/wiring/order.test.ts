/** The order in which a bot starts and stops, listeners of the outbox, and reloads of settings. */
import { expect, onTestFinished, test, vi } from 'vitest'
import { createHostedBots } from '../../src/wiring/several/hosted-bots.ts'
import type { LoadedBot } from '../../src/config/read-several.ts'
import { SecretSource } from '../../src/config/secrets.ts'
import { settingsFrom, type Secrets } from '../../src/config/settings.ts'
import { MetricRegistry } from '../../src/observe/metrics.ts'
import { sendNow } from '../../src/outbox/give.ts'
import { Outbox } from '../../src/outbox/outbox.ts'
import { createBot } from '../../src/wiring/bot.ts'
import { subscribeOutbox } from '../../src/wiring/subscriptions.ts'
import { entryOf, SENT } from '../outbox/support.ts'
import { temporary } from '../store/support.ts'
import { watchedLog } from '../support/watched-log.ts'
import { storeWith, useCore } from './core-scene.ts'
import { count, expectEffects, line, scene as playedScene } from './subscriptions-scene.ts'

vi.mock('../../src/outbox/give.ts', { spy: true })

const { engine } = useCore()
const log = watchedLog()
const upstream = { url: 'http://127.0.0.1:9' }
const SECRETS = { botToken: SecretSource.fromValue('t'), clientToken: null, passphrase: null }
const START = ['watch', 'publication', 'consumers', 'webhook', 'backlog', 'outbox']
const STOP = ['stopping', 'watch ends', 'webhook ends', 'consumers end', 'outbox begins no send']

test('a bot starts in its order, and stops in mid-send once the send is recorded', async () => {
  const settings = settingsFrom({ upstream, dataDir: temporary() })
  const parts = { store: await storeWith('active'), engine }
  const bot = await createBot({ settings, secrets: SECRETS, log, parts })
  onTestFinished(() => bot[Symbol.asyncDispose]())
  onTestFinished(() => void vi.restoreAllMocks())
  const { link, core, updates } = bot
  const order: string[] = []
  const note = (name: string, part: object | null, method: PropertyKey) => {
    const methods = part as Record<PropertyKey, (...args: unknown[]) => unknown>
    const real = methods[method] as (...args: unknown[]) => unknown
    vi.spyOn(methods, method).mockImplementation(function (this: unknown, ...args: unknown[]) {
      order.push(name)
      return Reflect.apply(real, this, args)
    })
  }
  const begun = [link.watch, core.publication, updates.consumers, updates.webhook, updates.backlog]
  for (const [at, part] of [...begun, Outbox.prototype].entries())
    note(START[at] ?? '', part, 'start')
  const ended = Promise.withResolvers<void>()
  vi.mocked(sendNow).mockImplementation(async () => {
    order.push('send')
    await ended.promise
    return SENT
  })
  bot.start()
  const add = () => core.outbox.add(entryOf({ dueAtMs: Date.now() }), Buffer.from('{}'))
  const { id } = await add()
  await expect.poll(() => order).toEqual([...START, 'send'])
  const behind = await add()
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
  const all = [...START, 'send', ...STOP, 'door drains', 'calls end']
  expect([...new Set(order)]).toEqual(all)
  ended.resolve()
  await stopping
  expect(order.at(-1)).toBe('stopped')
  expect(core.outbox.get(id)).toMatchObject({ state: 'sent', sentId: 7 })
  expect([core.outbox.get(behind.id)?.state, updates.news.after(0)]).toEqual(['waiting', []])
  expect(counted).toHaveBeenCalledWith('postern_outbox_settled_total', { outcome: 'sent' })
})

test('the end of an entry is counted and logged, and an entry that waits too long is a reason', async () => {
  const { parts, link, log: played } = playedScene()
  subscribeOutbox(parts.part('outbox', { entries: parts.part('entries') }), link, played)
  const effect = (state: string, level: string) => {
    const fields = { entry: 'e', outcome: state, chatId: 8, code: null }
    const calls = [
      count('outbox_settled_total', { outcome: state }),
      line(level, fields, 'left the outbox'),
    ]
    return ['entries.onSettled', { id: 'e', chatId: 8, code: null, state }, calls] as const
  }
  await expectEffects(parts, [
    effect('sent', 'log.info'),
    effect('refused', 'log.warn'),
    effect('held', 'log.warn'),
    effect('replaced', 'log.debug'),
    ['outbox.onStuck', { id: 'e' }, ['health.show "outbox-stuck" "entry e"']],
    ['outbox.onStuck', null, ['health.show "outbox-stuck" null']],
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
  'a reload with another `%s` starts its bot anew: %s',
  async (...row) => {
    const [name, isChanged] = row
    const dataDir = temporary()
    const loaded = (value: string): LoadedBot => {
      const secret = name === 'howToMakePassphrase' ? value : SecretSource.fromValue(value)
      const settings = settingsFrom({ upstream, dataDir })
      return { name: 'news', settings, secrets: { ...SECRETS, [name]: secret } } as never
    }
    const registry = new MetricRegistry()
    const bots = createHostedBots({
      log,
      logOf: () => log,
      engine,
      registry,
      parts: { database: null },
    })
    onTestFinished(() => bots[Symbol.asyncDispose]())
    expect((await bots.set([loaded('one')])).added).toEqual(['news'])
    expect((await bots.set([loaded('one')])).changed).toEqual([])
    expect((await bots.set([loaded('two')])).changed).toEqual(isChanged ? ['news'] : [])
  },
)
