import { describe, expect, test } from 'vitest'
import { findMessages } from '../../../src/kernel/opening/find-messages.ts'

const CHAT = { id: 5, kind: 'private' }
const OTHER = { id: 6, kind: 'private' }
const own = (more: object = {}) => ({ id: 1, chat: CHAT, date: 2, text: 'own', ...more })
const bringing = (message: object) => ({ kind: 'message', message })
const textsIn = (update: unknown): unknown[] =>
  findMessages(update).messages.map(({ message }) => message['text'])

describe('words in the place of a quotation', () => {
  test.each(['words', ['words'], ['', 'words', 5], [['words']]])(
    'such as %j are a Message that is carried, until they are given back',
    (replyTo) => {
      const message = own({ replyTo })
      const { messages, restore } = findMessages(bringing(message))
      expect(messages.map(({ message: one }) => one['text'])).toEqual(['own', replyTo])
      expect(messages[1]).toMatchObject({ chatId: 5, updateChatId: 5, position: 'carried' })
      restore()
      expect(message).toEqual(own({ replyTo }))
    },
  )

  test.each(['', [], [''], [5], 5, true, null, undefined])('are not there in %j', (replyTo) => {
    expect(textsIn(bringing(own({ replyTo })))).toEqual(['own'])
  })

  test('of which something was found are not given back', () => {
    const message = own({ replyTo: 'words' }) as Record<string, unknown>
    const { messages, restore } = findMessages(bringing(message))
    Object.assign(messages[1]?.message ?? {}, { postern: { verdict: 'mode-unknown' } })
    restore()
    expect(message['replyTo']).toEqual({ text: 'words', postern: { verdict: 'mode-unknown' } })
    const gone = own({ replyTo: 'words' }) as Record<string, unknown>
    const found = findMessages(bringing(gone))
    delete gone['replyTo']
    found.restore()
    expect(gone).not.toHaveProperty('replyTo')
  })
})

describe('a notice', () => {
  const notice = { id: 1, chat: CHAT, date: 2, kind: 'joined' }

  test('is a Message by its chat, its id and its date', () => {
    expect(findMessages(bringing(notice)).messages).toMatchObject([
      { chatId: 5, messageId: 1, dateMs: 2, isOrdinary: false, position: 'top' },
    ])
  })

  test.each(['id', 'chat', 'date'] as const)('without its %s is none', (name) => {
    const { [name]: _none, ...rest } = notice
    expect(findMessages(bringing(rest)).messages).toEqual([])
  })

  test('of a chat that is no object is none, and neither is what has an empty place for words', () => {
    expect(findMessages(bringing({ ...notice, chat: 5 })).messages).toEqual([])
    expect(findMessages(bringing({ text: null, armored: null })).messages).toEqual([])
  })
})

describe('a Message that names no chat', () => {
  const positions = (update: unknown) => findMessages(update).messages.map((one) => one.position)

  test('is the one that the update brings only in the place of that', () => {
    expect(positions(bringing({ text: 'words' }))).toEqual(['top'])
    expect(positions({ kind: 'message', other: { text: 'words' } })).toEqual(['carried'])
    expect(positions({ kind: 'message', inner: { message: { text: 'words' } } })).toEqual([
      'carried',
    ])
  })

  test('or says that it has none is in the chat of what quotes it', () => {
    const { messages } = findMessages(bringing(own({ replyTo: { chat: null, text: 'words' } })))
    expect(messages.map(({ chatId, updateChatId }) => [chatId, updateChatId])).toEqual([
      [5, 5],
      [5, 5],
    ])
  })
})

test('an update speaks of the chat of its outermost Message, whatever that quotes', () => {
  const replyTo = { text: 'between', replyTo: { chat: OTHER, text: 'words' } }
  const { messages, updateChatId } = findMessages({ kind: 'new', list: [own({ replyTo })] })
  expect(updateChatId).toBe(5)
  expect(messages.map((one) => [one.chatId, one.updateChatId === one.chatId])).toEqual([
    [5, true],
    [5, true],
    [6, false],
  ])
})

test('nothing is looked for deeper than an answer may be', () => {
  const within = (levels: number): object =>
    levels === 0 ? { armored: 'x' } : { inner: within(levels - 1) }
  expect(findMessages(within(128)).messages.length).toBe(1)
  expect(findMessages(within(129)).messages.length).toBe(0)
})
