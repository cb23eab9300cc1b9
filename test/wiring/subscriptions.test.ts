/** Reports of a whole sidecar in traffic: its metrics, its log and its memory of people. */
import { createServer } from 'node:http'
import { expect, onTestFinished, test } from 'vitest'
import { Health } from '../../src/observe/health.ts'
import { Metrics } from '../../src/observe/metrics.ts'
import { createSandbox } from '../../src/sandbox/create.ts'
import type { Core } from '../../src/wiring/core.ts'
import type { Link } from '../../src/wiring/link.ts'
import { subscribeCore, subscribeUpdates } from '../../src/wiring/subscriptions.ts'
import { callAt } from '../support/bot-call.ts'
import { listening } from '../support/listening.ts'
import { startOnSandbox } from '../support/sidecar-on-sandbox.ts'
import { watchedLog } from '../support/watched-log.ts'
import { PlayedParts } from './played-parts.ts'

/** A sidecar before a sandbox in which Alice has a phone, and Bob has none. */
async function scene() {
  const sandbox = await createSandbox({ rates: 'off', webhooks: 'local' })
  onTestFinished(() => sandbox[Symbol.asyncDispose]())
  const alice = await sandbox.phone(sandbox.home.alice.id)
  const sidecar = await startOnSandbox(sandbox, { POSTERN_LOG_LEVEL: 'debug' })
  const metrics = async () => await (await fetch(`${sidecar.admin}/metrics`)).text()
  const send = (chatId: number) => sidecar.call('POST', '/messages', { chatId, text: 'words' })
  return { sandbox, sidecar, alice, send, metrics, home: sandbox.home }
}

/** Lines of `/metrics` without their prefix. */
const linesOf = (shown: string) => shown.split('\n').map((line) => line.replace(/^postern_/, ''))

test('the metrics of a sidecar count seals, opened messages, requests and calls to the service', async () => {
  const { sandbox, sidecar, alice, send, metrics, home } = await scene()
  expect((await send(home.privateChat)).status).toBe(201)
  await alice.write(home.privateChat, 'hello')
  const base64 = Buffer.from('%PDF-1.7').toString('base64')
  const { alice: from, privateChat: chatId } = home
  await sandbox.control.sendMedia({ userId: from.id, chatId, text: 'a file', base64 })
  const { result } = (await sidecar.call('GET', '/updates?timeout=5')).json
  expect(result).toHaveLength(2)
  const { url } = result[1].message.media[0]
  const file = await callAt(sidecar.bot, sandbox.token, { method: 'GET', path: url, prefix: '' })
  expect(file.text).toBe('%PDF-1.7')
  const requests = 'requests_total{method="POST",route="/bot/v1/messages",status="201"} 1'
  await expect.poll(async () => linesOf(await metrics())).toContain(requests)
  const shown = linesOf(await metrics())
  expect(shown).toEqual(
    expect.arrayContaining([
      'seals_total 1',
      'seal_recipients_sum 1',
      'seal_skipped_recipients_total 0',
      'seals_unnamed_total 0',
      'opens_total{verdict="verified"} 2',
      'opened_by_key_total{state="active"} 3',
      'own_keys{state="active"} 1',
      'key_situation{situation="equal"} 1',
      'ready 1',
      'own_calls_limit 300',
      'upstream_calls_total{owner="bot",status="2xx"} 2',
      'workers_killed_total 0',
    ]),
  )
  const own = shown.find((line) =>
    line.startsWith('upstream_calls_total{owner="sidecar",status="2xx"'),
  )
  expect(Number(own?.split(' ').at(-1))).toBeGreaterThan(2)
  const ofLastMinute = shown.find((line) => line.startsWith('own_calls_last_minute '))
  expect(ofLastMinute).toMatch(/ [1-9]/)
})

test('`/me` shows the bot the state and the fingerprint of its published key', async () => {
  const { sandbox, sidecar, home } = await scene()
  const { key } = await sandbox.control.bot({ botId: home.bot.id })
  expect((await sidecar.call('GET', '/me')).json.result.postern).toMatchObject({
    publication: 'published',
    key: key?.fingerprint,
  })
})

test('the metrics of a sidecar count calls that the service does not answer', async () => {
  const { sandbox, sidecar, metrics } = await scene()
  await sandbox.control.fault({ name: 'cut' })
  expect((await sidecar.call('GET', '/commands')).status).toBe(502)
  expect(await metrics()).toMatch(
    /^postern_upstream_unanswered_total\{code="postern_upstream_unreachable"\} [1-9]/m,
  )
  expect((await sidecar.readiness()).reasons).toEqual(['upstream'])
})

