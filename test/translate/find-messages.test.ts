import { expect, test } from 'vitest'
import { findMessages } from '../../src/translate/find-messages.ts'
import { runs } from '../support/chance.ts'
import { fc } from '../support/property.ts'

type Json = null | boolean | number | string | Json[] | { [key: string]: Json }

/** Names that mean something in an update, and some that mean nothing. */
const NAME = fc.constantFrom(
  'armored',
  'text',
  'chat',
  'from',
  'id',
  'date',
  'kind',
  'replyTo',
  'message',
  'postern',
  'media',
  'x',
  'payload',
  'toString',
  'constructor',
)
const { json } = fc.letrec<{ json: Json }>((tie) => ({
  json: fc.oneof(
    { depthSize: 'medium', withCrossShrink: true },
    fc.oneof(fc.constant(null), fc.boolean(), fc.integer(), fc.string()),
    fc.array(tie('json'), { maxLength: 4 }),
    fc.dictionary(NAME, tie('json'), { maxKeys: 6, noNullPrototype: true }),
  ),
}))

/** Every object in a value. */
function* objects(value: unknown): Generator<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null) return
  if (!Array.isArray(value)) yield value as Record<string, unknown>
  for (const inner of Object.values(value)) yield* objects(inner)
}

/** A value without anything under our own name. */
function cleaned(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(cleaned)
  if (typeof value !== 'object' || value === null) return value
  const kept = Object.entries(value).filter(([key]) => key !== 'postern')
  return Object.fromEntries(kept.map(([key, inner]) => [key, cleaned(inner)]))
}

test('whatever an update is, only what stands under our name is taken from it', () => {
  fc.assert(
    fc.property(json, (update) => {
      const before = structuredClone(update)
      const had = [...objects(before)].some((one) => Object.hasOwn(one, 'postern'))
      const { cleaned: told, restore } = findMessages(update)
      restore()
      expect(update).toEqual(cleaned(before))
      if (had) expect(told).toBe(true)
      expect([...objects(update)].some((one) => Object.hasOwn(one, 'postern'))).toBe(false)
    }),
    { numRuns: runs(500) },
  )
})

test('every object that carries armor is found, and none twice', () => {
  fc.assert(
    fc.property(json, (update) => {
      const { messages, surplus } = findMessages(update)
      const found = [...messages.map(({ message }) => message), ...surplus]
      expect(new Set(found).size).toBe(found.length)
      const armored = [...objects(update)].filter((one) => typeof one['armored'] === 'string')
      for (const one of armored) expect(found.includes(one)).toBe(true)
    }),
    { numRuns: runs(500) },
  )
})

test('a message is found at any place that a bot would look at, with where it says it is', () => {
  const wrap = fc.array(fc.constantFrom('message', 'replyTo', 'payload', '0'), { maxLength: 30 })
  fc.assert(
    fc.property(wrap, fc.integer({ min: 1 }), fc.integer({ min: 1 }), (path, chatId, fromId) => {
      const message = {
        id: 7,
        chat: { id: chatId, kind: 'group' },
        from: { id: fromId },
        date: 9,
        text: 'x',
      }
      let update: Json = message
      for (const key of path) update = key === '0' ? [update] : { [key]: update }
      const { messages } = findMessages(update)
      const found = messages.find((one) => one.message === (message as unknown))
      expect(found).toMatchObject({ chatId, chatKind: 'group', messageId: 7, fromId, dateMs: 9 })
    }),
  )
})

test('a quotation without a chat is in the chat of what quotes it', () => {
  const update = {
    chat: { id: 5, kind: 'private' },
    id: 1,
    date: 2,
    text: 'a',
    replyTo: { text: 'b' },
  }
  const { messages } = findMessages({ kind: 'message', message: update })
  expect(messages.map(({ chatId }) => chatId)).toEqual([5, 5])
})

test('a quotation that says it is from another chat is known as such', () => {
  const quoted = { chat: { id: 6, kind: 'group' }, text: 'b' }
  const update = { chat: { id: 5, kind: 'private' }, id: 1, date: 2, text: 'a', replyTo: quoted }
  const { messages } = findMessages({ kind: 'message', message: update })
  expect(
    messages.map(({ chatId, updateChatId, position }) => [chatId, updateChatId, position]),
  ).toEqual([
    [5, 5, 'top'],
    [6, 5, 'carried'],
  ])
})

test('an update speaks of the chat of its own message, whatever stands before it', () => {
  const elsewhere = { chat: { id: 6, kind: 'private' }, armored: 'x' }
  const own = { chat: { id: 5, kind: 'private' }, armored: 'y' }
  const { messages } = findMessages({ updateId: 1, kind: 'message', elsewhere, message: own })
  expect(
    messages.map(({ chatId, updateChatId, position }) => [chatId, updateChatId, position]),
  ).toEqual([
    [6, 5, 'top'],
    [5, 5, 'top'],
  ])
})

test('a press carries its message and names who pressed; a message beside it is the update’s own', () => {
  const message = { id: 1, chat: { id: 5, kind: 'private' }, from: { id: 9 }, armored: 'x' }
  const callbackQuery = { id: 'p', from: { id: 8 }, data: 'd', message }
  const update = { updateId: 1, kind: 'callback_query', callbackQuery }
  expect(findMessages(update).messages).toMatchObject([
    { position: 'carried', pressedById: 8, fromId: 9, updateChatId: 5 },
  ])
  const other = { id: 2, chat: { id: 6, kind: 'private' }, armored: 'y' }
  expect(findMessages({ ...update, message: other }).messages).toMatchObject([
    { position: 'carried', updateChatId: 6 },
    { position: 'top', pressedById: null, updateChatId: 6 },
  ])
})

test('a hundred Messages of an update are looked at; the others are told apart', () => {
  const quotations = Array.from({ length: 150 }, (_, n) => ({ armored: `${n}` }))
  const { messages, surplus } = findMessages({ kind: 'message', quotations })
  expect(messages.map(({ message }) => message)).toEqual(quotations.slice(0, 100))
  expect(surplus).toEqual(quotations.slice(100))
})

test('a message is found as deep as an answer may be', () => {
  let update: Json = { armored: 'x' }
  for (let level = 0; level < 127; level++) update = { inner: update }
  expect(findMessages(update).messages.length).toBe(1)
})

for (const id of [2 ** 53, 1.5, '5', null, -0.1, { id: 5 }, Number.NaN]) {
  test(`an id such as ${JSON.stringify(id)} names no chat, no sender and no message`, () => {
    const message = { id, chat: { id, kind: 'private' }, from: { id }, date: id, armored: 'x' }
    const [found] = findMessages({ message }).messages
    expect(found).toMatchObject({ chatId: null, fromId: null, messageId: null, dateMs: null })
  })
}
