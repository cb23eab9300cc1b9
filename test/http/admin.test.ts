import { expect, it } from 'vitest'
import { adminDoor, outcome, raw } from './support.ts'

async function openAdmin() {
  const { door, health } = adminDoor(['sidecar'])
  const url = await door.listen({ setting: 'admin', host: '127.0.0.1', port: 0 })
  const port = Number(new URL(url).port)
  const ask = (path: string, host: string, ...more: string[]) =>
    raw(
      port,
      [`GET ${path} HTTP/1.1`, `Host: ${host}`, 'Connection: close', ...more, '', ''].join('\r\n'),
    )
  return { health, url, ask }
}

it('it is alive while it serves, ready or not', async () => {
  const { health, url } = await openAdmin()
  health.set('upstream', '')
  const response = await fetch(`${url}/healthz`)
  expect(response.status).toBe(200)
  expect(await response.json()).toEqual({ ok: true })
})

it('its root lists what it answers, and every path of the list is there', async () => {
  const { url } = await openAdmin()
  const { paths } = (await (await fetch(url)).json()) as { paths: Record<string, string> }
  expect(Object.keys(paths)).toEqual(['/healthz', '/readyz', '/status', '/metrics'])
  for (const path of Object.keys(paths)) expect((await fetch(url + path)).status).not.toBe(404)
})

it('it is ready when nothing is in the way, and otherwise says what, since when, and what to do', async () => {
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

it('status and metrics are served to known hosts, without a token', async () => {
  const { url } = await openAdmin()
  expect(await (await fetch(`${url}/status`)).json()).toEqual({ version: '1', ready: true })
  const metrics = await fetch(`${url}/metrics`)
  expect(metrics.headers.get('content-type')).toContain('text/plain')
  expect(await metrics.text()).toContain('postern_ready 1')
})

it('probes may use any Host, the rest only known ones, and no browser comes near', async () => {
  const { ask } = await openAdmin()
  for (const path of ['/healthz', '/readyz', '/readyz?verbose=1']) {
    expect(outcome(await ask(path, '10.1.2.3:8701')).status).toBe(200)
    expect(outcome(await ask(path, 'localhost', 'Origin: http://x')).status).toBe(403)
  }
  for (const path of ['/status', '/metrics', '/healthz/', '/healthz/../status']) {
    expect(outcome(await ask(path, '10.1.2.3:8701')).status).not.toBe(200)
    expect(outcome(await ask(path, 'evil.example')).status).toBe(421)
  }
  expect(outcome(await ask('/status', 'sidecar')).status).toBe(200)
  expect(outcome(await ask('/status', 'localhost', 'Sec-Fetch-Site: same-site')).status).toBe(403)
})

it('it serves nothing else', async () => {
  const { url } = await openAdmin()
  expect((await fetch(`${url}/bot/v1/me`)).status).toBe(404)
  expect((await fetch(`${url}/healthz`, { method: 'POST' })).status).toBe(404)
  expect((await fetch(`${url}/metrics`, { method: 'HEAD' })).status).toBe(404)
})
