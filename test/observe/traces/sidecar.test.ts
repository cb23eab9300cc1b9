/** A sidecar with a collector, end to end: its spans, the caller's trace, and what no span holds. */
import { createServer } from 'node:http'
import { expect, onTestFinished, test } from 'vitest'
import { createSandbox, type SandboxOptions } from '../../../src/sandbox/create.ts'
import { startCollector, type Collector, type CollectedSpan } from '../../support/collector.ts'
import { listening } from '../../support/listening.ts'
import { startSidecar, until } from '../../support/sidecar.ts'

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736'
const CALLER = '00f067aa0ba902b7'
const JOINED = { traceparent: `00-${TRACE}-${CALLER}-01` }
const WORDS = 'the canary sings at the third stone'
const WITHIN = { timeout: 60_000 }

async function scene(env: Record<string, string> = {}, options: SandboxOptions = {}) {
  const collector = await startCollector()
  const sandbox = await createSandbox({ rates: 'off', ...options })
  onTestFinished(() => sandbox[Symbol.asyncDispose]())
  const sidecar = await startSidecar({
    upstream: sandbox.url,
    inside: true,
    env: { POSTERN_BOT_TOKEN: sandbox.token, OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, ...env },
  })
  onTestFinished(() => sidecar[Symbol.asyncDispose]())
  await sidecar.whenReady()
  const { alice, privateChat } = sandbox.home
  const phone = await sandbox.phone(alice.id)
  const call = (method: string, path: string, body?: object, headers: object = {}) =>
    sidecar.call(method, path, body, {
      headers: { authorization: `Bearer ${sandbox.token}`, ...headers },
    })
  return { collector, sandbox, sidecar, phone, chatId: privateChat, call }
}

const namesOf = (spans: CollectedSpan[]): string[] => [...new Set(spans.map(({ name }) => name))]
const find = ({ spans }: Collector, name: string): CollectedSpan => {
  const found = spans.find((span) => span.name === name)
  if (found === undefined) throw new Error(`no span ${name} among ${namesOf(spans).join(', ')}`)
  return found
}

test(
  'a send is a trace of the spans door, guard, keys, seal, store and upstream',
  WITHIN,
  async () => {
    const { collector, sandbox, sidecar, chatId, call } = await scene()
    expect((await call('POST', '/messages', { chatId, text: WORDS }, JOINED)).status).toBe(201)
    await sidecar.stop()
    const spans = collector.spans.filter(({ traceId }) => traceId === TRACE)
    expect(namesOf(spans).toSorted()).toEqual([
      'door',
      'guard',
      'keys',
      'seal',
      'store',
      'upstream',
    ])
    const door = find(collector, 'door')
    expect(door).toMatchObject({ kind: 2, parentSpanId: CALLER })
    expect(door.attributes).toMatchObject({
      'http.request.method': 'POST',
      'http.route': '/bot/v1/messages',
      'http.response.status_code': '201',
    })
    expect(door.status).toBeUndefined()
    expect(find(collector, 'guard')).toMatchObject({ kind: 1, parentSpanId: door.spanId })
    expect(find(collector, 'guard').attributes).toMatchObject({ 'postern.body': 'sealed' })
    expect(find(collector, 'seal').attributes).toMatchObject({ 'postern.recipients': '1' })
    const byId = new Map(spans.map((span) => [span.spanId, span]))
    for (const span of spans) {
      const from = BigInt(span.startTimeUnixNano)
      expect(BigInt(span.endTimeUnixNano)).toBeGreaterThanOrEqual(from)
      if (span === door) continue
      const parent = byId.get(span.parentSpanId ?? '')
      expect(from).toBeGreaterThanOrEqual(BigInt(parent?.startTimeUnixNano ?? Infinity))
    }
    // the service hears nothing of it
    expect(sandbox.transcript.search('/messages')).not.toEqual([])
    expect(sandbox.transcript.search(TRACE)).toEqual([])
    expect(sandbox.transcript.search('traceparent')).toEqual([])
  },
)