test('the log of a sidecar reports its start, its webhook, deliveries, and skipped recipients', async () => {
  const { sandbox, sidecar, alice, send, home } = await scene()
  let deliveries = 0
  const bot = createServer((request, response) => {
    request.resume().on('end', () => response.writeHead(deliveries++ === 0 ? 500 : 200).end())
  })
  const url = `${await listening(bot)}/secret-path`
  expect((await sidecar.call('POST', '/webhook', { url })).status).toBe(200)
  await alice.write(home.privateChat, 'hello')
  const said = () => {
    const lines = sidecar.output().split('\n')
    return lines.map((line) => (JSON.parse(line) as { msg?: string }).msg)
  }
  await expect.poll(said).toContain('an update is delivered')
  const { key } = await sandbox.control.bot({ botId: home.bot.id })
  const { publicKey = '', fingerprint = '' } = key ?? {}
  await sandbox.control.publishKey({ userId: home.bob.id, publicKey, fingerprint })
  const sent = await send(home.encryptedGroup)
  expect(sent.json.result.postern.skipped).toMatchObject([{ userId: home.bob.id }])
  expect(said()).toEqual(
    expect.arrayContaining([
      'ready',
      'the webhook is set',
      'a delivery to the webhook failed',
      'sealed, but not to everybody',
    ]),
  )
  expect(sidecar.output()).not.toContain('secret-path')
})

/** Reports about updates of played parts. */
function updatesScene() {
  const parts = new PlayedParts()
  const metrics = new Metrics()
  const health = new Health()
  const lines: unknown[] = []
  const consumers = parts.part('consumers', { queue: parts.part('queue') })
  const webhook = parts.part('webhook', { own: null })
  const [polls, backlog] = [parts.part('polls'), parts.part('backlog')]
  subscribeUpdates(
    parts.part('updates', { webhook, polls, backlog, consumers }),
    { store: parts.part('store') },
    parts.part('link', { health, metrics, watch: parts.part('watch') }),
    { settings: {} as never, log: watchedLog(({ msg }) => lines.push(msg)) },
  )
  return { parts, metrics, health, lines }
}

test('a failed delivery makes the sidecar read the state of the queue at the service', async () => {
  const { parts } = updatesScene()
  const failure = { kind: 'status', message: 'it answered 500' }
  const failed = { updateId: 5, failure, ms: 20, failures: 1, waitMs: 1500 }
  expect(await parts.fire('updates.onDeliveryFailed', failed)).toContain('backlog.markBehind')
})

test('a call that succeeds after a token revocation starts deliveries again', async () => {
  const { parts } = updatesScene()
  expect(await parts.fire('watch.onRevived')).toEqual(['webhook.start', 'consumers.start'])
})

test('a consumer that is far behind is a reason, and lost updates are counted and logged', async () => {
  const { parts, metrics, health, lines } = updatesScene()
  const behind = [{ name: 'archive', count: 45 }]
  await parts.fire('queue.onLaggards', { behind, dropped: [{ name: 'reporter', count: 90 }] })
  expect(health.all()[0]?.message).toContain('archive: 45 updates')
  expect(await metrics.registry.text()).toContain(
    'postern_consumer_updates_dropped_total{consumer="reporter"} 90',
  )
  expect(lines).toEqual(['a consumer was too far behind, and lost updates'])
  await parts.fire('queue.onLaggards', { behind: [], dropped: [] })
  expect(health.ready).toBe(true)
})

test.each([
  ['knownChats.onFull', 'too-many-chats', 'chats'],
  ['trust.onFull', 'too-many-people', 'people'],
  ['rowSeal.onForged', 'rows-forged', 'clients'],
])('`%s` raises the alert `%s` and writes a line of the log', async (event, alert, logged) => {
  const forged: object[] = []
  const parts = new PlayedParts()
  const made = (...names: string[]) =>
    Object.fromEntries(names.map((name) => [name, parts.part(name)]))
  const known = made('journal', 'trust', 'names', 'knownChats', 'keyListHistory')
  const absent = { replayMemory: null, holder: null, publication: null, incoming: null }
  const own = made('engine', 'keyring', 'attachments', 'messages', 'clearFields')
  const store = parts.part('store', { rowSeal: parts.part('rowSeal', { forged }) })
  const core: Core = parts.part('core', { ...own, ...absent, known, store })
  const link: Link = parts.part('link', made('health', 'metrics', 'watch', 'alerts', 'warnings'))
  const lines: unknown[] = []
  using _subscriptions = subscribeCore(
    core,
    link,
    watchedLog(({ what, table }) => lines.push(what ?? table)),
  )
  forged.push({ table: 'clients', key: 'm' })
  const calls = await parts.fire(event)
  expect(calls.at(-1)).toMatch(`alerts.raise {"alert":"${alert}"`)
  expect(lines).toEqual([logged])
})
