/** The page's listener: the sidecar's readiness, restarts, calls sent again, and other worlds. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createSandbox, type Page, type Sandbox } from '../../../src/sandbox/create.ts'
import { createBotTraffic, type BotTraffic } from '../../../src/sandbox/page/bot-traffic.ts'
import type { PageSidecar } from '../../../src/sandbox/page/sidecar.ts'
import { rawRequest } from '../raw-request.ts'

const TOKEN = 'a'.repeat(40)
let sandbox: Sandbox
let page: Page
let traffic: BotTraffic
let restarted = 0
const reason = { code: 'clock_skew', message: 'the clock', hint: 'set it', sinceMs: 5 }

beforeAll(async () => {
  sandbox = await createSandbox({ controlToken: TOKEN })
  traffic = createBotTraffic({ botId: sandbox.home.bot.id, now: () => sandbox.now() })
  const restarts: PageSidecar['restarts'] = new Map([
    ['sidecar', () => Promise.resolve(void restarted++)],
    ['bot', () => Promise.reject(new Error('no such program'))],
  ])
  const readiness = () => Promise.resolve({ ready: false, reasons: [reason] })
  const sidecar = { botUrl: sandbox.url, readiness, restarts }
  page = await sandbox.startPage({ botTraffic: traffic, sidecar })
})
afterAll(() => sandbox[Symbol.asyncDispose]())

const origin = () => new URL(page.url).origin
const bearer = { authorization: `Bearer ${TOKEN}` }

async function call(path: string, body?: object) {
  const answer = await fetch(origin() + path, {
    method: body === undefined ? 'GET' : 'POST',
    headers: { ...bearer, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  const { result, error } = (await answer.json()) as { result?: unknown; error?: object }
  return { status: answer.status, result, error }
}

const exchange = {
  kind: 'call' as const,
  method: 'GET',
  path: '/bot/v1/me',
  request: '',
  status: 200,
  answer: '{}',
}
const record = (of: Partial<typeof exchange>): number => {
  traffic.record({ ...exchange, ...of })
  return traffic.last
}

describe('the sidecar on the page’s listener', () => {
  test('`/sidecar` shows why the sidecar is not ready, and the restarts on offer', async () => {
    const { botUrl } = { botUrl: sandbox.url }
    const result = { botUrl, ready: false, reasons: [reason], restarts: ['sidecar', 'bot'] }
    expect(await call('/sidecar')).toMatchObject({ status: 200, result })
  })

  test('`/restart` restarts the sidecar, reports a failed start, and refuses an unknown program', async () => {
    expect(await call('/restart', { what: 'sidecar' })).toMatchObject({ status: 200 })
    expect(restarted).toBe(1)
    const { status, error } = await call('/restart', { what: 'bot' })
    expect([status, error]).toEqual([400, expect.objectContaining({ code: 'bad_control' })])
    expect(JSON.stringify(error)).toContain('no such program')
    expect(await call('/restart', { what: 'service' })).toMatchObject({ status: 400 })
  })
})

describe('a replayed call', () => {
  test('`/replay` sends a call again with the current token, to the sidecar and to the service', async () => {
    const { home, control } = sandbox
    const n = record({})
    await control.issueToken({ botId: home.bot.id })
    expect(await call('/replay', { to: 'sidecar', n })).toMatchObject({ result: { status: 200 } })
    const made = sandbox.transcript.list().findLast(({ path }) => path === '/bot/v1/me')
    expect(await call('/replay', { to: 'service', n: made?.n ?? 0 })).toMatchObject({
      result: { status: 200 },
    })
    expect(sandbox.transcript.list().filter(({ path }) => path === '/bot/v1/me')).toHaveLength(2)
  })

  test.each([
    '//evil.example/x',
    '@evil.example/',
    'http://evil.example/',
    ':1/',
    '.evil.example/',
  ])('`/replay` of the recorded path %s stays at the sidecar’s address', async (path) => {
    const before = sandbox.transcript.list().length
    const answer = await call('/replay', { to: 'sidecar', n: record({ path }) })
    const isElsewhere = answer.status === 400
    // A path with two slashes stays here, and is unknown here.
    expect(isElsewhere || path.startsWith('//')).toBe(true)
    expect(sandbox.transcript.list().length - before).toBeLessThan(2)
  })

  test('`/replay` of an unrecorded call is 404, of an unknown kind or a file 400', async () => {
    expect(await call('/replay', { to: 'sidecar', n: 9999 })).toMatchObject({ status: 404 })
    expect(await call('/replay', { to: 'service', n: 9999 })).toMatchObject({ status: 404 })
    expect(await call('/replay', { to: 'webhook', n: 1 })).toMatchObject({ status: 400 })
    const n = record({ method: 'POST', path: '/bot/v1/media' })
    expect(await call('/replay', { to: 'sidecar', n })).toMatchObject({ status: 400 })
  })
})

describe('callers of a restart and a replay', () => {
  const PATHS = ['/restart', '/replay', '/worlds/main/restart', '/worlds/main/replay']

  test.each(PATHS)(
    '%s refuses a call without the token, from another site and under another Host',
    async (path) => {
      const before = [restarted, sandbox.transcript.list().length]
      const { host } = new URL(origin())
      const knock = async (headers: Record<string, string>): Promise<number> =>
        (await rawRequest(origin(), { method: 'POST', path, headers })).status
      expect(await knock({ host })).toBe(401)
      expect(await knock({ host, authorization: 'Bearer wrong' })).toBe(401)
      expect(await knock({ host, ...bearer, 'sec-fetch-site': 'cross-site' })).toBe(403)
      expect(await knock({ host: 'evil.example', ...bearer })).toBe(421)
      expect([restarted, sandbox.transcript.list().length]).toEqual(before)
    },
  )

  test('`/restart` refuses the media types of a form', async () => {
    const before = restarted
    for (const type of ['text/plain', 'application/x-www-form-urlencoded']) {
      const answer = await fetch(`${origin()}/restart`, {
        method: 'POST',
        headers: { ...bearer, 'content-type': type },
        body: '{"what":"sidecar"}',
      })
      expect(answer.status).toBe(400)
    }
    expect(restarted).toBe(before)
  })
})

describe('a second world on the page’s listener', () => {
  test('a second world has its own page, control and events, and no sidecar', async () => {
    const { path } = await sandbox.control.addWorld({ name: 'aside', world: 'empty' })
    expect(path).toBe('/worlds/aside')
    const index = await fetch(`${origin()}${path}/`, { headers: bearer })
    expect([index.status, await index.text()]).toEqual([200, expect.stringContaining('app.js')])
    expect(await call(`${path}/control/people`, {})).toMatchObject({ status: 200, result: [] })
    expect(await call(`${path}/sidecar`)).toMatchObject({ status: 200, result: null })
    expect(await call(`${path}/traffic`)).toMatchObject({ result: { attachedTo: null } })
    expect(await call(`${path}/restart`, { what: 'sidecar' })).toMatchObject({ status: 400 })
    expect(await call(`${path}/replay`, { to: 'sidecar', n: 1 })).toMatchObject({ status: 404 })
    const events = await fetch(`${origin()}${path}/events`, { headers: bearer })
    await sandbox.control.removeWorld({ name: 'aside' })
    await events.text().catch(() => '')
    expect(await call(`${path}/control/people`, {})).toMatchObject({ status: 404 })
  })

  test('the page of an unknown world is 404 with the token and 401 without', async () => {
    expect((await fetch(`${origin()}/worlds/none/`, { headers: bearer })).status).toBe(404)
    expect((await fetch(`${origin()}/worlds/none/`)).status).toBe(401)
    expect((await fetch(`${origin()}/worlds/..%2f/`, { headers: bearer })).status).toBe(404)
  })
})

test('`/sidecar` is null on a page without a sidecar', async () => {
  await using other = await createSandbox()
  await using alone = await other.startPage()
  const answer = await fetch(`${alone.url}/sidecar`)
  expect(await answer.json()).toEqual({ ok: true, result: null })
})
