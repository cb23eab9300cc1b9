import { expect, test, vi } from 'vitest'
import { Refusal } from '../../src/errors.ts'
import { ConfirmedUpdates } from '../../src/kernel/opening/confirmed-updates.ts'
import type { Store } from '../../src/store/store.ts'
import { open, temporary } from './support.ts'
import { memoryOf } from '../../src/store/memory.ts'

/** The lowest id that was not confirmed. */
async function below(store: Store, confirmed = new ConfirmedUpdates(memoryOf(store))) {
  const ids = Array.from({ length: 20 }, (_, id) => id)
  const included = await Promise.all(
    ids.map((id) => memoryOf(store).read((records) => confirmed.includes(records, id))),
  )
  return included.indexOf(false)
}

test('the highest confirmed update id is stored and read by others', async () => {
  const store = await open(temporary())
  expect(await below(store)).toBe(0)
  const confirmed = new ConfirmedUpdates(memoryOf(store))
  for (const id of [5, 3, 9, 0]) await confirmed.record(id)
  expect([await below(store, confirmed), await below(store)]).toEqual([9, 9])
})

test('a confirmed update id is written once', async () => {
  const store = await open(temporary())
  const confirmed = new ConfirmedUpdates(memoryOf(store))
  const note = vi.spyOn(store, 'note')
  for (const id of [0, 5, 5, 4, 6]) await confirmed.record(id)
  expect(note).toHaveBeenCalledTimes(2)
})

test('an update id that cannot be written counts in memory and is written with the next', async () => {
  const store = await open(temporary())
  const confirmed = new ConfirmedUpdates(memoryOf(store))
  const note = vi.spyOn(store, 'note')
  note.mockRejectedValueOnce(new Refusal('postern_store_unwritable'))
  await confirmed.record(5)
  expect([await below(store, confirmed), await below(store)]).toEqual([5, 0])
  await confirmed.record(5)
  expect(await below(store)).toBe(5)
})

test.each([
  ['a shared store cannot be written', true, new Refusal('postern_store_unwritable')],
  ['the write fails with another error', false, new Error('a bug')],
])('an update is not confirmed where %s', async (_name, isShared, failure) => {
  const store = await open(temporary())
  const double = { isShared, read: store.read.bind(store), note: () => Promise.reject(failure) }
  const confirmed = new ConfirmedUpdates(memoryOf(double as unknown as Store))
  await expect(confirmed.record(5)).rejects.toThrow(failure)
})
