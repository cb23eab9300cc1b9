import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Sandbox } from '../../src/sandbox/create.ts'
import { outcome, still } from './support.ts'

let sandbox: Sandbox
beforeAll(async () => {
  sandbox = await still({ rates: 'off' })
})
afterAll(() => sandbox[Symbol.asyncDispose]())

const withMarkup = (markup: unknown) =>
  outcome(sandbox, 'POST /messages', {
    body: { chatId: sandbox.home.privateChat, text: 'x', markup },
  })
const keyboard = (...rows: object[][]) => withMarkup({ inlineKeyboard: rows })
const press = (text: string, callbackData = 'd') => ({ text, callbackData })
const rows = (count: number, perRow: number, text = 'b') =>
  Array.from({ length: count }, () => Array.from({ length: perRow }, () => press(text)))

test('a keyboard at its limits is taken', async () => {
  expect(await keyboard(...rows(20, 5))).toBe(201)
  expect(await keyboard(...rows(1, 8))).toBe(201)
  expect(await keyboard([press('x'.repeat(64), 'é'.repeat(32))])).toBe(201)
  const url = `https://example.org/${'x'.repeat(1024 - 20)}`
  expect(await keyboard([{ text: 'go', url }])).toBe(201)
})

test('more rows, buttons, text, data or url than that is bad markup', async () => {
  expect(await keyboard(...rows(21, 1))).toBe('bad_markup')
  expect(await keyboard(...rows(1, 9))).toBe('bad_markup')
  expect(await keyboard(...rows(20, 6))).toBe('bad_markup')
  expect(await keyboard([press('x'.repeat(65))])).toBe('bad_markup')
  expect(await keyboard([press('x', 'é'.repeat(33))])).toBe('bad_markup')
  const url = `https://example.org/${'x'.repeat(1024 - 19)}`
  expect(await keyboard([{ text: 'go', url }])).toBe('bad_markup')
})

test('more than 8 KiB of JSON is bad markup', async () => {
  const text = 'x'.repeat(60)
  expect(await keyboard(...rows(10, 8, text))).toBe(201)
  expect(await keyboard(...rows(10, 10, text).map((row) => row.slice(0, 8)))).toBe(201)
  expect(await keyboard(...rows(12, 8, text))).toBe('bad_markup')
})

test('a button has a text and exactly one of callbackData and url', async () => {
  expect(await keyboard([{ text: 'x' }])).toBe('bad_markup')
  expect(await keyboard([{ ...press('x'), url: 'https://example.org' }])).toBe('bad_markup')
  expect(await keyboard([{ callbackData: 'd' }])).toBe('bad_markup')
  expect(await keyboard([{ text: 'x', url: 'javascript:alert(1)' }])).toBe('bad_markup')
  expect(await keyboard([{ text: 'x', url: 'https://a:b@example.org' }])).toBe('bad_markup')
  expect(await keyboard([{ ...press('x'), login: true }])).toBe('bad_markup')
})

test('what is no keyboard is bad markup', async () => {
  for (const markup of [null, [], 'x', {}, { inlineKeyboard: [] }, { inlineKeyboard: [[]] }]) {
    expect(await withMarkup(markup), JSON.stringify(markup)).toBe('bad_markup')
  }
})
