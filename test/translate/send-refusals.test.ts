import { expect, test } from 'vitest'
import { refused } from '../support/refused.ts'
import { personGoneRefusal } from '../../src/translate/send-refusals.ts'

const within = (depth: number, value: object): object =>
  depth === 0 ? value : { inner: within(depth - 1, value) }

test.each([
  [{ blocked: true }, 'blocked_by_user', 'the person blocked the bot'],
  [{ person: { hasBlockedBot: true } }, 'blocked_by_user', 'the person blocked the bot'],
  [within(3, { blocked: true }), 'blocked_by_user', 'the person blocked the bot'],
  [{ gone: true, isBlocked: true }, 'blocked_by_user', 'the person blocked the bot'],
  [{ gone: true }, 'user_gone', 'the person closed their account'],
  [{ accountClosed: true }, 'user_gone', 'the person closed their account'],
  [{ person: { isDeleted: true } }, 'user_gone', 'the person closed their account'],
])('`personGoneRefusal` of the chat %j is %s', (chat, code, message) => {
  expect(personGoneRefusal(chat)).toEqual(refused(code, message))
})

test.each([
  null,
  'blocked',
  [{ blocked: true }],
  { blocked: 'true', gone: 1, closed: false },
  { other: true },
  within(4, { blocked: true }),
])('`personGoneRefusal` of the chat %j is null', (chat) => {
  expect(personGoneRefusal(chat)).toBeNull()
})
