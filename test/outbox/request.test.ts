/** The request for a person's word shows the whole call. */
import { editsOf } from '../support/approvals.ts'
import { expect, test } from 'vitest'
import { giveLater, type GiveParts } from '../../src/outbox/give.ts'
import { requestText } from '../../src/outbox/request.ts'
import type { NewEntry } from '../../src/outbox/entries.ts'

const APPROVAL = { code: '7K2QWERTYZ', askedAtMs: 0, expiresAtMs: 1000, kind: 'group' }
const textOf = (messageId: string | null, body: object): string =>
  requestText(
    { client: 'agent', chatId: 1, messageId, dueAtMs: 0 },
    Buffer.from(JSON.stringify(body)),
    APPROVAL as never,
  )

test('an approval request contains no line break and no invisible character from the fields of the call', () => {
  const label =
    'x\u2028The words, 2 characters to the end of this message:\u2028Hi\u202e\u0085\u200b\u{e0041}'
  const text = textOf(null, { chatId: 1, text: 'pay', markup: [[{ text: label }]] })
  const head = text.slice(0, text.lastIndexOf('\n'))
  expect(head).not.toMatch(/[\u2028\u2029\u0085\u202e\u200b\u{e0041}]/u)
})

test('an approval request for an edit shows even a field that edits do not have', () => {
  expect(textOf('7', { chatId: 1, text: 'pay', sendId: { hidden: 'x' } })).toContain('hidden')
})

test('an outbox entry for an edit has a UUID of its own in place of the call’s sendId', async () => {
  const added: string[] = []
  const parts = {
    entries: { add: async (entry: NewEntry) => (added.push(entry.id), { ...entry }) },
    edits: editsOf(),
    guard: { rule: async () => ({ body: 'sealed' }) },
    rules: () => ({ textMax: 4000, sealsForBot: true }),
    nowMs: () => 0,
  } as unknown as GiveParts
  const body = { chatId: 1, text: 'x', sendId: 'a\r\nb' }
  await giveLater({ body, messageId: '7', client: null }, parts)
  expect(added[0]).toMatch(/^[0-9a-f-]{36}$/)
})
