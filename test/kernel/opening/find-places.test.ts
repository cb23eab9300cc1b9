import { expect, test } from 'vitest'
import { findMessages } from '../../../src/kernel/opening/find-messages.ts'

const CHAT = { id: 5, kind: 'private' }
const own = (more: object = {}) => ({ id: 1, chat: CHAT, date: 2, text: 'own', ...more })
const bringing = (message: object) => ({ kind: 'message', message })
const textsIn = (update: unknown): unknown[] =>
  findMessages(update).messages.map(({ message }) => message['text'])

test.each(['words', ['words'], ['', 'words', 5], [['words']]])(
  'a `replyTo` of %j is found as a carried Message, and restored afterwards',
  (replyTo) => {
    const message = own({ replyTo })
    const { messages, restore } = findMessages(bringing(message))
    expect(messages.map(({ message: one }) => one['text'])).toEqual(['own', replyTo])
    expect(messages[1]).toMatchObject({ chatId: 5, updateChatId: 5, position: 'carried' })
    restore(new Set())
    expect(message).toEqual(own({ replyTo }))
  },
)

test.each(['', [], [''], [5], 5, true, null, undefined])(
  'a `replyTo` of %j contains no Message',
  (replyTo) => {
    expect(textsIn(bringing(own({ replyTo })))).toEqual(['own'])
  },
)

test('a `replyTo` of words that received a verdict stays a Message', () => {
  const message = own({ replyTo: 'words' }) as Record<string, unknown>
  const { messages, restore } = findMessages(bringing(message))
  restore(new Set([messages[1]?.message]))
  expect(message['replyTo']).toEqual({ text: 'words' })
  const gone = own({ replyTo: 'words' }) as Record<string, unknown>
  const found = findMessages(bringing(gone))
  delete gone['replyTo']
  found.restore(new Set())
  expect(gone).not.toHaveProperty('replyTo')
})

const notice = { id: 1, chat: CHAT, date: 2, kind: 'joined' }

test('a notice with chat, id and date is a Message', () => {
  expect(findMessages(bringing(notice)).messages).toMatchObject([
    { chatId: 5, messageId: 1, dateMs: 2, isOrdinary: false, position: 'top' },
  ])
})

test.each(['id', 'chat', 'date'] as const)('a notice without its %s is no Message', (name) => {
  const { [name]: _none, ...rest } = notice
  expect(findMessages(bringing(rest)).messages).toEqual([])
})

test('a notice whose chat is no object is no Message, nor is an empty one', () => {
  expect(findMessages(bringing({ ...notice, chat: 5 })).messages).toEqual([])
  expect(findMessages(bringing({ text: null, armored: null })).messages).toEqual([])
})

const positions = (update: unknown) => findMessages(update).messages.map((one) => one.position)

test('a Message without a chat is at the top only as the `message` of its update', () => {
  expect(positions(bringing({ text: 'words' }))).toEqual(['top'])
  expect(positions({ kind: 'message', other: { text: 'words' } })).toEqual(['carried'])
  expect(positions({ kind: 'message', inner: { message: { text: 'words' } } })).toEqual(['carried'])
})

test('`findMessages` reads 128 levels, and no deeper', () => {
  const within = (levels: number): object =>
    levels === 0 ? { armored: 'x' } : { inner: within(levels - 1) }
  expect(findMessages(within(128)).messages.length).toBe(1)
  expect(findMessages(within(129)).messages.length).toBe(0)
})

const BUTTON = { text: 'Yes', callbackData: 'yes' }
const FIELDS = { chat: { id: 5 }, id: 1, date: 2 }
/** The texts that are taken for a Message's, in a Message with this markup. */
const textsBeside = (more: object): unknown[] =>
  findMessages({ message: { ...FIELDS, text: 'own', ...more } })
    .messages.map(({ message }) => message['text'])
    .filter((text) => text !== 'own')
const inMarkup = (markup: unknown): unknown[] => textsBeside({ markup })

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
  expect(textsBeside({ keyboard: { inlineKeyboard: [[BUTTON]] } })).toEqual(['Yes'])
  expect(textsBeside({ inlineKeyboard: [[BUTTON]] })).toEqual(['Yes'])
})

test('`findMessages` removes a `postern` field of a button', () => {
  const button = { ...BUTTON, postern: 'verified' }
  const { cleaned } = findMessages({ ...FIELDS, markup: { inlineKeyboard: [[button]] } })
  expect([cleaned, button]).toEqual([true, BUTTON])
  expect(findMessages({ ...FIELDS, markup: { inlineKeyboard: [[BUTTON]] } }).cleaned).toBe(false)
})

test('a `markup` at any depth begins a keyboard', () => {
  const markup = { inlineKeyboard: [[BUTTON]] }
  expect(textsBeside({ more: [{ deep: { markup } }] })).toEqual([])
  expect(inMarkup({ markup, inlineKeyboard: [[{ ...BUTTON, more: { markup } }]] })).toEqual(['Yes'])
  expect(findMessages({ markup }).messages).toEqual([])
})
