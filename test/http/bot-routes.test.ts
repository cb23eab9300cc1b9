/** The routes of one of several bots, behind a server of the test's own. */
import { createServer, type IncomingMessage } from 'node:http'
import { setTimeout as pause } from 'node:timers/promises'
import { expect, test, vi } from 'vitest'
import { buildBotRoutes, type BotDoorParts, type DoorRoute } from '../../src/http/server.ts'
import { listening } from '../support/listening.ts'
import { watchedLog } from '../support/watched-log.ts'
import { NO_CLIENTS, NO_OUTBOX } from './support.ts'

/** @param after called once a request was handed over */
async function behindServer(route: DoorRoute, after = (_request: IncomingMessage): void => {}) {
  const parts: Partial<BotDoorParts> = {
    log: watchedLog(() => {}),
    onAnswered: () => {},
    expectedToken: () => 'token',
    rereadToken: () => false,
    allowedHosts: [],
    clients: NO_CLIENTS,
    outbox: NO_OUTBOX,
    routes: [route],
    outside: [],
  }
  const routes = buildBotRoutes(parts as BotDoorParts)
  const server = createServer((request, response) => {
    routes.answer(request, response)
    after(request)
  })
  const url = await listening(server)
  const get = (path: string, token = 'token') =>
    fetch(`${url}/bot/v1${path}`, { headers: { authorization: `Bearer ${token}` } })
  return { get, drain: routes.drain }
}

test('a bot’s routes are built once, at its first request, and answer every request of the meantime', async () => {
  const route = vi.fn<DoorRoute>((app) => void app.get('/thing', () => ({ ok: true })))
  const { get } = await behindServer(route)
  expect(route).not.toHaveBeenCalled()
  const answers = await Promise.all([get('/thing'), get('/thing'), get('/thing', 'other')])
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 401])
  expect(route).toHaveBeenCalledOnce()
})

test('a caller who hangs up while a bot’s routes are built is not answered, and delays no shutdown', async () => {
  const answered = vi.fn<() => object>(() => ({ ok: true }))
  const route: DoorRoute = (app) => {
    app.addHook('onReady', () => pause(50))
    app.get('/thing', answered)
  }
  const { get, drain } = await behindServer(route, (request) => void request.socket.destroy())
  await expect(get('/thing')).rejects.toThrow()
  await drain()
  expect(answered).not.toHaveBeenCalled()
})

test('a bot’s routes without a request drain at once and are not built', async () => {
  const route = vi.fn<DoorRoute>()
  await (await behindServer(route)).drain()
  expect(route).not.toHaveBeenCalled()
})

test('a bot’s routes drain once the last request is answered', async () => {
  const held = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  let begun = 0
  const { get, drain } = await behindServer((app) => {
    app.get('/thing', async () => {
      await held[begun++]?.promise
      return { ok: true }
    })
  })
  const answers = [get('/thing'), get('/thing')]
  await expect.poll(() => begun).toBe(2)
  let isDrained = false
  const drained = drain().then(() => (isDrained = true))
  await pause(20)
  held[0]?.resolve()
  await Promise.race(answers)
  await pause(20)
  expect(isDrained).toBe(false)
  held[1]?.resolve()
  expect((await Promise.all(answers)).map(({ status }) => status)).toEqual([200, 200])
  await drained
})
