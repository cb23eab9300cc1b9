import { describe, expect, it } from 'vitest'
import { head, openDoor, raw } from './support.ts'

const close = 'Connection: close'
const CORS = /access-control/i

describe.each(['HEAD', 'OPTIONS'])('%s', (method) => {
  it.each([
    ['/me', '/me'],
    ['/updates?offset=900&timeout=50', '/updates'],
    ['/messages', '/messages'],
    ['/key', '/key'],
    ['/something/new?a=1', '/something/new'],
  ])(
    'a bodiless call of %s reaches the service as %s, without query and body',
    async (asked, sent) => {
      const { port, seen } = await openDoor({
        answering: (_seen, response) => {
          response.setHeader('allow', 'GET, HEAD')
          response.setHeader('access-control-allow-origin', '*')
          response.setHeader('x-request-id', 'r1')
          response.writeHead(200, { 'content-type': 'application/json' })
          response.end(method === 'HEAD' ? undefined : '{"ok":true,"result":"words"}')
        },
      })
      const text = await raw(port, head(`${method} /bot/v1${asked}`, close))
      expect(text).toMatch(/^HTTP\/1\.1 200 /)
      expect(text).toMatch(/\r\nallow: GET, HEAD\r\n/i)
      expect(text).toMatch(/\r\ncache-control: no-store\r\n/i)
      expect(text).not.toMatch(CORS)
      expect(text).not.toContain('words')
      expect(seen.map((one) => [one.method, one.path])).toEqual([[method, `/bot/v1${sent}`]])
    },
  )

  it('a refusal of a bodiless call passes with its status, its type and its body', async () => {
    const error = { status: 404, code: 'not_found', message: 'no such path' }
    const body = method === 'HEAD' ? '' : JSON.stringify({ ok: false, error })
    const type = 'application/json; charset=utf-8'
    const { port } = await openDoor({
      answering: (_seen, response) =>
        void response.writeHead(404, { 'content-type': type }).end(body),
    })
    const text = await raw(port, head(`${method} /bot/v1/me`, close))
    expect(text).toMatch(/^HTTP\/1\.1 404 /)
    expect(text).toContain(`\r\ncontent-type: ${type}\r\n`)
    // the length of an answer to HEAD would be that of a GET, which nobody knows
    expect(text.includes('content-length')).toBe(method === 'OPTIONS')
    expect(text.endsWith(`\r\n\r\n${body}`)).toBe(true)
    const bare = await openDoor({
      answering: (_seen, response) => void response.writeHead(405).end(),
    })
    expect(await raw(bare.port, head(`${method} /bot/v1/me`, close))).toMatch(/^HTTP\/1\.1 405 /)
  })

  it('a bodiless call whose answer is a redirect is 502, without the location', async () => {
    const { port } = await openDoor({
      answering: (_seen, response) =>
        void response.writeHead(302, { location: 'https://evil.example' }).end(),
    })
    const text = await raw(port, head(`${method} /bot/v1/me`, close))
    expect(text).toMatch(/^HTTP\/1\.1 502 /)
    expect(text).not.toContain('evil')
  })
})
