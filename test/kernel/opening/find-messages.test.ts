import { expect, test } from 'vitest'
import { isObject } from '../../../src/api/common.ts'
import { findMessages } from '../../../src/kernel/opening/find-messages.ts'
import { runs } from '../../support/chance.ts'
import { fc } from '../../support/property.ts'

type Json = null | boolean | number | string | Json[] | { [key: string]: Json }

/** Names that mean something in an update, and some that mean nothing. */
const NAMES = `
  markup inlineKeyboard callbackData url armored text chat from id date kind replyTo
  message postern media x payload toString constructor`
const NAME = fc.constantFrom(...NAMES.trim().split(/\s+/))
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

test('`findMessages` removes every `postern` field of any update, and changes nothing else', () => {
  fc.assert(
    fc.property(json, (update) => {
      const before = structuredClone(update)
      const had = [...objects(before)].some((one) => Object.hasOwn(one, 'postern'))
      const { cleaned: wasCleaned, restore } = findMessages(update)
      restore(new Set())
      expect(update).toEqual(cleaned(before))
      if (had) expect(wasCleaned).toBe(true)
      expect([...objects(update)].some((one) => Object.hasOwn(one, 'postern'))).toBe(false)
    }),
    { numRuns: runs(500) },
  )
})

/** What stands where a keyboard has its buttons. */
function* buttons(value: unknown): Generator {
  for (const { markup } of objects(value)) {
    const rows = isObject(markup) ? markup['inlineKeyboard'] : []
    for (const row of Array.isArray(rows) ? rows : []) if (Array.isArray(row)) yield* row
  }
}

test('`findMessages` finds every object with a text or armor once, except buttons', () => {
  fc.assert(
    fc.property(json, (update) => {
      const { messages, surplus } = findMessages(update)
      const found = [...messages.map(({ message }) => message), ...surplus]
      expect(new Set(found).size).toBe(found.length)
      const spared = new Set(buttons(update))
      for (const one of objects(update)) {
        if (one['armored'] != null) expect(found.includes(one)).toBe(true)
        if (one['text'] != null && !spared.has(one)) expect(found.includes(one)).toBe(true)
      }
    }),
    { numRuns: runs(1000) },
  )
})

