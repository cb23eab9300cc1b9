/** The routes of a chat, over a service that is played. */
import { describe, expect, test, vi } from 'vitest'
import { chatRoutes, type ChatRouteParts } from '../../../src/http/routes/chats.ts'
import { unobserved, type Unseen } from '../../../src/kernel/index.ts'
import { monotonicNow } from '../../../src/util/clock.ts'
import { no, playedRoute, playedUpstream, yes } from '../played-route.ts'

const CHAT = { id: -5, mode: 'protected', title: 'Room' }

function scene(answer: ReturnType<typeof yes>, translates = true) {
  const { upstream, asked } = playedUpstream(answer)
  const observe = vi.fn(async (_id: number, unseen: Unseen, _askedAtMs: number) => {
    return { result: unobserved(unseen) }
  })
  const knownChats = { isLatched: (id: number) => id === -5 }
  const parts = { upstream, knownChats, modes: { observe }, translates }
  return { asked, observe, call: playedRoute(chatRoutes(parts as unknown as ChatRouteParts)) }
}

describe('a chat', () => {
  test.each([
    [-5, true],
    [7, false],
  ])('%i reads as a readable one, with its mode and latch beside it', async (id, latched) => {
    const { call, asked, observe } = scene(yes(CHAT))
    const beforeMs = monotonicNow()
    const { result } = await call('GET', `/chats/${id}?a=1`)
    expect(result).toEqual({ ...CHAT, mode: 'open', postern: { mode: 'protected', latched } })
    expect(asked).toEqual([`GET /chats/${id}?a=1`])
    const [[seen, , askedAtMs] = []] = observe.mock.calls
    expect(seen).toBe(id)
    expect(askedAtMs).toBeGreaterThanOrEqual(beforeMs)
  })

  test('passes as it came where the bot does its own sealing, and its mode is observed', async () => {
    const { call, observe } = scene(yes(CHAT), false)
    expect((await call('GET', '/chats/-5')).text).toBe(yes(CHAT).body.toString())
    expect(observe).toHaveBeenCalledOnce()
  })

  test('that the service refuses is not observed, and a result that is none is not handed on', async () => {
    const { call, observe } = scene(no(404, 'chat_not_found'))
    expect(await call('GET', '/chats/-5')).toMatchObject({ status: 404, code: 'chat_not_found' })
    expect(observe).not.toHaveBeenCalled()
    const { error } = await scene(yes('text')).call('GET', '/chats/-5')
    expect(error).toMatchObject({ code: 'postern_upstream_invalid' })
    expect(error?.['message']).toContain('a chat')
  })

  test.each(['/chats/room', '/chats/room/keys'])('is no name: %s is not asked for', async (url) => {
    const { call, asked } = scene(yes(CHAT))
    const { status, error } = await call('GET', url)
    expect([status, error, asked]).toEqual([
      404,
      { status: 404, code: 'chat_not_found', message: 'chatId: is no integer' },
      [],
    ])
  })
})

describe('keys of a chat', () => {
  const keys = [{ userId: 1 }]
  test.each([
    ['some', yes(keys), true, 400, 'chat_is_open'],
    ['a person without one', no(404, 'no_user_key'), true, 400, 'chat_is_open'],
    ['another refusal', no(403, 'not_a_member'), true, 403, 'not_a_member'],
    ['some, for a bot that seals by itself', yes(keys), false, 200, undefined],
    ['none, for such a bot', no(404, 'no_user_key'), false, 404, 'no_user_key'],
  ])('%s', async (_what, answer, translates, status, code) => {
    const { call, asked } = scene(answer, translates)
    const got = await call('GET', '/chats/-5/keys?a=1')
    expect([got.status, got.code, asked]).toEqual([status, code, ['GET /chats/-5/keys?a=1']])
    if (code !== 'chat_is_open') expect(got.text).toBe(answer.body.toString())
    else expect(got.error?.['message']).toBe('the chat is readable: it has no keys')
  })
})
