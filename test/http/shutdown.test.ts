import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, it } from 'vitest'
import type { DoorRoute } from '../../src/http/server.ts'
import { call, closed, head, opened, openDoor, outcome, raw, say } from './support.ts'

/** Longer than a test may last, so that nothing is cut off. */
const PATIENT = { drainMs: 600_000 }

/** A poll as the updates route holds it: until something comes, or the door closes. */
const poll =
  (reached: () => void): DoorRoute =>
  (app, { stopping }) =>
    void app.get('/updates', async () => {
      reached()
      if (!stopping.aborted) await once(stopping, 'abort')
      return { ok: true, result: [] }
    })

it('a draining listener answers an open poll with an empty list and closes its connection', async () => {
  const arrived = Promise.withResolvers<void>()
  const world = await openDoor({ parts: { routes: [poll(arrived.resolve)], bounds: PATIENT } })
  const polling = call(world, 'GET', '/bot/v1/updates?timeout=50')
  await arrived.promise
  await world.door.drain()
  const { status, text, headers } = await polling
  expect({ status, text }).toEqual({ status: 200, text: '{"ok":true,"result":[]}' })
  expect(headers.get('connection')).toBe('close')
})

it('a draining listener finishes a call under way', async () => {
  const arrived = Promise.withResolvers<() => void>()
  const world = await openDoor({
    answering: (_seen, response) => arrived.resolve(() => say(response, { left: true })),
    parts: { bounds: PATIENT },
  })
  const leaving = call(world, 'POST', '/bot/v1/chats/5/leave')
  const answer = await arrived.promise
  const drained = world.door.drain()
  await sleep(50)
  answer()
  expect((await leaving).json.result).toEqual({ left: true })
  await drained
})

it('unused and idle connections do not delay a draining listener', async () => {
  const { door, port } = await openDoor({ parts: { bounds: PATIENT } })
  const unused = (await opened(port)).resume()
  const half = (await opened(port)).resume()
  half.write('GET /bot/v1/commands HTTP/1.1\r\n')
  const idle = await opened(port)
  idle.write(head('GET /bot/v1/commands'))
  await once(idle, 'data')
  await Promise.all([door.drain(), ...[unused, half, idle].map(closed)])
})

it('a call that exceeds `drainMs` is cut off by a draining listener', async () => {
  const arrived = Promise.withResolvers<void>()
  const { door, port } = await openDoor({
    answering: () => arrived.resolve(),
    parts: { bounds: { drainMs: 50 } },
  })
  const text = raw(port, head('POST /bot/v1/chats/5/leave'))
  await arrived.promise
  await door.drain()
  expect(await text).toBe('')
})

it('a draining listener finishes an answer that is half sent and closes its connection', async () => {
  const long = Buffer.alloc(20_000_000, ' ')
  const { door, port } = await openDoor({
    parts: {
      routes: [(app) => void app.get('/me', (_request, reply) => reply.send(long))],
      bounds: PATIENT,
    },
  })
  const socket = await opened(port)
  socket.write(head('GET /bot/v1/me'))
  await once(socket, 'readable')
  const drained = door.drain()
  await sleep(20)
  let bytes = 0
  socket.on('data', (chunk: Buffer) => (bytes += chunk.length))
  await Promise.all([closed(socket), drained])
  expect(bytes).toBeGreaterThan(long.length)
})

it('a draining listener answers the request under way, and no later one, on a connection', async () => {
  const arrived = Promise.withResolvers<() => void>()
  const { door, port } = await openDoor({
    answering: ({ path }, response) =>
      path.includes('first') ? arrived.resolve(() => say(response, 1)) : say(response, 2),
    parts: { bounds: PATIENT },
  })
  const socket = await opened(port)
  let text = ''
  socket.on('data', (chunk: Buffer) => (text += chunk.toString()))
  socket.write(head('GET /bot/v1/commands?scope=first'))
  const answer = await arrived.promise
  const drained = door.drain()
  socket.write(head('GET /bot/v1/commands?scope=second'))
  await sleep(20)
  answer()
  await Promise.all([drained, closed(socket)])
  expect(text).toContain('"result":1')
  expect(text).not.toContain('Service Unavailable')
})

it('a drained listener refuses connections', async () => {
  const { door, port } = await openDoor()
  await door.drain()
  await expect(opened(port)).rejects.toThrow('ECONNREFUSED')
})

it('a listener may be drained twice', async () => {
  const { door } = await openDoor()
  await Promise.all([door.drain(), door.drain()])
})

it('a listener drains after a malformed request', async () => {
  const { door, port } = await openDoor()
  expect(outcome(await raw(port, 'nonsense\r\n\r\n')).status).toBe(400)
  await door.drain()
})
