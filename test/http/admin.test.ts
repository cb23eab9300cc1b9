import { expect, it, onTestFinished } from 'vitest'
import { buildAdminDoor } from '../../src/http/admin.ts'
import { watchedLog } from '../support/watched-log.ts'
import { adminDoor, outcome, raw } from './support.ts'

async function openAdmin() {
  const { door, health } = adminDoor(['sidecar'])
  const url = await door.listen({ setting: 'admin', host: '127.0.0.1', port: 0 })
  const port = Number(new URL(url).port)
  const ask = (path: string, host: string, ...more: string[]) =>
    raw(
      port,
      [
        `${path.startsWith('/') ? 'GET ' : ''}${path} HTTP/1.1`,
        `Host: ${host}`,
        'Connection: close',
        ...more,
        '',
        '',
      ].join('\r\n'),
    )
  return { health, url, ask }
}

it('`GET /healthz` answers 200 also while the sidecar is not ready', async () => {
  const { health, url } = await openAdmin()
  health.set('upstream', '')
  const response = await fetch(`${url}/healthz`)
  expect(response.status).toBe(200)
  expect(await response.json()).toEqual({ ok: true })
})

it('the root of the admin listener lists its paths, and each of them answers', async () => {
  const { url } = await openAdmin()
  const { paths } = (await (await fetch(url)).json()) as { paths: Record<string, string> }
  expect(Object.keys(paths)).toEqual(['/healthz', '/readyz', '/status', '/metrics'])
  for (const path of Object.keys(paths)) expect((await fetch(url + path)).status).not.toBe(404)
})

it('`GET /readyz` answers 200, or 503 with code, message, hint and time of each reason', async () => {
  const { health, url } = await openAdmin()
  const ready = await fetch(`${url}/readyz`)
  expect([ready.status, await ready.json()]).toEqual([200, { ready: true, reasons: [] }])
  health.set('paused', '')
  health.set('store', 'the disk is full')
  const not = await fetch(`${url}/readyz`)
  expect(not.status).toBe(503)
  const body = (await not.json()) as { reasons: { since: string }[] }
  const said = { message: expect.any(String), hint: expect.any(String), since: expect.any(String) }
  const full = { ...said, code: 'store', message: expect.stringContaining('the disk is full') }
  expect(body).toEqual({ ready: false, reasons: [{ ...said, code: 'paused' }, full] })
  expect(body.reasons[0]?.since).toBe(new Date(body.reasons[0]?.since ?? '').toISOString())
})

it('the admin listener serves status and metrics without a token', async () => {
  const { url } = await openAdmin()
  expect(await (await fetch(`${url}/status`)).json()).toEqual({ version: '1', ready: true })
  const metrics = await fetch(`${url}/metrics`)
  expect(metrics.headers.get('content-type')).toContain('text/plain')
  expect(await metrics.text()).toContain('postern_ready 1')
})

it('probes may have any Host, other admin paths a known Host only, and no request of a browser is served', async () => {
  const { ask } = await openAdmin()
  for (const path of ['/healthz', '/readyz/', '/healthz/', '/readyz?verbose=1', '/readyz/?a=1']) {
    for (const method of ['GET', 'HEAD']) {
      expect(outcome(await ask(`${method} ${path}`, '10.1.2.3:8701')).status).toBe(200)
    }
    expect(outcome(await ask(path, 'localhost', 'Origin: http://x')).status).toBe(403)
  }
  for (const path of ['/status', 'HEAD /metrics', '/healthz//', '/healthz/../status']) {
    expect(outcome(await ask(path, '10.1.2.3:8701')).status).not.toBe(200)
    expect(outcome(await ask(path, 'evil.example')).status).toBe(421)
  }
  expect(outcome(await ask('/status', 'sidecar')).status).toBe(200)
  expect(outcome(await ask('/status', 'localhost', 'Sec-Fetch-Site: same-site')).status).toBe(403)
})

it('the admin listener answers 404 for other paths and methods', async () => {
  const { url } = await openAdmin()
  expect((await fetch(`${url}/bot/v1/me`)).status).toBe(404)
  expect((await fetch(`${url}/healthz`, { method: 'POST' })).status).toBe(404)
  expect((await fetch(`${url}/readyz/`, { method: 'OPTIONS' })).status).toBe(404)
})

it('`/status` and `/readyz` with ?bot= describe the named bot, 404 for an unknown and 400 for two names', async () => {
  const named = (bot: string | null) => (bot === 'none' ? null : { bot })
  const door = buildAdminDoor({
    log: watchedLog(),
    metrics: { contentType: 'text/plain', text: async () => '' },
    readiness: (bot) => named(bot) && { ready: bot !== 'sick', reasons: [] },
    status: (bot) => named(bot) && Promise.resolve({ bot }),
    allowedHosts: [],
  })
  onTestFinished(() => door.drain())
  const url = await door.listen({ setting: 'admin', host: '127.0.0.1', port: 0 })
  const ask = async (path: string) => {
    const { status, ...answer } = await fetch(url + path).then(async (response) => {
      return { status: response.status, json: (await response.json()) as object }
    })
    return [status, answer.json]
  }
  const refused = (code: string, message: string) => ({ error: { code, message } })
  expect(await ask('/status')).toEqual([200, { bot: null }])
  expect(await ask('/status?bot=')).toEqual([200, { bot: '' }])
  expect(await ask('/status?a=1&bot=one')).toEqual([200, { bot: 'one' }])
  expect(await ask('/readyz?bot=sick')).toEqual([503, { ready: false, reasons: [] }])
  expect(await ask('/readyz?bot=one')).toEqual([200, { ready: true, reasons: [] }])
  for (const path of ['/status', '/readyz']) {
    const none = refused('not_found', 'there is no bot of that name')
    expect(await ask(`${path}?bot=none`)).toMatchObject([404, none])
    const twice = refused('bad_request', 'bot: given twice')
    expect(await ask(`${path}?bot=one&bot=one`)).toMatchObject([400, twice])
  }
})
