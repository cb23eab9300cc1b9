import { OWN_CALL } from '../../src/clients/may-client.ts'
import { describe, expect, test } from 'vitest'
import type { Outbound } from '../../src/kernel/wall/guard.ts'
import { readablePermit } from '../support/permits.ts'
import { door, doorTo, failing, ok, outbound } from './support.ts'

const reached = () => doorTo((_request, response) => ok(response, {}))

describe('sends and edits', () => {
  test.each([
    ['POST', '/messages'],
    ['POST', '/messages?x=1'],
    ['POST', '/messages/'],
    ['POST', '/MESSAGES'],
    ['POST', '/%6dessages'],
    ['POST', '/messages/5'],
    ['PUT', '/messages/5'],
    ['PATCH', '/messages/5'],
    ['PATCH', '/Messages/5?x'],
    ['PATCH', '/m%65ssages'],
    ['POST', '/messages/%ff'],
  ] as const)('`relay` and `ask` refuse the guarded route %s %s', async (method, path) => {
    const { upstream, seen } = await reached()
    for (const call of [upstream.relay.bind(upstream), upstream.ask.bind(upstream)]) {
      const error = await failing(call({ method, path, body: '{"text":"words"}' }))
      expect(error).toMatchObject({ code: 'postern_route_refused', status: 403 })
    }
    expect(seen).toEqual([])
  })

  test('`relay` deletes a message without a permit', async () => {
    const { upstream, seen } = await reached()
    await upstream.relay({ method: 'DELETE', path: '/messages/5', body: '{"chatId":5}' })
    expect(seen[0]).toMatchObject({ method: 'DELETE', body: '{"chatId":5}' })
  })

  test('readable text is refused after another sidecar found the chat protected', async () => {
    const { upstream, seen } = await reached()
    const state = { nowMs: 0, isLatched: false }
    const time = { nowMs: () => 0, monotonicMs: () => state.nowMs }
    const target = { route: 'send', path: '/messages', later: null } as const
    const latching = [false, false, false, true].map((isLatched) => async () => {
      await new Promise((resolve) => setTimeout(resolve, 5))
      state.isLatched = isLatched
    })
    const fresh = () => latching.shift()?.() ?? Promise.resolve()
    for (const isSent of [true, false]) {
      const permit = await readablePermit(target, () => !state.isLatched, { fresh, time })
      state.nowMs += 1000
      if (isSent) await upstream.send(permit, OWN_CALL)
      else
        expect((await failing(upstream.send(permit, OWN_CALL))).code).toBe(
          'postern_downgrade_refused',
        )
    }
    expect(seen).toHaveLength(1)
  })

  test('a forged permit, an edit given to `send` and a send given to `edit` are refused', async () => {
    const { upstream, seen } = await reached()
    const { route, path, body } = outbound.send()
    const forged = { route, path, body } as unknown as Outbound
    const grown = Object.create(outbound.send()) as Outbound
    for (const call of [
      () => upstream.send(forged, OWN_CALL),
      () => upstream.send(grown, OWN_CALL),
      () => upstream.send(null as unknown as Outbound, OWN_CALL),
      () => upstream.send(outbound.edit(), OWN_CALL),
      () => upstream.send(outbound.send('/token/revoke'), OWN_CALL),
      () => upstream.send(outbound.send('/messages/../token/revoke'), OWN_CALL),
      () => upstream.edit(outbound.send(), OWN_CALL),
    ]) {
      expect((await failing(call())).code).toBe('postern_route_refused')
    }
    expect(seen).toEqual([])
    await upstream.send(outbound.send(), OWN_CALL)
    await upstream.edit(outbound.edit(), OWN_CALL)
    expect(seen.map((request) => [request.method, request.url])).toEqual([
      ['POST', '/bot/v1/messages'],
      ['PATCH', '/bot/v1/messages/3'],
    ])
  })
})

describe('paths', () => {
  test.each([
    'me',
    '',
    '//evil.example/x',
    '/chats//5',
    '/../media/5',
    '/chats/../token/revoke',
    '/chats/.',
    '/chats/%2e%2E/token/revoke',
    '/chats/.%2e',
    '/chats/5%2f..',
    '/chats/%5c',
    '/chats\\5',
    '/me\r\nx-y: z',
    '/me%0d%0ax',
    '/me%00',
    '/me x',
    '/mé',
    '/me#x',
    '/me%zz',
    '/me%a',
    '/me%',
    'https://evil.example/me',
  ])('the path %j is refused', async (path) => {
    const { upstream, seen } = await reached()
    for (const call of [upstream.relay.bind(upstream), upstream.ask.bind(upstream)]) {
      expect(await failing(call({ method: 'GET', path }))).toMatchObject({
        code: 'bad_request',
        message: 'the path is not one of the service’s',
      })
    }
    expect(seen).toEqual([])
  })

  test('a query may contain slashes, dots and escapes', async () => {
    const { url, seen } = await reached()
    await door(url).upstream.relay({ method: 'GET', path: '/commands?scope=chat:5//../%2F%0a' })
    expect(seen[0]?.url).toBe('/bot/v1/commands?scope=chat:5//../%2F%0a')
  })
})
