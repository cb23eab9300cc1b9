/** What the outbox keeps in a store. */
import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import { OutboxEntries, type NewEntry } from '../../src/outbox/entries.ts'
import { open, temporary } from '../store/support.ts'
import { refused } from '../support/refused.ts'
import { NO_APPROVALS } from '../support/approvals.ts'
import { entryOf } from './support.ts'

async function scene() {
  const store = await open(temporary(), { protection: 'none' })
  const entries = await OutboxEntries.load(store, NO_APPROVALS)
  const give = (words: string, more: Partial<NewEntry> = {}) =>
    entries.add(entryOf(more), Buffer.from(words))
  return { store, entries, give }
}

test('outbox entries survive a restart, and their texts are stored encrypted', async () => {
  const { store, give } = await scene()
  const { id } = await give('secret words', { client: 'reporter', messageId: '9' })
  const again = await OutboxEntries.load(store, NO_APPROVALS)
  expect(again.get(id)).toMatchObject({ client: 'reporter', messageId: '9', state: 'waiting' })
  expect((await again.words(id))?.toString()).toBe('secret words')
  const rows = await store.read((db) => db.selectFrom('secrets').selectAll().execute())
  const found = rows.find(({ name }) => name === `outbox/${id}`)
  expect(Buffer.from(found?.sealed ?? []).includes('secret words')).toBe(false)
})

test('two outbox entries with the same id become one entry with the text of the first', async () => {
  const { entries, give } = await scene()
  const id = randomUUID()
  const [one, two] = await Promise.all([give('first', { id }), give('second', { id, chatId: 2 })])
  expect(two).toEqual(one)
  expect((await entries.words(id))?.toString()).toBe('first')
  expect(entries.all).toHaveLength(1)
})

test('an outbox entry beyond the byte limit is refused with `postern_outbox_full` and not stored', async () => {
  const { entries, store } = await scene()
  const big = Buffer.alloc(33 * 2 ** 20)
  await entries.add(entryOf(), big)
  const late = entryOf()
  await expect(entries.add(late, big)).rejects.toThrow(
    refused('postern_outbox_full', '', { extra: { retryAfter: 60 } }),
  )
  const again = await OutboxEntries.load(store, NO_APPROVALS)
  expect([entries.get(late.id), await again.words(late.id)]).toEqual([undefined, null])
})

test('a sent outbox entry loses its text, and a refused entry keeps its text for another attempt', async () => {
  const { store, entries, give } = await scene()
  const [sent, kept] = [await give('sent'), await give('kept')]
  await entries.settle(sent.id, { state: 'sent', code: null, sentId: 7 }, 5)
  await entries.settle(kept.id, { state: 'refused', code: 'chat_not_found', sentId: null }, 6)
  for (const one of [entries, await OutboxEntries.load(store, NO_APPROVALS)]) {
    expect(one.get(sent.id)).toMatchObject({ state: 'sent', sentId: 7, settledAtMs: 5 })
    expect(one.get(kept.id)).toMatchObject({ state: 'refused', code: 'chat_not_found' })
    expect(await one.words(sent.id)).toBeNull()
    expect((await one.words(kept.id))?.toString()).toBe('kept')
  }
  await entries.wait(kept.id, { isForSealed: false, nowMs: 0 })
  expect(entries.get(kept.id)).toMatchObject({ state: 'waiting', code: null, isForSealed: false })
})

test('a new outbox entry removes entries settled three days ago, and `drop` removes an entry at once', async () => {
  const { store, entries, give } = await scene()
  const { id } = await give('sent')
  await entries.settle(id, { state: 'sent', code: null, sentId: 7 }, 0)
  const again = await OutboxEntries.load(store, NO_APPROVALS)
  await again.add(entryOf({ createdAtMs: 73 * 3_600_000 }), Buffer.from('more'))
  expect(again.get(id)).toBeUndefined()
  const dropped = await give('dropped')
  await entries.drop(dropped.id)
  expect([entries.get(dropped.id), await entries.words(dropped.id)]).toEqual([undefined, null])
})
