import { describe, expect, test } from 'vitest'
import { findMessages } from '../../../src/kernel/opening/find-messages.ts'

const CHAT = { id: 5, kind: 'private' }
const OTHER = { id: 6, kind: 'private' }
const own = (more: object = {}) => ({ id: 1, chat: CHAT, date: 2, text: 'own', ...more })
const bringing = (message: object) => ({ kind: 'message', message })
const textsIn = (update: unknown): unknown[] =>
  findMessages(update).messages.map(({ message }) => message['text'])

describe('words in place of a quotation', () => {
  test.each(['words', ['words'], ['', 'words', 5], [['words']]])(
    'a `replyTo` of %j is found as a carried Message, and restored afterwards',
    (replyTo) => {
      const message = own({ replyTo })
      const { messages, restore } = findMessages(bringing(message))
      expect(messages.map(({ message: one }) => one['text'])).toEqual(['own', replyTo])
      expect(messages[1]).toMatchObject({ chatId: 5, updateChatId: 5, position: 'carried' })
      restore()
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
})

describe('a Message without a chat', () => {
  const positions = (update: unknown) => findMessages(update).messages.map((one) => one.position)

  test('a Message without a chat is at the top only as the `message` of its update', () => {
    expect(positions(bringing({ text: 'words' }))).toEqual(['top'])
    expect(positions({ kind: 'message', other: { text: 'words' } })).toEqual(['carried'])
    expect(positions({ kind: 'message', inner: { message: { text: 'words' } } })).toEqual([
      'carried',
    ])
  })
})

test('an update belongs to the chat of its outermost Message, in spite of its quotations', () => {
  const replyTo = { text: 'between', replyTo: { chat: OTHER, text: 'words' } }
  const { messages, updateChatId } = findMessages({ kind: 'new', list: [own({ replyTo })] })
  expect(updateChatId).toBe(5)
  expect(messages.map((one) => [one.chatId, one.updateChatId === one.chatId])).toEqual([
    [5, true],
    [5, true],
    [6, false],
  ])
})

test('`findMessages` reads 128 levels, and no deeper', () => {
  const within = (levels: number): object =>
    levels === 0 ? { armored: 'x' } : { inner: within(levels - 1) }
  expect(findMessages(within(128)).messages.length).toBe(1)
  expect(findMessages(within(129)).messages.length).toBe(0)
})
