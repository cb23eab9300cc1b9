import { expect, it } from 'vitest'
import { TOKEN, call, head, openDoor, outcome, raw, turnedAway } from './support.ts'

const ME = 'GET /bot/v1/commands'
const close = 'Connection: close'

it('a request with an unknown Host is refused with 421, with two or no Host with 400', async () => {
  const { port, seen } = await openDoor()
  const ask = async (...lines: string[]) =>
    outcome(await raw(port, [`${ME} HTTP/1.1`, ...lines, close, '', ''].join('\r\n')))
  const bearer = `Authorization: Bearer ${TOKEN}`
  const bad = { status: 400, code: 'bad_request' }
  expect(await ask('Host: evil.example', bearer)).toEqual({
    status: 421,
    code: 'postern_host_refused',
  })
  expect(await ask('Host: localhost', 'Host: evil.example', bearer)).toEqual(bad)
  expect(await ask('Host: localhost', 'Host: localhost', bearer)).toEqual(bad)
  expect(await ask(bearer)).toEqual(bad)
  expect(seen).toEqual([])
})

it('a name in `allowedHosts` is accepted with any port', async () => {
  const { port } = await openDoor({ parts: { allowedHosts: ['Sidecar'] } })
  const text = [`${ME} HTTP/1.1`, 'Host: sidecar:9', `Authorization: Bearer ${TOKEN}`, close]
  expect(outcome(await raw(port, [...text, '', ''].join('\r\n'))).status).toBe(200)
})

it.each(['Origin: https://evil.example', 'Origin: null', 'Sec-Fetch-Site: cross-site'])(
  'a web page with the token is refused with 403: %s',
  async (line) => {
    const { text, ...refused } = await turnedAway(head(ME, line))
    expect(refused).toEqual({ status: 403, code: 'postern_browser_refused' })
    expect(text.toLowerCase()).not.toContain('access-control')
  },
)

it.each(['TRACE', 'PROPFIND', 'QUERY'])(
  'the method %s is 404, without headers that permit browsers',
  async (method) => {
    const { port, seen } = await openDoor({ parts: { allowUnknown: true } })
    const text = await raw(port, head(`${method} /bot/v1/me`, close))
    expect(Number(text.split(' ')[1])).toBe(404)
    expect(text.toLowerCase()).not.toContain('access-control')
    expect(text.toLowerCase()).not.toMatch(/\r\nallow:/)
    expect(seen).toEqual([])
  },
)

it('a preflight without a token is refused with 401', async () => {
  const { port } = await openDoor()
  const lines = ['OPTIONS /bot/v1/messages HTTP/1.1', 'Host: localhost', close]
  expect(outcome(await raw(port, [...lines, '', ''].join('\r\n')))).toEqual({
    status: 401,
    code: 'unauthorized',
  })
})

it('a CONNECT request is closed without an answer', async () => {
  const { port, seen } = await openDoor()
  expect(await raw(port, 'CONNECT evil.example:443 HTTP/1.1\r\nHost: localhost\r\n\r\n')).toBe('')
  expect(seen).toEqual([])
})

it('a WebSocket upgrade is refused, and an h2c upgrade is ignored', async () => {
  const { port } = await openDoor()
  const upgrade = (to: string) => head(ME, 'Connection: Upgrade, close', `Upgrade: ${to}`)
  expect(outcome(await raw(port, upgrade('websocket')))).toEqual({
    status: 400,
    code: 'bad_request',
  })
  expect(outcome(await raw(port, upgrade('h2c'))).status).toBe(200)
})

it.each([
  'http://localhost/bot/v1/commands',
  '/bot/v1/messages/%2e%2e',
  '/bot/v1/../v1/commands',
  '/media/..%2f..%2fbot%2fv1%2ftoken%2frevoke',
  '//localhost/bot/v1/commands',
  '/bot/v1/%zz',
  '/bot/v1/a\\b',
])('a request for %s is refused with 400 and does not reach the service', async (target) => {
  expect(await turnedAway(head(`GET ${target}`), { parts: { allowUnknown: true } })).toMatchObject({
    status: 400,
    code: 'bad_request',
  })
})

it('a message id of 5000 digits is refused with 400 and does not reach the service', async () => {
  expect(await turnedAway(head(`DELETE /bot/v1/messages/${'5'.repeat(5000)}`))).toMatchObject({
    status: 400,
    code: 'bad_request',
  })
})

it('a request with more than 100 header lines is refused', async () => {
  const { port } = await openDoor()
  const many = (count: number) => Array.from({ length: count }, (_none, n) => `X-${n}: 1`)
  // beside Host, Authorization and Connection
  expect(outcome(await raw(port, head(ME, close, ...many(97)))).status).toBe(200)
  expect(outcome(await raw(port, head(ME, close, ...many(98)))).status).toBe(400)
})

it('a path outside the API is 404', async () => {
  const world = await openDoor({ parts: { allowUnknown: true } })
  for (const path of ['/', '/bot/v1', '/bot/v2/me', '/healthz']) {
    const { status, json } = await call(world, 'GET', path)
    expect({ status, code: json.error?.code }).toEqual({ status: 404, code: 'not_found' })
  }
  expect(world.seen).toEqual([])
})
