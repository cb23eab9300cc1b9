/** The routes of one of several bots, behind a server of the test's own. */
import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { expect, onTestFinished, test, vi } from 'vitest'
import { buildBotRoutes, type BotDoorParts, type DoorRoute } from '../../src/http/server.ts'
import { watchedLog } from '../support/watched-log.ts'
import { NO_CLIENTS } from './support.ts'

/** @param after called once a request was handed over */
async function behindServer(route: DoorRoute, after = (_request: IncomingMessage): void => {}) {
  const parts: Partial<BotDoorParts> = {
    log: watchedLog(() => {}),
    onAnswered: () => {},
    expectedToken: () => 'token',
    rereadToken: () => false,
    allowedHosts: [],
    clients: NO_CLIENTS,
    routes: [route],
    outside: [],
  }
  const routes = buildBotRoutes(parts as BotDoorParts)
  const server = createServer((request, response) => {
    routes.answer(request, response)
    after(request)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  const { port } = server.address() as AddressInfo
  const get = (path: string, token = 'token') =>
    fetch(`http://127.0.0.1:${port}/bot/v1${path}`, {
      headers: { authorization: `Bearer ${token}` },
    })
  return { get, drain: routes.drain }
}

test('routes are made for the first request, once, and answer all that arrive meanwhile', async () => {
  const route = vi.fn<DoorRoute>((app) => void app.get('/thing', () => ({ ok: true })))
  const { get } = await behindServer(route)
  expect(route).not.toHaveBeenCalled()
  const answers = await Promise.all([get('/thing'), get('/thing'), get('/thing', 'other')])
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 401])
  expect(route).toHaveBeenCalledOnce()
})

test('a caller who hangs up while the routes are made is not answered, nor waited for at the end', async () => {
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

test('routes that nobody called end at once, and are not made for that', async () => {
  const route = vi.fn<DoorRoute>()
  await (await behindServer(route)).drain()
  expect(route).not.toHaveBeenCalled()
})

test('the end waits for the answer to a request that had the routes made', async () => {
  const held = Promise.withResolvers<void>()
  const begun = Promise.withResolvers<void>()
  const { get, drain } = await behindServer((app) => {
    app.get('/thing', async () => {
      begun.resolve()
      await held.promise
      return { ok: true }
    })
  })
  const answer = get('/thing')
  await begun.promise
  let isDrained = false
  const drained = drain().then(() => (isDrained = true))
  await pause(20)
  expect(isDrained).toBe(false)
  held.resolve()
  expect((await answer).status).toBe(200)
  await drained
})
