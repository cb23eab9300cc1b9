import { describe, expect, test } from 'vitest'
import { refused } from '../support/refused.ts'
import { emptyDraft, readEdit, readSend } from '../../src/translate/draft.ts'

const RULES = { textMax: 40, sealsForBot: true }
const OWN_SEALING = { ...RULES, sealsForBot: false }

/** A refusal that names the kind of body that the chat takes. */
const expecting = (expected: 'text' | 'armored', message: string, code = 'bad_request') =>
  refused(code, message, { extra: { expected } })

describe('a draft', () => {
  test('of a send goes to the messages, of an edit to the one that is named, encoded', () => {
    expect(readSend({ chatId: 5, text: 'x' }, RULES).target).toEqual({
      route: 'send',
      path: '/messages',
      isForSealed: false,
    })
    expect(readEdit('7/../8', { chatId: 5, text: 'x' }, RULES).target).toEqual({
      route: 'edit',
      path: '/messages/7%2F..%2F8',
      isForSealed: false,
    })
  })

  test('of a bot that does its own sealing may be armored, or have no body, but not both', () => {
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

  test('of a send without a body is refused with what it needs', () => {
    const needsText = expecting('text', 'text: a message needs it')
    expect(() => readSend({ chatId: 5 }, RULES)).toThrow(needsText)
    expect(emptyDraft('send', 'armored')).toEqual(
      expecting('armored', 'armored: a message needs it'),
    )
  })

  test.each([
    [{ text: 'x' }, {}],
    [{ armored: 'x' }, {}],
    [{}, { expected: 'text' }],
    ['words', { expected: 'text' }],
    [null, { expected: 'text' }],
  ])(
    'of a send that is wrong in itself (%j) says what is expected where no body is',
    (json, extra) => {
      expect(() => readSend(json, RULES)).toThrow(refused('bad_request', '', { extra }))
      expect(() => readEdit('7', json, RULES)).toThrow(refused('bad_request'))
    },
  )

  test('of an edit that changes nothing is refused, and one of the buttons alone is not', () => {
    const unchanged = expecting('text', 'at least one change')
    expect(() => readEdit('7', { chatId: 5 }, RULES)).toThrow(unchanged)
    expect(readEdit('7', { chatId: 5 }, OWN_SEALING).fields).toEqual({ chatId: 5 })
    const edit = readEdit('7', { chatId: 5, markup: null }, RULES)
    expect(edit.fields).toStrictEqual({ chatId: 5, markup: null })
    const sealed = readEdit('7', { chatId: 5, armored: 'sealed' }, OWN_SEALING)
    expect(sealed.armored).toBe('sealed')
  })

  test('has no field that was not given', () => {
    const { fields } = readSend({ chatId: 5, text: 'x' }, RULES)
    expect(Object.keys(fields).toSorted()).toEqual(['chatId', 'sendId'])
  })

  test('in an armor is refused with the kind that the chat takes', () => {
    const json = { chatId: 5, armored: 'x' }
    for (const read of [() => readSend(json, RULES), () => readEdit('7', json, RULES)]) {
      expect(read).toThrow(expecting('text', 'this chat takes text', 'wrong_body_kind'))
    }
  })

  test('with words that do not fit is refused, as a send and as an edit', () => {
    const json = { chatId: 5, text: 'x'.repeat(41) }
    for (const read of [() => readSend(json, RULES), () => readEdit('7', json, RULES)]) {
      expect(read).toThrow(refused('bad_request', 'text'))
    }
    expect(readSend({ ...json, text: 'x'.repeat(40) }, RULES).text?.length).toBe(40)
  })

  test('says which of its fields are not listed, and keeps the sendId that it was given', () => {
    const sendId = '0b0e7a52-6b0f-4d53-9a3a-0d2c8f6c1a11'
    const send = readSend({ chatId: 5, text: 'x', caption: 'y', sendId }, RULES)
    expect([send.unlisted, send.fields['sendId']]).toEqual([['caption'], sendId])
    expect(readEdit('7', { chatId: 5, text: 'x', silent: true }, RULES).unlisted).toEqual([
      'silent',
    ])
  })
})
