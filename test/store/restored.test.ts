import { DatabaseSync } from 'node:sqlite'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { ConfirmedUpdates } from '../../src/kernel/opening/confirmed-updates.ts'
import {
  acceptRestored,
  memoryGaps,
  readNote,
  restoredFrom,
  writeNote,
} from '../../src/store/flags.ts'
import { flags, open, put, temporary } from './support.ts'
import { memoryOf } from '../../src/store/memory.ts'

beforeEach(() => void vi.useFakeTimers({ now: Date.UTC(2026, 5, 1), toFake: ['Date'] }))
afterEach(() => void vi.useRealTimers())

const TAKEN_AT = '2026-05-01T12:00:00.000Z'
const GAP = { fromMs: Date.UTC(2026, 4, 1, 11, 55), toMs: Date.UTC(2026, 5, 1) }

/** A store that was restored from a backup of this time. */
async function restoredStore(takenAt = TAKEN_AT) {
  const store = await open(temporary())
  await put(store, 'backup_taken_at', takenAt)
  return store
}

test('a copy has the date of its first backup', () => {
  const copy = new DatabaseSync(':memory:')
  copy.exec('CREATE TABLE flags (name TEXT PRIMARY KEY, value TEXT)')
  copy.exec("INSERT INTO flags VALUES ('other', 'x')")
  expect(readNote(copy)).toBeNull()
  writeNote(copy, TAKEN_AT)
  writeNote(copy, '2026-05-02T12:00:00.000Z')
  expect(readNote(copy)).toBe(TAKEN_AT)
  copy.close()
})

test('a store that was not restored has no memory gap, also after `acceptRestored`', async () => {
  const store = await open(temporary())
  expect([await restoredFrom(store), await memoryGaps(store)]).toEqual([null, []])
  await acceptRestored(store, { isLatest: false })
  expect(await flags(store)).toEqual({})
})

test('an accepted store has a memory gap from five minutes before the backup until now', async () => {
  const store = await restoredStore()
  await put(store, 'other', 'stays')
  expect(await restoredFrom(store)).toBe(TAKEN_AT)
  await acceptRestored(store, { isLatest: false })
  expect([await restoredFrom(store), await memoryGaps(store)]).toEqual([null, [GAP]])
  expect(await flags(store)).toEqual({ other: 'stays', memory_gaps: JSON.stringify([GAP]) })
})

test('a store that is restored twice keeps its earlier memory gaps', async () => {
  const store = await restoredStore()
  await acceptRestored(store, { isLatest: false })
  await put(store, 'backup_taken_at', '2026-05-20T00:05:00.000Z')
  vi.setSystemTime(Date.UTC(2026, 5, 2))
  await acceptRestored(store, { isLatest: false })
  const second = { fromMs: Date.UTC(2026, 4, 20), toMs: Date.UTC(2026, 5, 2) }
  expect(await memoryGaps(store)).toEqual([GAP, second])
  // nothing ran after this backup: nothing is missing, beside what was
  await put(store, 'backup_taken_at', TAKEN_AT)
  await acceptRestored(store, { isLatest: true })
  expect([await restoredFrom(store), await memoryGaps(store)]).toEqual([null, [GAP, second]])
})

test('an accepted store has its known updates confirmed, unless nothing ran after the backup', async () => {
  for (const isLatest of [true, false]) {
    const store = await restoredStore()
    const row = { kind: 'data' as const, chat_id: 1, message_id: 1, user_id: 5, seen_at: 1 }
    for (const [update_id, digest] of [
      [7, Buffer.from('a')],
      [9, Buffer.from('b')],
    ] as const) {
      const rest = { media_id: null, dated_at: null, update_id, digest }
      await store.write((db) =>
        db
          .insertInto('seen')
          .values({ ...row, ...rest })
          .execute(),
      )
    }
    await acceptRestored(store, { isLatest })
    const confirmed = new ConfirmedUpdates(memoryOf(store))
    const includes = (id: number) =>
      memoryOf(store).read((records) => confirmed.includes(records, id))
    expect([await includes(9), await includes(10)]).toEqual([!isLatest, false])
  }
})
