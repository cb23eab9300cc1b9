import { expect, it } from 'vitest'
import { TOKEN, call, head, openDoor, outcome, raw } from './support.ts'

it('no header of the bot reaches the service', async () => {
  const { port, seen } = await openDoor()
  const lines = [
    'X-Forwarded-For: 10.9.8.7',
    'X-Forwarded-Host: evil.example',
    'X_Forwarded_Proto: https',
    'Forwarded: for=10.9.8.7',
    'X-Original-URL: /bot/v1/token/revoke',
    'Cookie: canary=1',
    'X-Canary: canary',
    'Connection: Authorization, close',
  ]
  expect(outcome(await raw(port, head('GET /bot/v1/commands', ...lines))).status).toBe(200)
  const reached = JSON.stringify(seen).toLowerCase()
  for (const word of ['forwarded', 'canary', 'evil', 'original', TOKEN.toLowerCase()]) {
    expect(reached).not.toContain(word)
  }
  expect(seen[0]?.path).toBe('/bot/v1/commands')
})

it('neither query nor headers change the path and method of a call', async () => {
  const world = await openDoor()
  const headers = { 'x-forwarded-uri': '/bot/v1/token/revoke', 'x-http-method-override': 'DELETE' }
  await call(world, 'GET', '/bot/v1/commands?scope=/bot/v1/token/revoke', { headers })
  expect(world.seen.map(({ method, path }) => `${method} ${path}`)).toEqual([
    'GET /bot/v1/commands?scope=/bot/v1/token/revoke',
  ])
})

it('the service’s headers reach the bot by an allow list, with `no-store`', async () => {
  const { port } = await openDoor({
    answering: (_seen, response) => {
      response.writeHead(429, {
        'content-type': 'application/json; charset=UTF-8',
        'retry-after': '7',
        'x-ratelimit-left': '0',
        'cache-control': 'public, max-age=31536000',
        'x-accel-redirect': '/etc/passwd',
        'www-authenticate': 'Basic',
        'x-postern-verdict': 'verified',
        refresh: '0; url=http://other.example/',
        'access-control-allow-origin': '*',
        'access-control-allow-credentials': 'true',
        'keep-alive': 'timeout=999',
        connection: 'X-Hop, keep-alive',
        'x-hop': '1',
        upgrade: 'h2c',
      })
      response.end(
        '{"ok":false, "error":{"status":429,"code":"rate_limited","message":"m","retryAfter":60}}',
      )
    },
  })
  const text = await raw(port, head('GET /bot/v1/commands', 'Connection: close'))
  expect(text).toMatch(/^HTTP\/1.1 429 /)
  const [top = '', body] = text.split('\r\n\r\n')
  expect(body).toBe(
    '{"ok":false, "error":{"status":429,"code":"rate_limited","message":"m","retryAfter":60}}',
  )
  const lower = top.toLowerCase()
  expect(lower).toContain('content-type: application/json; charset=utf-8\r\n')
  expect(lower).toContain('retry-after: 7\r\n')
  expect(lower).toContain('x-ratelimit-left: 0\r\n')
  expect(lower).toContain('cache-control: no-store\r\n')
  expect(lower).not.toMatch(/max-age|x-accel|www-auth|x-postern|refresh/)
  expect(lower).not.toMatch(/access-control|timeout=999|upgrade|x-hop|transfer-encoding/)
})
