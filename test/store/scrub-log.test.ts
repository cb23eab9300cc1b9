import { existsSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { expect, onTestFinished, test, vi } from 'vitest'
import { noteScrub, scrubIfDue, scrubLog } from '../../src/store/scrub.ts'
import { fileCalls, type FileCall } from '../support/file-calls.ts'
import { open, temporary } from './support.ts'

/** A database with a log of more than two blocks beside it. */
function withLog(): { database: DatabaseSync; file: string; log: string } {
  const file = join(temporary(), 'some.db')
  const database = new DatabaseSync(file)
  onTestFinished(() => database.close())
  database.exec('PRAGMA journal_mode=WAL; CREATE TABLE words (word TEXT)')
  for (let at = 0; at < 40; at++) {
    database.prepare('INSERT INTO words VALUES (?)').run('secret '.repeat(600))
  }
  return { database, file, log: `${file}-wal` }
}

const written = (calls: FileCall[]): FileCall[] => calls.filter(({ name }) => name === 'writeSync')

test('`scrubLog` overwrites and syncs every byte of the log before it truncates the log', () => {
  const { database, file, log } = withLog()
  const { size } = statSync(log)
  expect(size).toBeGreaterThan(2 * 65_536)
  const calls = fileCalls(() => scrubLog(database, file))
  const bytes = Buffer.concat(written(calls).map(({ bytes: all }) => all ?? Buffer.alloc(0)))
  expect(bytes.equals(Buffer.alloc(size))).toBe(true)
  expect(calls.slice(-2)).toMatchObject([
    { name: 'fsyncSync', file: 'some.db-wal' },
    { name: 'closeSync', file: 'some.db-wal' },
  ])
  expect(statSync(log).size).toBe(0)
  expect(database.prepare('SELECT count(*) AS count FROM words').get()).toEqual({ count: 40 })
})

test('`scrubLog` leaves a log that another connection reads', () => {
  const { database, file, log } = withLog()
  const reader = new DatabaseSync(file)
  onTestFinished(() => reader.close())
  reader.exec('BEGIN')
  reader.prepare('SELECT count(*) FROM words').get()
  database.exec("INSERT INTO words VALUES ('later')")
  const { size } = statSync(log)
  expect(fileCalls(() => scrubLog(database, file))).toEqual([])
  expect(statSync(log).size).toBe(size)
})

test('`scrubLog` without a log does nothing', () => {
  const file = join(temporary(), 'some.db')
  const database = new DatabaseSync(file)
  onTestFinished(() => database.close())
  database.exec('CREATE TABLE words (word TEXT)')
  expect(fileCalls(() => scrubLog(database, file))).toEqual([])
  expect(existsSync(`${file}-wal`)).toBe(false)
})

test('a scrub is due from `noteScrub` until it is done', async () => {
  const store = await open(temporary())
  const scrub = vi.spyOn(store, 'scrub')
  await scrubIfDue(store)
  expect(scrub).not.toHaveBeenCalled()
  await store.write(noteScrub)
  await store.write(noteScrub)
  await scrubIfDue(store)
  await scrubIfDue(store)
  expect(scrub).toHaveBeenCalledOnce()
})