test('`findMessages` finds a Message at any depth, with its chat, sender, id and date', () => {
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

test('a quotation without a chat belongs to the chat of the quoting Message', () => {
  for (const replyTo of [{ text: 'b' }, { chat: null, text: 'b' }]) {
    const message = { chat: { id: 5, kind: 'private' }, id: 1, date: 2, text: 'a', replyTo }
    const { messages } = findMessages({ kind: 'message', message })
    expect(messages.map((one) => [one.chatId, one.updateChatId])).toEqual([
      [5, 5],
      [5, 5],
    ])
  }
})

test('a quotation from another chat keeps its own chat', () => {
  const quoted = { chat: { id: 6, kind: 'group' }, text: 'b' }
  const update = { chat: { id: 5, kind: 'private' }, id: 1, date: 2, text: 'a', replyTo: quoted }
  expect(placesOf({ kind: 'message', message: update })).toEqual([
    [undefined, 5, 5, 'top'],
    [undefined, 6, 5, 'carried'],
  ])
})

test('an update belongs to the chat of its `message`, in spite of other Messages before it', () => {
  const elsewhere = { chat: { id: 6, kind: 'private' }, armored: 'x' }
  const own = { chat: { id: 5, kind: 'private' }, armored: 'y' }
  expect(placesOf({ updateId: 1, kind: 'message', elsewhere, message: own })).toEqual([
    ['x', 6, 5, 'top'],
    ['y', 5, 5, 'top'],
  ])
})

test('a press carries its message and the person who pressed', () => {
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

const PRIVATE = { id: 5, kind: 'private' }
const ELSEWHERE = { id: 6, kind: 'private' }
const placesOf = (update: unknown) =>
  findMessages(update).messages.map(({ message, chatId, updateChatId, position }) => [
    message['armored'],
    chatId,
    updateChatId,
    position,
  ])

test('the Message of an update is at the top beside any other text', () => {
  const message = { id: 1, chat: PRIVATE, armored: 'own' }
  for (const beside of [{ text: 'x' }, { armored: 'x' }, { chat: PRIVATE, id: 1, date: 1 }]) {
    const places = placesOf({ kind: 'message', ...beside, message })
    expect(places).toContainEqual(['own', 5, 5, 'top'])
  }
  expect(placesOf({ kind: 'message', message: [[message]] })).toEqual([['own', 5, 5, 'top']])
})

test('a Message without a chat belongs to the chat of its update, and is carried', () => {
  const message = { id: 1, chat: PRIVATE, armored: 'own' }
  expect(
    placesOf({ kind: 'message', before: { armored: 'x' }, message, after: { text: 'y' } }),
  ).toEqual([
    ['x', 5, 5, 'carried'],
    ['own', 5, 5, 'top'],
    [undefined, 5, 5, 'carried'],
  ])
  const payload = { id: 'p', from: { id: 8 }, text: 'z', message: { ...message, from: { id: 9 } } }
  expect(findMessages({ kind: 'callback_query', payload }).messages).toMatchObject([
    { chatId: 5, updateChatId: 5, position: 'carried', fromId: 8, pressedById: 8 },
    { chatId: 5, updateChatId: 5, position: 'carried', fromId: 9, pressedById: 8 },
  ])
})

test('an update whose outermost Messages are of several chats belongs to no chat', () => {
  const [here, there] = [
    { id: 1, chat: PRIVATE, armored: 'here' },
    { id: 2, chat: ELSEWHERE, armored: 'there' },
  ]
  for (const update of [
    { kind: 'callback_query', decoy: there, callbackQuery: { id: 'p', message: here } },
    { kind: 'callback_query', callbackQuery: { id: 'p', message: here }, decoy: there },
    { kind: 'callback_query', callbackQuery: { chat: ELSEWHERE, message: here }, decoy: there },
    { kind: 'message', text: '', chat: ELSEWHERE, callbackQuery: { id: 'p', message: here } },
    { kind: 'new', list: [here, there], more: { armored: 'nowhere' } },
  ]) {
    const { updateChatId, messages } = findMessages(update)
    const sealed = messages.filter(({ message }) => message['armored'] !== undefined)
    expect(sealed.some((one) => one.chatId === one.updateChatId && one.chatId !== null)).toBe(false)
    expect(updateChatId).toBeNull()
  }
})

test('a quoted Message inside one of another chat is not of the update’s chat', () => {
  const quoted = { id: 3, chat: PRIVATE, armored: 'quoted' }
  const around = { id: 2, chat: ELSEWHERE, armored: 'around', replyTo: quoted }
  const message = { id: 1, chat: PRIVATE, armored: 'own' }
  for (const holder of [around, { chat: ELSEWHERE, list: [quoted] }, { chat: 6, list: [quoted] }]) {
    const update = { kind: 'message', message, callbackQuery: { message: holder } }
    const found = findMessages(update).messages.find((one) => one.message === (quoted as unknown))
    expect(found?.chatId).toBe(5)
    expect(found?.updateChatId).not.toBe(5)
    expect(findMessages(update).updateChatId).toBe(5)
  }
})

test('a press may name the chat of its message beside it', () => {
  const message = { id: 1, chat: PRIVATE, armored: 'own' }
  const callbackQuery = { id: 'p', from: { id: 8 }, chat: PRIVATE, data: 'd', message }
  expect(placesOf({ kind: 'callback_query', callbackQuery })).toEqual([['own', 5, 5, 'carried']])
})

test('`findMessages` returns a hundred Messages, and the others as surplus', () => {
  const quotations = Array.from({ length: 150 }, (_, n) => ({ armored: `${n}` }))
  const { messages, surplus } = findMessages({ kind: 'message', quotations })
  expect(messages.map(({ message }) => message)).toEqual(quotations.slice(0, 100))
  expect(surplus).toEqual(quotations.slice(100))
})

for (const id of [2 ** 53, 1.5, '5', null, -0.1, { id: 5 }, Number.NaN]) {
  test(`the id ${JSON.stringify(id)} gives no chat, sender, message id or date`, () => {
    const message = { id, chat: { id, kind: 'private' }, from: { id }, date: id, armored: 'x' }
    const [found] = findMessages({ message }).messages
    expect(found).toMatchObject({ chatId: null, fromId: null, messageId: null, dateMs: null })
  })
}
