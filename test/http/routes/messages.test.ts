/** The routes of sends and edits, over a delivery that is played. */
import { describe, expect, test } from 'vitest'
import { Refusal } from '../../../src/errors.ts'
import { messageRoutes } from '../../../src/http/routes/messages.ts'
import type { Draft } from '../../../src/translate/draft.ts'
import { playedRoute, yes } from '../played-route.ts'
import { NO_OUTBOX } from '../support.ts'

function scene({ sealsForBot = true } = {}) {
  const drafts: Draft[] = []
  const messages = {
    deliver: async (draft: Draft) => {
      drafts.push(draft)
      return yes({ id: 7 })
    },
  }
  const limits = () => ({ textMax: 5 }) as never
  const clients = { seesPeople: () => true }
  const call = playedRoute(
    messageRoutes({ messages: messages as never, limits, sealsForBot, clients, outbox: NO_OUTBOX }),
  )
  return { drafts, call }
}

describe.each([
  ['a send', 'POST', '/messages', '/messages', 'send'],
  ['an edit', 'PATCH', '/messages/7', '/messages/7', 'edit'],
] as const)('%s', (_what, method, url, path, route) => {
  test('is delivered with its text, and answered as the service does', async () => {
    const { call, drafts } = scene()
    const { text } = await call(method, url, { chatId: 5, text: 'hello' })
    expect(text).toBe(yes({ id: 7 }).body.toString())
    expect(drafts).toMatchObject([{ target: { route, path }, chatId: 5, text: 'hello' }])
  })

  test('is refused with a text that is over the limit, or armor', async () => {
    const { call, drafts } = scene()
    const codes = []
    for (const body of [{ text: 'hello!' }, { armored: 'x' }]) {
      codes.push((await call(method, url, { chatId: 5, ...body })).code)
    }
    expect([codes, drafts]).toEqual([['bad_request', 'wrong_body_kind'], []])
  })

  test('may have armor of a bot that does its own sealing', async () => {
    const { call, drafts } = scene({ sealsForBot: false })
    await call(method, url, { chatId: 5, armored: 'x' })
    expect(drafts).toMatchObject([{ armored: 'x' }])
  })
})

test('a refusal names people to those alone who may see them, and the service’s comes as it is', async () => {
  const failing = async (seesPeople: boolean, error: Error) => {
    const deliver = () => Promise.reject(error)
    const limits = () => ({ textMax: 5 }) as never
    const clients = { seesPeople: () => seesPeople }
    const parts = {
      messages: { deliver } as never,
      limits,
      sealsForBot: true,
      clients,
      outbox: NO_OUTBOX,
    }
    const { text } = await playedRoute(messageRoutes(parts))('POST', '/messages', {
      chatId: 5,
      text: 'x',
    })
    return text
  }
  const refusal = new Refusal('postern_trust_required', 'person 4711')
  expect(await failing(true, refusal)).toContain('4711')
  const hidden = await failing(false, refusal)
  expect(hidden).toContain('postern_trust_required')
  expect(hidden).not.toContain('4711')
  const wait = new Refusal('postern_busy', 'of 4711', { extra: { retryAfter: 3 } })
  expect(JSON.parse(await failing(false, wait))).toMatchObject({ error: { retryAfter: 3 } })
  expect(await failing(false, new Refusal('wrong_body_kind', 'the chat 4711'))).toContain('4711')
})

test('an edit of a message without a number is refused', async () => {
  const { call, drafts } = scene()
  const { code } = await call('PATCH', '/messages/seven', { chatId: 5, text: 'x' })
  expect([code, drafts]).toEqual(['message_not_found', []])
})
