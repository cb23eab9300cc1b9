import { setTimeout as sleep } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { NoResponseError } from '../../src/errors.ts'
import { head, opened, openDoor, say } from './support.ts'

it('a caller who hangs up on a `GET` request ends the call to the service', async () => {
  const signals: AbortSignal[] = []
  const relay = ({ signal }: { signal: AbortSignal }) =>
    new Promise((_resolve, reject) => {
      signals.push(signal)
      signal.addEventListener('abort', () =>
        reject(new NoResponseError('postern_upstream_timeout')),
      )
    })
  const { port, lines } = await openDoor({ parts: { upstream: { relay } as never } })
  const socket = await opened(port)
  socket.write(head('GET /bot/v1/chats/5/members'))
  await expect.poll(() => signals.length).toBe(1)
  expect(signals[0]?.aborted).toBe(false)
  socket.destroy()
  await expect.poll(() => signals[0]?.aborted).toBe(true)
  await expect.poll(() => lines).toMatchObject([{ method: 'GET', status: 0, msg: 'request' }])
})

it('a caller who hangs up on a POST leaves one finished call at the service, not two', async () => {
  const finished: unknown[] = []
  let reached = () => {}
  const arrived = new Promise<void>((resolve) => (reached = resolve))
  let goOn = () => {}
  const world = await openDoor({
    answering: (_seen, response) => {
      response.once('finish', () => finished.push(response.statusCode))
      goOn = () => say(response, { left: true })
      reached()
    },
  })
  const socket = await opened(world.port)
  socket.write(head('POST /bot/v1/chats/5/leave'))
  await arrived
  socket.destroy()
  while (world.lines.length === 0) await sleep(5)
  goOn()
  while (finished.length === 0) await sleep(5)
  expect(finished).toEqual([200])
  expect(world.seen).toHaveLength(1)
  expect(world.lines.every(({ msg }) => msg === 'request')).toBe(true)
})

it('a call whose body breaks off does not reach the service', async () => {
  const { port, seen, lines } = await openDoor()
  const socket = await opened(port)
  const typed = ['Content-Type: application/json', 'Content-Length: 20']
  socket.write(`${head('POST /bot/v1/chats/5/typing', ...typed)}{"typing"`)
  await sleep(20)
  socket.destroy()
  while (lines.length === 0) await sleep(5)
  expect(lines).toMatchObject([{ method: 'POST', route: '/bot/v1/chats/:chatId/typing' }])
  expect(seen).toEqual([])
})
