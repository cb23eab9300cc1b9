import { once } from 'node:events'
import { expect, it } from 'vitest'
import { head, opened, openDoor, outcome, raw, turnedAway } from './support.ts'

const TYPING = 'POST /bot/v1/chats/5/typing'

it('a JSON body with bytes that are not UTF-8 is a bad request', async () => {
  const lines = ['Content-Type: application/json', 'Content-Length: 3', 'Connection: close']
  const body = Buffer.from([0x22, 0xff, 0x22])
  expect(await turnedAway([head(TYPING, ...lines), body])).toMatchObject({
    status: 400,
    code: 'bad_request',
  })
})

it('the request after the body of a `GET` request is read from its beginning', async () => {
  const { port, seen } = await openDoor()
  const first = `${head('GET /bot/v1/commands', 'Content-Length: 40')}${'GET /bot/v1/resolve/x HTTP/1.1\r\n'.padEnd(40)}`
  await raw(port, first, head('GET /bot/v1/resolve/alice', 'Connection: close'))
  const paths = seen.map(({ path }) => path)
  expect(paths.toSorted()).toEqual(['/bot/v1/commands', '/bot/v1/resolve/alice'])
})

const waiting = ['Content-Type: application/json', 'Expect: 100-continue', 'Connection: close']

it('a body with Expect: 100-continue is requested once its head is valid', async () => {
  const { port, seen } = await openDoor()
  const socket = await opened(port)
  socket.write(head(TYPING, ...waiting, 'Content-Length: 15'))
  const [first] = (await once(socket, 'data')) as [Buffer]
  expect(first.toString()).toBe('HTTP/1.1 100 Continue\r\n\r\n')
  socket.write('{"typing":true}')
  const [second] = (await once(socket, 'data')) as [Buffer]
  expect(outcome(second.toString()).status).toBe(200)
  expect(seen).toHaveLength(1)
})

it('a body with Expect: 100-continue is not requested when its head is refused or too large', async () => {
  const { port } = await openDoor()
  const large = await raw(port, head(TYPING, ...waiting, 'Content-Length: 262145'))
  expect(large).toMatch(/^HTTP\/1.1 413 /)
  const other = await raw(port, head(TYPING, ...waiting, 'Content-Length: 9', 'Origin: x'))
  expect(other).toMatch(/^HTTP\/1.1 403 /)
})