const tracesIn = (logs: string) =>
  logs
    .split('\n')
    .filter((line) => line.includes('/commands'))
    .map((line) => (JSON.parse(line) as { traceId?: string }).traceId)

test(
  'the log line of a request has a trace id, of the caller or of the sidecar',
  WITHIN,
  async () => {
    const { sidecar, collector, call } = await scene()
    await call('GET', '/commands', undefined, JOINED)
    await call('GET', '/commands')
    await sidecar.stop()
    const traces = tracesIn(sidecar.logs())
    const doors = collector.spans.filter(({ name }) => name === 'door')
    expect(traces[0]).toBe(TRACE)
    expect(doors.map(({ traceId }) => traceId)).toEqual(traces)
  },
)

test('the log has the trace id of the caller without a collector too', WITHIN, async () => {
  const { sidecar, collector, call } = await scene({ OTEL_EXPORTER_OTLP_ENDPOINT: '' })
  await call('GET', '/commands', undefined, JOINED)
  await call('GET', '/commands', undefined, { traceparent: `00-${TRACE}-${CALLER}-zz` })
  await sidecar.stop()
  expect(tracesIn(sidecar.logs())).toEqual([TRACE, undefined])
  expect(collector.exports).toEqual([])
})

test('a poll of the bot is a trace of the spans door, poll and open', WITHIN, async () => {
  const { collector, sidecar, phone, chatId, call } = await scene()
  await phone.write(chatId, WORDS)
  const polled = await call('GET', '/updates?timeout=5', undefined, JOINED)
  expect(polled.json.result[0].message.text).toBe(WORDS)
  await sidecar.stop()
  const spans = collector.spans.filter(({ traceId }) => traceId === TRACE)
  expect(namesOf(spans)).toEqual(expect.arrayContaining(['door', 'poll', 'open', 'store']))
  const door = find(collector, 'door')
  for (const name of ['poll', 'open']) {
    expect(find(collector, name).parentSpanId).toBe(door.spanId)
  }
  expect(find(collector, 'open').attributes).toMatchObject({
    'postern.updates': '1',
    'postern.delivered': '1',
  })
})

test('polls, opened batches and deliveries for a webhook are separate traces', WITHIN, async () => {
  const bot = createServer((request, response) => {
    request.resume().on('end', () => response.writeHead(isWell ? 200 : 500).end())
  })
  let isWell = false
  const { collector, sidecar, phone, chatId, call } = await scene()
  const url = await listening(bot)
  expect((await call('POST', '/webhook', { url })).status).toBeLessThan(300)
  await phone.write(chatId, WORDS)
  const count = async (outcome: string): Promise<boolean> => {
    const text = await (await fetch(`${sidecar.adminUrl}/metrics`)).text()
    return new RegExp(`deliveries_total\\{outcome="${outcome}"\\} [1-9]`).test(text)
  }
  await until(() => count('refused'), 'a failed delivery')
  isWell = true
  await until(() => count('delivered'), 'a delivery')
  await sidecar.stop()
  const deliveries = collector.spans.filter(({ name }) => name === 'deliver')
  expect(deliveries.map(({ attributes }) => attributes['error.type'])).toContain('refused')
  expect(deliveries.at(-1)).toMatchObject({ kind: 3, attributes: { 'postern.failures': '0' } })
  expect(deliveries.at(-1)?.status).toBeUndefined()
  for (const name of ['poll', 'open']) {
    const last = collector.spans.findLast((span) => span.name === name)
    expect(last?.spanId).toBeDefined()
    expect(last?.parentSpanId).toBeUndefined()
  }
})

