/** The page's listener: who may call it, what it serves, and what passed between bot and sidecar. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createSandbox, type Page, type Sandbox } from '../../../src/sandbox/create.ts'
import { createBotTraffic, type BotTraffic } from '../../../src/sandbox/page/bot-traffic.ts'
import { rawRequest } from '../raw-request.ts'

let sandbox: Sandbox
let page: Page
let traffic: BotTraffic
beforeAll(async () => {
  sandbox = await createSandbox()
  traffic = createBotTraffic({ botId: sandbox.home.bot.id, now: () => sandbox.now() })
  page = await sandbox.startPage({ botTraffic: traffic })
})
afterAll(() => sandbox[Symbol.asyncDispose]())

const exchange = {
  kind: 'call' as const,
  method: 'POST',
  path: '/bot/v1/messages',
  request: '{"chatId":1}',
  status: 409,
  answer: '{"ok":false,"error":{"status":409,"code":"postern_no_recipient"}}',
}

/** The status of a POST with headers as a browser sends them. */
const knock = async (path: string, headers: Record<string, string>): Promise<number> =>
  (await rawRequest(page.url, { method: 'POST', path, headers })).status

const host = () => new URL(page.url).host

test('the page’s listener accepts its own page, and requests without fetch metadata', async () => {
  const own = { host: host(), origin: page.url, 'sec-fetch-site': 'same-origin' }
  expect(await knock('/control/people', own)).toBe(200)
  expect(await knock('/control/people', { host: host(), 'sec-fetch-site': 'none' })).toBe(200)
  expect(await knock('/control/people', { host: host() })).toBe(200)
})

test.each([
  ['another site', { 'sec-fetch-site': 'cross-site' }],
  ['another port of this machine', { 'sec-fetch-site': 'same-site' }],
  ['another origin', { origin: 'http://127.0.0.1:1' }],
  ['the same address over https', { origin: 'https://HOST' }],
  ['an opaque origin', { origin: 'null' }],
])('the page’s listener refuses %s', async (_what, headers) => {
  const sent = Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, value.replace('HOST', host())]),
  )
  expect(await knock('/control/people', { host: host(), ...sent })).toBe(403)
  expect(await knock('/', { host: host(), ...sent })).toBe(403)
})

test('the page’s listener answers an unknown Host with 421', async () => {
  const headers = { host: 'evil.example', origin: 'http://evil.example' }
  expect(await knock('/control/people', headers)).toBe(421)
})

test('every file of the page has a policy without foreign sources', async () => {
  for (const path of ['/', '/app.js', '/style.css', '/icon.svg', '/lib/preact.js', '/lib/htm.js']) {
    const answer = await fetch(page.url + path)
    const policy = answer.headers.get('content-security-policy') ?? ''
    expect(answer.status, path).toBe(200)
    expect(policy, path).toContain("default-src 'none'; script-src 'self'; style-src 'self'")
    expect(policy).not.toMatch(/unsafe|https?:|\*/)
    expect(answer.headers.get('x-content-type-options')).toBe('nosniff')
    expect(answer.headers.get('access-control-allow-origin')).toBeNull()
  }
})

test.each([
  '/files.ts',
  '/app.ts',
  '/lib/preact.d.ts',
  '/..%2ffiles.ts',
  '/lib/..%2f..%2ffiles.ts',
  '/%2e%2e/files.ts',
  '/node_modules/preact/package.json',
  '/.env',
])('the page’s listener does not serve %s', async (path) => {
  const answer = await fetch(page.url + path)
  expect(answer.status).toBe(404)
})

test('the page’s listener answers a refused operation with the error envelope', async () => {
  const answer = await fetch(`${page.url}/control/write`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: '{}',
  })
  expect(answer.status).toBe(400)
  expect(await answer.json()).toMatchObject({ ok: false, error: { code: 'bad_control' } })
})

const fetchTraffic = async (query = '') => {
  const answer = await fetch(`${page.url}/traffic${query}`)
  return ((await answer.json()) as { result: { last: number; exchanges: { n: number }[] } }).result
}

test('`/traffic` lists the exchanges in order, after a given number', async () => {
  traffic.record(exchange)
  traffic.record({ ...exchange, kind: 'delivery' })
  const { last, ...all } = await fetchTraffic()
  expect(all).toMatchObject({
    attachedTo: sandbox.home.bot.id,
    exchanges: [exchange, { ...exchange, kind: 'delivery' }],
  })
  expect((await fetchTraffic(`?after=${last - 1}`)).exchanges.map(({ n }) => n)).toEqual([last])
  expect((await fetchTraffic(`?after=${last}`)).exchanges).toEqual([])
  expect((await fetch(`${page.url}/traffic?after=x`)).status).toBe(400)
})

test('`BotTraffic` omits polls with an empty answer', async () => {
  const before = traffic.last
  const poll = { ...exchange, method: 'GET', path: '/bot/v1/updates?timeout=50', request: '' }
  traffic.record({ ...poll, status: 200, answer: '{"ok":true,"result":[]}' })
  traffic.record({ ...poll, status: 0, answer: '' })
  expect(traffic.last).toBe(before)
  traffic.record({ ...poll, status: 200, answer: '{"ok":true,"result":[{"updateId":1}]}' })
  traffic.record(poll)
  expect(traffic.last).toBe(before + 2)
})

test('`BotTraffic` drops the oldest exchanges above its bound of bytes', () => {
  const held = createBotTraffic({ botId: 1, now: () => 0 })
  const large = { ...exchange, answer: 'a'.repeat(5 * 1024 * 1024) }
  for (let n = 0; n < 5; n++) held.record(large)
  expect(held.list().map(({ n }) => n)).toEqual([3, 4, 5])
  const { answer: path } = large
  for (let n = 0; n < 5; n++) held.record({ ...exchange, path })
  expect(held.list().map(({ n }) => n)).toEqual([8, 9, 10])
})

test('the page’s event stream contains traffic and the events of the world', async () => {
  const stop = new AbortController()
  const answer = await fetch(`${page.url}/events`, { signal: stop.signal })
  expect(answer.headers.get('x-content-type-options')).toBe('nosniff')
  expect(answer.headers.get('cross-origin-resource-policy')).toBe('same-origin')
  expect(answer.headers.get('content-type')).toBe('text/event-stream')
  const kinds: string[] = []
  traffic.record(exchange)
  await sandbox.control.addPerson({ username: 'carol' })
  await sandbox.control.advance({ ms: 1 })
  const decoder = new TextDecoderStream()
  for await (const text of answer.body?.pipeThrough(decoder) ?? []) {
    kinds.push(...[...text.matchAll(/^event: (\w+)$/gm)].map(([, kind]) => kind ?? ''))
    if (kinds.includes('clock')) break
  }
  stop.abort()
  expect(kinds).toEqual(['traffic', 'clock'])
})

test('`/traffic` is empty without a sidecar', async () => {
  await using other = await createSandbox()
  await using alone = await other.startPage()
  const answer = await fetch(`${alone.url}/traffic`)
  expect(await answer.json()).toEqual({
    ok: true,
    result: { attachedTo: null, sinceMs: 0, last: 0, exchanges: [] },
  })
})

test('the page ends with its streams, alone or with its sandbox', async () => {
  await using other = await createSandbox()
  const first = await other.startPage()
  const stream = await fetch(`${first.url}/events`)
  await first[Symbol.asyncDispose]()
  await stream.text().catch(() => 'cut off')
  await expect(fetch(first.url)).rejects.toThrow()
  const second = await other.startPage()
  await other[Symbol.asyncDispose]()
  await expect(fetch(second.url)).rejects.toThrow()
})
