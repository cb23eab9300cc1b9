import { describe, expect, test } from 'vitest'
import { findMessages } from '../../../src/kernel/opening/find-messages.ts'

const BUTTON = { text: 'Yes', callbackData: 'yes' }
const CHAT = { chat: { id: 5 }, id: 1, date: 2 }
/** The texts that are taken for a Message's, in a Message with this markup. */
const textsIn = (more: object): unknown[] =>
  findMessages({ message: { ...CHAT, text: 'own', ...more } })
    .messages.map(({ message }) => message['text'])
    .filter((text) => text !== 'own')
const inMarkup = (markup: unknown): unknown[] => textsIn({ markup })

describe('a button of a keyboard', () => {
  test.each([
    { text: 'Yes', callbackData: 'yes' },
    { text: 'Yes', url: 'https://example.org' },
    { text: 'Yes', url: null, callbackData: 'yes', style: 4 },
  ])('the button %j is no Message', (button) => {
    expect(inMarkup({ inlineKeyboard: [[button, button], [button]] })).toEqual([])
  })

  test.each([
    ['has no purpose', { text: 'Yes' }],
    ['has a purpose that is no text', { text: 'Yes', url: 5, callbackData: null }],
    ['is sealed too', { ...BUTTON, armored: 'x' }],
    ['is sealed in name', { ...BUTTON, armored: null }],
    ['holds more than a button does', { ...BUTTON, replyTo: { text: 'Yes' } }],
    ['holds a list', { ...BUTTON, more: [] }],
  ])('a button that %s may be a Message', (_what, button) => {
    expect(inMarkup({ inlineKeyboard: [[button]] })).toContain('Yes')
  })

  test('a button whose text is no string may be a Message', () => {
    for (const text of [['Yes'], 5]) {
      expect(inMarkup({ inlineKeyboard: [[{ ...BUTTON, text }]] })).toEqual([text])
    }
  })

  test.each([
    ['beside the keyboard', { buttons: [[BUTTON]] }],
    ['in no row', { inlineKeyboard: [BUTTON] }],
    ['in a row of a row', { inlineKeyboard: [[[BUTTON]]] }],
    ['in rows that are no list', { inlineKeyboard: { 0: [BUTTON] } }],
    ['in a row that is no list', { inlineKeyboard: [{ 0: BUTTON }] }],
    ['below the keyboard’s place', { more: { inlineKeyboard: [[BUTTON]] } }],
    ['in a list of keyboards', [{ inlineKeyboard: [[BUTTON]] }]],
  ])('a button %s may be a Message', (_where, markup) => {
    expect(inMarkup(markup)).toEqual(['Yes'])
  })

  test('a button under another name than `markup` may be a Message', () => {
    expect(textsIn({ keyboard: { inlineKeyboard: [[BUTTON]] } })).toEqual(['Yes'])
    expect(textsIn({ inlineKeyboard: [[BUTTON]] })).toEqual(['Yes'])
  })

  test('`findMessages` removes a `postern` field of a button', () => {
    const button = { ...BUTTON, postern: 'verified' }
    const { cleaned } = findMessages({ ...CHAT, markup: { inlineKeyboard: [[button]] } })
    expect([cleaned, button]).toEqual([true, BUTTON])
    expect(findMessages({ ...CHAT, markup: { inlineKeyboard: [[BUTTON]] } }).cleaned).toBe(false)
  })
})

test('a `markup` at any depth begins a keyboard', () => {
  const markup = { inlineKeyboard: [[BUTTON]] }
  expect(textsIn({ more: [{ deep: { markup } }] })).toEqual([])
  expect(inMarkup({ markup, inlineKeyboard: [[{ ...BUTTON, more: { markup } }]] })).toEqual(['Yes'])
  expect(findMessages({ markup }).messages).toEqual([])
})
