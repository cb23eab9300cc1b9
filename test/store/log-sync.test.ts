import fs from 'node:fs/promises'
import { syncBuiltinESMExports } from 'node:module'
import { statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { expect, onTestFinished, test, vi } from 'vitest'
import { LogSync } from '../../src/store/log-sync.ts'
import { newStore, restoreMocks, temporary } from './support.ts'

restoreMocks()

interface Scene {
  database: DatabaseSync
  log: string
  logSync: LogSync
}

function scene(): Scene {
  const file = join(temporary(), 'some.db')
  const database = new DatabaseSync(file)
  onTestFinished(() => database.close())
  database.exec('PRAGMA journal_mode=WAL')
  const log = `${file}-wal`
  const logSync = new LogSync(database, log)
  onTestFinished(() => logSync[Symbol.asyncDispose]())
  return { database, log, logSync }
}

const synchronous = ({ database }: Scene): unknown =>
  database.prepare('PRAGMA synchronous').get()?.['synchronous']
const [NORMAL, FULL] = [1, 2]

/** Flushes wait until `finish` is called for each, with an error or without. */
function heldFlushes(): { finish: ((error?: Error) => void)[]; opened: string[]; closed: number } {
  const held = { finish: [] as ((error?: Error) => void)[], opened: [] as string[], closed: 0 }
  vi.spyOn(fs, 'open').mockImplementation(async (path) => {
    held.opened.push(String(path))
    return {
      datasync: () =>
        new Promise<void>((resolve, reject) => {
          held.finish.push((error) => (error === undefined ? resolve() : reject(error)))
        }),
      close: async () => void held.closed++,
    } as unknown as fs.FileHandle
  })
  syncBuiltinESMExports()
  return held
}

const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

test('`LogSync.unsynced` commits without a sync, and restores FULL afterwards, also after an error', async () => {
  const one = scene()
  expect(synchronous(one)).toBe(FULL)
  expect(await one.logSync.unsynced(async () => synchronous(one))).toBe(NORMAL)
  expect(synchronous(one)).toBe(FULL)
  const failing = one.logSync.unsynced(() => Promise.reject(new Error('stop')))
  await expect(failing).rejects.toThrow('stop')
  expect(synchronous(one)).toBe(FULL)
})

test('`LogSync.sync` syncs the log, and calls during a sync share the next sync', async () => {
  const { logSync, log } = scene()
  const held = heldFlushes()
  const done: string[] = []
  const first = logSync.sync().then(() => done.push('first'))
  await settle()
  const later = [logSync.sync(), logSync.sync()].map(async (one) => {
    await one
    done.push('later')
  })
  await settle()
  expect([held.finish.length, done]).toEqual([1, []])
  held.finish[0]?.()
  await first
  await settle()
  expect([held.finish.length, done]).toEqual([2, ['first']])
  held.finish[1]?.()
  await Promise.all(later)
  expect(done).toEqual(['first', 'later', 'later'])
  expect([held.finish.length, held.opened]).toEqual([2, [log]])
  await logSync[Symbol.asyncDispose]()
  expect(held.closed).toBe(1)
})

test('`LogSync.sync` without a log file needs no sync until the file exists', async () => {
  const { logSync, log } = scene()
  await logSync.sync()
  const held = heldFlushes()
  writeFileSync(log, '')
  const flushing = logSync.sync()
  await settle()
  expect(held.finish).toHaveLength(1)
  held.finish[0]?.()
  await flushing
})

test('`LogSync.mend` checkpoints the log after a failed sync, once', async () => {
  const { database, logSync, log } = scene()
  database.exec('CREATE TABLE words (word TEXT)')
  const held = heldFlushes()
  await logSync.mend()
  expect(statSync(log).size).toBeGreaterThan(0)
  const failing = [logSync.sync()]
  await settle()
  failing.push(logSync.sync())
  held.finish[0]?.(Object.assign(new Error('EIO'), { code: 'EIO', syscall: 'fdatasync' }))
  await expect(failing[0]).rejects.toThrow('EIO')
  // one that failed keeps the next one from nothing
  await settle()
  held.finish[1]?.()
  await failing[1]
  await logSync.mend()
  expect(statSync(log).size).toBe(0)
  // and that is done once
  database.exec("INSERT INTO words VALUES ('later')")
  await logSync.mend()
  expect(statSync(log).size).toBeGreaterThan(0)
})

test('`LogSync.mend` waits for a running copy, also for one that fails', async () => {
  const { database, logSync, log } = scene()
  database.exec('CREATE TABLE words (word TEXT)')
  const held = heldFlushes()
  const { promise, reject } = Promise.withResolvers<string>()
  const { copied } = logSync.startCopy(() => promise)
  expect(statSync(log).size).toBe(0)
  database.exec("INSERT INTO words VALUES ('meanwhile')")
  const failing = logSync.sync()
  await settle()
  held.finish[0]?.(Object.assign(new Error('EIO'), { code: 'EIO', syscall: 'fdatasync' }))
  await expect(failing).rejects.toThrow('EIO')
  const mending = logSync.mend()
  await settle()
  expect(statSync(log).size).toBeGreaterThan(0)
  reject(new Error('no room'))
  await expect(copied).rejects.toThrow('no room')
  await mending
  expect(statSync(log).size).toBe(0)
})

test('a note syncs the log of its store', async () => {
  const { dataDir, store } = await newStore()
  const opened = vi.spyOn(fs, 'open')
  syncBuiltinESMExports()
  await store.note((db) => db.insertInto('flags').values({ name: 'a', value: 'b' }).execute())
  expect(opened.mock.calls).toEqual([[join(dataDir, 'postern.db-wal'), 'r']])
})
