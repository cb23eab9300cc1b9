/** What the outbox keeps in a store. */
import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import type { LaterCaller } from '../../src/clients/clients.ts'
import type { TrustChange } from '../../src/kernel/index.ts'
import { OutboxEntries, type NewEntry } from '../../src/outbox/entries.ts'
import { rowOf, UNSETTLED } from '../../src/outbox/entry.ts'
import { upsert } from '../../src/store/records/rows.ts'
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

const [MIB, CLIENT, OTHER] = [2 ** 20, { client: 'reporter' }, { client: 'other' }]

test.each<[who: string, kept: [who: object, bytes: number][], more: object, share: string | null]>([
  ['the bot', [[{}, 64 * MIB - 1]], {}, 'the outbox may have 10000 calls and 64 MiB'],
  [
    'the bot beside full clients',
    [
      [CLIENT, 31 * MIB],
      [OTHER, 32 * MIB],
    ],
    {},
    null,
  ],
  ['a client', [[CLIENT, 8 * MIB - 1]], CLIENT, 'client reporter may have 1250 calls and 8 MiB'],
  ['a client beside another', [[OTHER, 8 * MIB]], CLIENT, null],
  ['one of many clients', [[OTHER, 32 * MIB - 1]], CLIENT, 'all clients together may have 5000'],
])('the share of %s is all that it has', async (_who, kept, more, share) => {
  const { entries, store, give } = await scene()
  for (const [who, bytes] of kept) {
    const { id } = await give('words', who)
    await entries.change(id, () => ({ bytes }))
  }
  const late = entryOf(more)
  const given = entries.add(late, Buffer.from('xx'))
  if (share !== null) {
    const how = { extra: { retryAfter: 60 } }
    await expect(given).rejects.toThrow(refused('postern_outbox_full', share, how))
  } else await given
  const isThere = (await OutboxEntries.load(store, NO_APPROVALS)).get(late.id) !== undefined
  expect([isThere, (await entries.words(late.id)) !== null]).toEqual(Array(2).fill(share === null))
})

test('a client has room for 1,250 calls, and as many of those that were sent are shown', async () => {
  const { store } = await scene()
  const made = { ...UNSETTLED, approval: null, bytes: 1 }
  const row = { ...made, settledAtMs: 0 }
  const ids = Array.from({ length: 1251 }, () => randomUUID())
  const put = async (state: 'sent' | 'refused') => {
    const rows = ids.map((id) => rowOf({ ...entryOf(CLIENT), ...row, state, id }, store.rowSeal))
    await store.write((db) => upsert(db, 'outbox', 'id', rows))
  }
  await put('sent')
  const add = (entries: OutboxEntries) => entries.add(entryOf(CLIENT), Buffer.from('x'))
  const sent = await OutboxEntries.load(store, NO_APPROVALS)
  await add(sent)
  expect([sent.all.length, sent.get(ids[0] ?? '')]).toEqual([1251, undefined])
  ids.shift()
  await put('refused')
  const full = await OutboxEntries.load(store, NO_APPROVALS)
  await full.drop(ids[0] ?? '')
  await expect(add(full)).rejects.toThrow(refused('postern_outbox_full', 'client reporter'))
  await full.drop(ids[1] ?? '')
  await add(full)
})

test('an entry that waits under a credential of nobody is refused at each sidecar, and journalled', async () => {
  const { store, entries, give } = await scene()
  const changes: unknown[] = []
  const append = async (_records: unknown, all: readonly TrustChange[]) => () =>
    void changes.push(...all.map(({ detail }) => detail))
  let gone = ''
  const hasLost = ({ credential }: LaterCaller): boolean => credential === gone
  const parts = { ...NO_APPROVALS, clients: { hasLost }, journal: { append } }
  const states = { waiting: 'refused', asked: 'refused', held: 'held', sent: 'sent' } as const
  for (const state of Object.keys(states) as (keyof typeof states)[]) {
    await give(state, { id: state, client: 'a', credential: 'first' })
    await entries.change(state, () => ({ state }))
  }
  await give('by its name of now', { id: 'other', client: 'a', credential: 'second' })
  const load = () => OutboxEntries.load(store, parts)
  const [here, there] = [await load(), await load()]
  await here.refuseLost(6)
  gone = 'first'
  await there.refuseLost(7)
  await here.refuseLost(8)
  const entriesOf = ['waiting', 'asked'].map((entry) => ({ client: 'a', entry }))
  expect(changes).toEqual(entriesOf)
  for (const one of [here, there, await load()]) {
    expect(one.get('waiting')).toMatchObject({ code: 'postern_not_allowed', settledAtMs: 7 })
    const found = Object.keys({ ...states, other: '' }).map((id) => [id, one.get(id)?.state])
    expect(Object.fromEntries(found)).toEqual({ ...states, other: 'waiting' })
  }
})

test('a sent outbox entry loses its text, and a refused entry keeps its text for another attempt', async () => {
  const { store, entries, give } = await scene()
  const [sent, kept] = [await give('sent'), await give('kept')]
  await entries.settle(sent, { state: 'sent', code: null, sentId: 7 }, 5)
  await entries.settle(kept, { state: 'refused', code: 'chat_not_found', sentId: null }, 6)
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
  const sent = await give('sent')
  await entries.settle(sent, { state: 'sent', code: null, sentId: 7 }, 0)
  const again = await OutboxEntries.load(store, NO_APPROVALS)
  await again.add(entryOf({ createdAtMs: 73 * 3_600_000 }), Buffer.from('more'))
  expect(again.get(sent.id)).toBeUndefined()
  const dropped = await give('dropped')
  await entries.drop(dropped.id)
  expect([entries.get(dropped.id), await entries.words(dropped.id)]).toEqual([undefined, null])
})
