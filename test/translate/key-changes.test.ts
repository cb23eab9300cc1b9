import type { KeyChange, ToldWith } from '../../src/kernel/index.ts'
import { expect, test, vi } from 'vitest'
import { Refusal } from '../../src/errors.ts'
import { Journal } from '../../src/kernel/people/journal.ts'
import { loadKeyChanges } from '../../src/translate/key-changes.ts'
import type { Store } from '../../src/store/store.ts'
import { open, temporary } from '../store/support.ts'
import { memoryOf } from '../../src/store/memory.ts'

const CHANGE = { userId: 5, from: 'a', to: 'b' }

const CHAT = 7

async function load(store: Store) {
  const memory = memoryOf(store)
  const journal = new Journal(memory)
  const known = await loadKeyChanges({ memory, journal, policies: { for: () => 'accept' } })
  const changed = async ({ userId, ...change }: KeyChange): Promise<void> => {
    const detail = { ...change, standing: 'seen' }
    await journal.record([{ kind: 'key-changed', userId, detail }], ({ keyChanges }) =>
      keyChanges.save([{ userId, ...change }]),
    )
  }
  const tell = (userIds: number[], by: ToldWith, key: string): Promise<KeyChange[]> =>
    known.tell(userIds, { chatId: CHAT, by, key })
  return { store, changed, changes: { tell } }
}

async function scene() {
  const loaded = await load(await open(temporary()))
  await loaded.changed(CHANGE)
  return loaded
}

test('a key change is reported with one message and one send, and again with the same ones', async () => {
  const { changes } = await scene()
  expect(await changes.tell([4, 5, 5], 'message', '1')).toEqual([CHANGE])
  expect(await changes.tell([5], 'message', '2')).toEqual([])
  expect(await changes.tell([5], 'send', '2')).toEqual([CHANGE])
  expect(await changes.tell([5], 'message', '1')).toEqual([CHANGE])
})

test('the reports of a key change are remembered over a restart', async () => {
  const { store, changes } = await scene()
  await changes.tell([5], 'message', '1')
  const { changes: after } = await load(store)
  expect(await after.tell([5], 'message', '2')).toEqual([])
  expect(await after.tell([5], 'send', '2')).toEqual([CHANGE])
})

test('a later key change of a person is reported again, and to no other person’s messages', async () => {
  const { changed, changes } = await scene()
  await changes.tell([5], 'message', '1')
  const next = { userId: 5, from: 'b', to: 'c' }
  await changed(next)
  expect(await changes.tell([6], 'message', '2')).toEqual([])
  expect(await changes.tell([5], 'message', '2')).toEqual([next])
})

test('a key change is reported once even while the store is unwritable', async () => {
  const { store, changes } = await scene()
  vi.spyOn(store, 'note').mockRejectedValue(new Refusal('postern_store_unwritable'))
  expect(await changes.tell([5], 'send', 's')).toEqual([CHANGE])
  expect(await changes.tell([5], 'send', 't')).toEqual([])
})
