import { expect, test } from 'vitest'
import { refused } from '../support/refused.ts'
import { readEdit, readSend } from '../../src/translate/draft.ts'

const RULES = { textMax: 40, sealsForBot: true }
const OWN_SEALING = { ...RULES, sealsForBot: false }

/** A refusal that names the kind of body that the chat takes. */
const expecting = (expected: 'text' | 'armored', message: string, code = 'bad_request') =>
  refused(code, message, { extra: { expected } })

test('the path of a send is /messages, and the path of an edit has its encoded message id', () => {
  expect(readSend({ chatId: 5, text: 'x' }, RULES).target).toEqual({
    route: 'send',
    path: '/messages',
    later: null,
  })
  expect(readEdit('7/../8', { chatId: 5, text: 'x' }, RULES).target).toEqual({
    route: 'edit',
    path: '/messages/7%2F..%2F8',
    later: null,
  })
})

test('a send of a bot that seals by itself may be armored or without a body, and not both text and armored', () => {
  const sealed = readSend({ chatId: 5, armored: 'sealed' }, OWN_SEALING)
  expect([sealed.armored, sealed.text, 'armored' in sealed.fields]).toEqual([
    'sealed',
    undefined,
    false,
  ])
  const bare = readSend({ chatId: 5 }, OWN_SEALING)
  expect([bare.text, bare.armored]).toEqual([undefined, undefined])
  const both = { chatId: 5, text: 'x', armored: 'sealed' }
  for (const read of [readSend, (json: unknown) => readEdit('7', json, OWN_SEALING)]) {
    const either = refused('bad_request', 'either text or armored')
    expect(() => read(both, OWN_SEALING)).toThrow(either)
  }
})

test('an edit without a change is refused, and an edit of buttons alone is accepted', () => {
  const unchanged = expecting('text', 'at least one change')
  expect(() => readEdit('7', { chatId: 5 }, RULES)).toThrow(unchanged)
  expect(readEdit('7', { chatId: 5 }, OWN_SEALING).fields).toEqual({ chatId: 5 })
  const edit = readEdit('7', { chatId: 5, markup: null }, RULES)
  expect(edit.fields).toStrictEqual({ chatId: 5, markup: null })
  const sealed = readEdit('7', { chatId: 5, armored: 'sealed' }, OWN_SEALING)
  expect(sealed.armored).toBe('sealed')
})
