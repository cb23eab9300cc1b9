import { once } from 'node:events'
import { expect, it } from 'vitest'
import { head, opened, openDoor, outcome, raw, say } from './support.ts'

const ME = 'GET /bot/v1/commands'

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

it('no request hidden after chunks of HTTP/1.0 is read', async () => {
  const { port, seen } = await openDoor()
  const chunked = ['Content-Type: application/json', 'Transfer-Encoding: chunked']
  const first = head('POST /bot/v1/chats/5/typing', ...chunked).replace('HTTP/1.1', 'HTTP/1.0')
  await raw(port, `${first}2\r\n{}\r\n0\r\n\r\n${head('GET /bot/v1/commands?hidden=1')}`)
  expect(seen.filter(({ path }) => path.includes('hidden'))).toEqual([])
})
