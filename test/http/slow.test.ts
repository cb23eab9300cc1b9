import type { Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { call, closed, head, opened, openDoor, outcome, raw, say, turnedAway } from './support.ts'

const SHORT = { headersMs: 150, requestMs: 300, checkMs: 25 }

it('a request whose headers never end is cut off with 408', async () => {
  const { port } = await openDoor({ parts: { bounds: SHORT } })
  const text = await raw(port, 'GET /bot/v1/commands HTTP/1.1\r\nHost: loc')
  expect(outcome(text)).toEqual({ status: 408, code: 'bad_request' })
})

it('a request whose body never ends is cut off with 408', async () => {
  const typed = ['Content-Type: application/json', 'Content-Length: 100']
  expect(
    await turnedAway([head('POST /bot/v1/chats/5/typing', ...typed), '{"typ'], {
      parts: { bounds: SHORT },
    }),
  ).toMatchObject({ status: 408, code: 'bad_request' })
})

it('a request whose body arrives one byte at a time is cut off with 408', async () => {
  const { port, seen } = await openDoor({ parts: { bounds: SHORT } })
  const socket = await opened(port)
  let text = ''
  socket.on('data', (chunk: Buffer) => (text += chunk.toString()))
  socket.write(
    head('POST /bot/v1/chats/5/typing', 'Content-Type: application/json', 'Content-Length: 100'),
  )
  const drips = setInterval(() => socket.write(' '), 20)
  await closed(socket)
  clearInterval(drips)
  expect(text).toContain('408')
  expect(seen).toEqual([])
})

it('a connection without a request is closed', async () => {
  const { port } = await openDoor({ parts: { bounds: SHORT } })
  await closed((await opened(port)).resume())
})

it('a connection is closed after its idle time', async () => {
  const { port } = await openDoor({ parts: { bounds: { keepAliveMs: 50 } } })
  const socket = (await opened(port)).resume()
  socket.write(head('GET /bot/v1/commands'))
  await closed(socket)
})

it('a connection is closed after its maximum of requests', async () => {
  const { port } = await openDoor({ parts: { bounds: { requestsPerConnection: 2 } } })
  const text = await raw(port, ...[1, 2, 3].map(() => head('GET /bot/v1/commands')))
  expect(text.split('HTTP/1.1 200 OK')).toHaveLength(3)
  expect(text.toLowerCase().split('connection: close')).toHaveLength(2)
})

it('sockets that are only held open block no other caller', async () => {
  const world = await openDoor({ parts: { bounds: { connections: 8 } } })
  const held: Socket[] = []
  for (let n = 0; n < 50; n++) held.push((await opened(world.port)).on('error', () => {}).resume())
  expect((await call(world, 'GET', '/bot/v1/commands')).status).toBe(200)
  const open = (): number => held.filter((socket) => !socket.closed).length
  await expect.poll(open).toBeLessThanOrEqual(8)
})

it('a connection beyond the limit is refused while all others have a call under way', async () => {
  const answers: (() => void)[] = []
  const world = await openDoor({
    answering: (_seen, response) => void answers.push(() => say(response, 'done')),
    parts: { bounds: { connections: 3 } },
  })
  const working = [1, 2, 3].map(() => call(world, 'GET', '/bot/v1/commands'))
  while (answers.length < 3) await sleep(5)
  expect(await raw(world.port, head('GET /bot/v1/commands'))).toBe('')
  for (const answer of answers) answer()
  expect((await Promise.all(working)).map(({ status }) => status)).toEqual([200, 200, 200])
})

it('a call without an answer of the service in time is 504, and a late answer is dropped', async () => {
  const late: (() => void)[] = []
  const world = await openDoor({
    answering: (_seen, response) => void late.push(() => say(response, 'late')),
    parts: { bounds: { answerMs: 50 } },
  })
  for (let calls = 0; calls < 2; calls++) {
    const { status, json } = await call(world, 'DELETE', '/bot/v1/commands')
    expect([status, json.error?.code]).toEqual([504, 'postern_upstream_timeout'])
    late.shift()?.()
  }
  expect(JSON.stringify(world.lines)).not.toContain('failed unexpectedly')
})
