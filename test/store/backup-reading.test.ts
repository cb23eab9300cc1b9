import { mkdirSync, rmSync, statSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { readBackup } from '../../src/store/backup.ts'
import { CARRIED_TABLES } from '../../src/store/carry.ts'
import { NEWEST_VERSION } from '../../src/store/migrations.ts'
import { beforeSqlite } from './before-sqlite.ts'
import { addKey, backup, execute, open, put, temporary, zeroPages } from './support.ts'

const passphrase = 'a passphrase'

afterEach(() => void vi.restoreAllMocks())

const backupOf = async (words: string | null): Promise<string> =>
  await backup(await open(temporary(), { passphrase: words }))

/** Does something to the file when it is open, before anything of it is read. */
function onceOpen(act: () => void): void {
  let isDone = false
  beforeSqlite('prepare', () => {
    if (!isDone) act()
    isDone = true
  })
}

describe('`readBackup`', () => {
  test('`readBackup` returns size, version, protection, keys with the newest first, and row counts', async () => {
    const store = await open(temporary(), { passphrase })
    await store.secret('replay')
    await put(store, 'kept', 'yes')
    await addKey(store, 'old')
    await addKey(store, 'new', { created_at: 2 })
    const file = await backup(store)
    // what no version of ours has made is not counted
    execute(file, 'CREATE TABLE "of-others" (x); CREATE TABLE sqlite (x); CREATE TABLE x1 (x)')
    const { counts, ...read } = await readBackup(file, { passphrase })
    expect(read).toEqual({
      takenAt: expect.stringMatching(/^\d{4}-.*Z$/),
      bytes: statSync(file).size,
      version: NEWEST_VERSION,
      method: 'passphrase',
      masterSecret: store.masterSecret,
      keys: ['new', 'old'].map((fingerprint) => ({ fingerprint, state: 'retired', locked: 'l' })),
    })
    const none = Object.fromEntries([...CARRIED_TABLES, 'sqlite'].map((table) => [table, 0]))
    expect(counts).toEqual({ ...none, flags: 2, own_keys: 2, protection: 1, secrets: 1 })
  })

  test('`readBackup` needs no passphrase for a backup without protection', async () => {
    const { method, masterSecret, counts } = await readBackup(await backupOf(null), { passphrase })
    expect([method, masterSecret, counts['protection']]).toEqual([null, null, 0])
  })
})

describe('the refusal of a damaged backup', () => {
  test.each<[what: string, damage: (file: string) => void, reason: string]>([
    ['is missing', (file) => rmSync(file), 'there is no such file'],
    [
      'is a folder',
      (file) => (rmSync(file), mkdirSync(file)),
      'it cannot be read by this user, or from this disk',
    ],
    ['is text', (file) => writeFileSync(file, 'words '.repeat(2000)), 'it is not a database'],
    [
      'is empty',
      (file) => truncateSync(file, 0),
      'the store is damaged: its file is not a database of Postern',
    ],
    ['is cut off', (file) => truncateSync(file, 8192), 'it is not a database'],
    [
      'has a page of zeros',
      (file) => zeroPages(file, 4),
      'the store is damaged: it does not pass SQLite’s check',
    ],
    [
      'is a database of another program',
      (file) => execute(file, 'PRAGMA application_id = 1'),
      'the store is damaged: its file is not a database of Postern',
    ],
    [
      'has a sealed secret that was changed',
      (file) => execute(file, 'UPDATE secrets SET sealed = randomblob(60)'),
      'the store is damaged: a sealed secret was changed',
    ],
    ['is removed meanwhile', (file) => onceOpen(() => rmSync(file)), 'there is no such file'],
    [
      'is in a folder that becomes a file meanwhile',
      (file) =>
        onceOpen(() => {
          rmSync(join(file, '..'), { recursive: true })
          writeFileSync(join(file, '..'), '')
        }),
      'there is no such file',
    ],
    [
      'becomes a link to itself meanwhile',
      (file) => onceOpen(() => (rmSync(file), symlinkSync(file, file))),
      'it cannot be read (ELOOP)',
    ],
  ])('a backup file that %s is refused with the reason', async (_, damage, reason) => {
    const store = await open(temporary(), { passphrase })
    await store.secret('replay')
    const file = await backup(store)
    damage(file)
    await expect(readBackup(file, { passphrase })).rejects.toMatchObject({
      code: 'failed',
      message: `${file} is no sound backup: ${reason}`,
    })
  })

  test('a backup with another passphrase, or of a later version, is refused with its own code', async () => {
    const file = await backupOf(passphrase)
    await expect(readBackup(file, { passphrase: 'another' })).rejects.toMatchObject({
      code: 'store-passphrase',
    })
    execute(file, 'PRAGMA user_version = 99')
    await expect(readBackup(file, { passphrase })).rejects.toMatchObject({ code: 'store-newer' })
  })

  test('a programming error in `readBackup` is thrown unchanged', async () => {
    const file = await backupOf(null)
    const mistake = new TypeError('a mistake')
    onceOpen(() => {
      throw mistake
    })
    await expect(readBackup(file, { passphrase })).rejects.toBe(mistake)
  })
})
