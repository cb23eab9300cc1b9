import { once } from 'node:events'
import { expect, it } from 'vitest'
import { head, opened, openDoor, outcome, raw, say, turnedAway } from './support.ts'

const ME = 'GET /bot/v1/commands'
const bad = { status: 400, code: 'bad_request' }

it.each([
  ['no HTTP at all', 'hello\r\n\r\n'],
  ['an unknown method', head('FETCH /bot/v1/me')],
  [
    'both a length and chunks',
    head('POST /bot/v1/chats/5/typing', 'Content-Length: 2', 'Transfer-Encoding: chunked'),
  ],
  ['two lengths', head('POST /bot/v1/chats/5/typing', 'Content-Length: 2', 'Content-Length: 3')],
  ['a negative length', head('POST /bot/v1/chats/5/typing', 'Content-Length: -1')],
  ['lines that end in LF alone', head(ME).replaceAll('\r\n', '\n')],
  ['a NUL in a header', head(ME, 'X-A: a\0b')],
  ['a space before the colon', head(ME, 'X-A : b')],
  ['a folded header', head(ME, 'X-A: b', ' c')],
  ['HTTP/3.0', head(ME).replace('HTTP/1.1', 'HTTP/3.0')],
  ['20 KB of headers', head(ME, `X-A: ${'a'.repeat(20_000)}`)],
])(
  'a request with %s is a bad request in the envelope, and the connection closes',
  async (_what, bytes) => {
    const { port, seen, lines } = await openDoor()
    const text = await raw(port, bytes)
    expect(outcome(text)).toEqual(bad)
    expect(text.toLowerCase()).toContain('connection: close')
    expect(seen).toEqual([])
    expect(lines).toMatchObject([{ route: 'none', ...bad }])
  },
)

it('a body in malformed chunks is a bad request', async () => {
  const typed = ['Content-Type: application/json', 'Transfer-Encoding: chunked']
  expect(
    await turnedAway([head('POST /bot/v1/chats/5/typing', ...typed), 'zz\r\n{}\r\n']),
  ).toMatchObject(bad)
})

it('malformed bytes after a valid request are not answered in its place', async () => {
  const { port } = await openDoor({
    answering: (_seen, response) => void setTimeout(() => say(response, 'late'), 50),
  })
  const text = await raw(port, `${head(ME)}garbage\r\n\r\n`)
  expect(text).not.toContain('bad_request')
})

it('two requests in one piece are answered in their order', async () => {
  const { port } = await openDoor({
    answering: ({ path }, response) =>
      void setTimeout(() => say(response, path), path.includes('first') ? 60 : 0),
  })
  const first = head('GET /bot/v1/commands?scope=first')
  const text = await raw(
    port,
    first + head('GET /bot/v1/commands?scope=second', 'Connection: close'),
  )
  expect(text.indexOf('scope=first')).toBeGreaterThan(0)
  expect(text.indexOf('scope=second')).toBeGreaterThan(text.indexOf('scope=first'))
})

it('a connection is kept for the next request', async () => {
  const { port } = await openDoor()
  const socket = await opened(port)
  for (let turn = 0; turn < 3; turn++) {
    socket.write(head(ME))
    const [bytes] = (await once(socket, 'data')) as [Buffer]
    expect(outcome(bytes.toString()).status).toBe(200)
  }
})