test('a refusal appears in its spans as a code, without a message', WITHIN, async () => {
  const { collector, sandbox, sidecar, chatId, call } = await scene()
  await sandbox.control.fault({
    name: 'error',
    route: 'getChatKeys',
    status: 403,
    code: 'forbidden',
  })
  const refused = await call('POST', '/messages', { chatId, text: WORDS }, JOINED)
  expect(refused.status).toBe(403)
  await sidecar.stop()
  const failed = collector.spans.filter(
    ({ traceId, status }) => traceId === TRACE && status?.code === 2,
  )
  expect(namesOf(failed)).toEqual(expect.arrayContaining(['door', 'keys', 'upstream']))
  expect(new Set(failed.map(({ attributes }) => attributes['error.type']))).toEqual(
    new Set(['forbidden']),
  )
  expect(collector.text()).not.toContain(refused.json.error.message)
})

test.each([
  ['hash', /^#[0-9a-f]{12}$/],
  ['plain', /^\d+$/],
  ['none', undefined],
] as const)(
  '`traces.ids: %s` determines the form of chat ids in spans',
  WITHIN,
  async (ids, shown) => {
    const { collector, sidecar, chatId, call } = await scene({ POSTERN_TRACES_IDS: ids })
    await call('POST', '/messages', { chatId, text: WORDS })
    await call('GET', `/chats/${chatId}`)
    await sidecar.stop()
    const { 'postern.chat_id': id } = find(collector, 'guard').attributes
    if (shown === undefined) expect(id).toBeUndefined()
    else expect(id).toMatch(shown)
    expect(collector.text().includes(String(chatId))).toBe(ids === 'plain')
  },
)

test(
  'no exported span contains texts, tokens, user input, headers of the bot or `tracestate`',
  WITHIN,
  async () => {
    const collectorSecret = 'the collector lets nobody else in'
    const { collector, sandbox, sidecar, phone, chatId, call } = await scene({
      OTEL_EXPORTER_OTLP_HEADERS: `x-key=${encodeURIComponent(collectorSecret)}`,
      OTEL_SERVICE_NAME: 'the bot of the house',
      OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment=test,service.name=other',
    })
    const hidden = { tracestate: 'vendor=hidden-words', 'x-hidden': 'hidden-words', ...JOINED }
    await call('POST', '/messages', { chatId, text: WORDS }, hidden)
    await call('POST', '/messages', { chatId, text: WORDS, [WORDS]: WORDS }, hidden)
    await call('GET', `/users/${encodeURIComponent(WORDS)}/key`, undefined, hidden)
    await call('GET', `/nowhere/${encodeURIComponent(WORDS)}`, undefined, hidden)
    await phone.write(chatId, WORDS)
    await call('GET', '/updates?timeout=5', undefined, hidden)
    await sidecar.stop()
    expect(collector.spans.length).toBeGreaterThan(10)
    const forbidden = [
      WORDS,
      encodeURIComponent(WORDS),
      sandbox.token,
      'hidden-words',
      'PGP',
      collectorSecret,
    ]
    for (const text of forbidden) expect(collector.text()).not.toContain(text)
    expect(collector.exports[0]).toMatchObject({
      path: '/v1/traces',
      headers: { 'x-key': collectorSecret, 'content-type': 'application/json' },
      resource: { 'service.name': 'the bot of the house', 'deployment.environment': 'test' },
    })
  },
)

test('an invalid traceparent begins a new trace', WITHIN, async () => {
  const { collector, sidecar, call } = await scene()
  const traceparent = JOINED.traceparent.toUpperCase()
  expect((await call('GET', '/commands', undefined, { traceparent })).status).toBe(200)
  await sidecar.stop()
  expect(find(collector, 'door').parentSpanId).toBeUndefined()
  expect(find(collector, 'door').traceId).not.toBe(TRACE)
})

test('a caller that does not sample, or has no valid token, causes no span', WITHIN, async () => {
  const { collector, sidecar, call } = await scene()
  await call('GET', '/commands', undefined, { traceparent: `00-${TRACE}-${CALLER}-00` })
  await call('GET', '/commands', undefined, { ...JOINED, authorization: 'Bearer bot_1.guessed' })
  await sidecar.stop()
  expect(collector.spans.filter(({ name }) => name === 'door')).toEqual([])
})
