import type { KeyChange } from '../../../src/kernel/index.ts'
import { expect, test, vi } from 'vitest'
import { Refusal } from '../../../src/errors.ts'
import { KeyChanges } from '../../../src/kernel/people/key-changes.ts'
import type { Store } from '../../../src/store/store.ts'
import { open, temporary } from '../../store/support.ts'
import { memoryOf } from '../../../src/store/memory.ts'

const CHANGE = { userId: 5, from: 'a', to: 'b' }

async function changed(store: Store, changes: KeyChanges, change: KeyChange): Promise<void> {
  await memoryOf(store).write(({ keyChanges }) => keyChanges.save([change]))
  changes.saved(change)
}

async function scene() {
  const store = await open(temporary())
  const changes = await KeyChanges.load(memoryOf(store))
  await changed(store, changes, CHANGE)
  return { store, changes }
}

test('a change is told once with a message and once with a send, and again with the same one', async () => {
  const { changes } = await scene()
  expect(await changes.tell([4, 5, 5], 'message', '1')).toEqual([CHANGE])
  expect(await changes.tell([5], 'message', '2')).toEqual([])
  expect(await changes.tell([5], 'send', '2')).toEqual([CHANGE])
  expect(await changes.tell([5], 'message', '1')).toEqual([CHANGE])
})

test('what was told is known after a restart, and what was not is told then', async () => {
  const { store, changes } = await scene()
  await changes.tell([5], 'message', '1')
  const after = await KeyChanges.load(memoryOf(store))
  expect(await after.tell([5], 'message', '2')).toEqual([])
  expect(await after.tell([5], 'send', '2')).toEqual([CHANGE])
})

test('a later change is told anew, and nobody else’s is', async () => {
  const { store, changes } = await scene()
  await changes.tell([5], 'message', '1')
  const next = { userId: 5, from: 'b', to: 'c' }
  await changed(store, changes, next)
  expect(await changes.tell([6], 'message', '2')).toEqual([])
  expect(await changes.tell([5], 'message', '2')).toEqual([next])
})

test('a store that cannot be written keeps nobody from being told', async () => {
  const { store, changes } = await scene()
  vi.spyOn(store, 'note').mockRejectedValue(new Refusal('postern_store_unwritable'))
  expect(await changes.tell([5], 'send', 's')).toEqual([CHANGE])
  expect(await changes.tell([5], 'send', 't')).toEqual([])
})
