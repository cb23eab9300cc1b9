import fs, {
  chmodSync,
  copyFileSync,
  existsSync,
  readdirSync,
  readFileSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import promises, { open as openFile, type FileHandle } from 'node:fs/promises'
import { syncBuiltinESMExports } from 'node:module'
import { basename, dirname, join } from 'node:path'
import { describe, expect, test, vi } from 'vitest'
import { alter, copyDatabase, makeCopy, readBackup, restore } from '../../src/store/backup.ts'
import { restoredFrom } from '../../src/store/flags.ts'
import { fileCalls } from '../support/file-calls.ts'
import { beforeSqlite } from './before-sqlite.ts'
import { connected, modeOf, open, restoreMocks, temporary, madeFolder } from './support.ts'

restoreMocks()

/** The database of a store that nobody has open. */
async function databaseFile(): Promise<string> {
  const dataDir = await madeFolder()
  return join(dataDir, 'postern.db')
}

const thrownBy = (work: () => unknown): Promise<unknown> =>
  (async () => await work())().then(
    () => expect.unreachable('nothing was thrown'),
    (error: unknown) => error,
  )

/** Copies a file as the store does. */
async function takeCopy(file: string, dataDir: string): Promise<string> {
  await using handle = await openFile(file)
  return await makeCopy(dataDir, (to) => copyDatabase(handle, to))
}

describe('`makeCopy`', () => {
  test('a backup copy is one synced file without a log, and has its date', async () => {
    const file = await databaseFile()
    const to = temporary()
    const opened = vi.spyOn(fs, 'openSync')
    syncBuiltinESMExports()
    const copy = await takeCopy(file, to)
    // its name is on disk
    expect(opened.mock.lastCall?.[0]).toBe(to)
    expect([dirname(copy), readdirSync(to)]).toEqual([to, [basename(copy)]])
    expect(basename(copy)).toMatch(/^postern\.backup-[\da-f-]{36}$/)
    // bytes 18 and 19: the file is written without a log (sqlite.org/fileformat.html)
    expect([...readFileSync(copy).subarray(18, 20)]).toEqual([1, 1])
    expect((await readBackup(copy, { passphrase: null })).takenAt).not.toBeNull()
  })

  test('a backup copy that fails in SQLite or in our code leaves no file', async () => {
    const dataDir = temporary()
    const words = join(temporary(), 'words')
    writeFileSync(words, 'words '.repeat(2000))
    expect(await thrownBy(() => takeCopy(words, dataDir))).toMatchObject({
      code: 'store-unwritable',
      message: `${dataDir} cannot be written: SQLite failed`,
    })
    // a database without the table that takes the note
    const noNote = join(temporary(), 'empty')
    connected(noNote).exec('CREATE TABLE words (word TEXT)')
    expect(await thrownBy(() => takeCopy(noNote, dataDir))).toMatchObject({
      code: 'ERR_SQLITE_ERROR',
    })
    expect(readdirSync(dataDir)).toEqual([])
  })
})

describe('`copyDatabase`', () => {
  test('a backup copy has every byte of the database file, has mode 0600 and is synced', async () => {
    const file = join(temporary(), 'file')
    for (const length of [0, 1, 2 ** 20, 17 * 2 ** 20 + 5]) {
      const bytes = Buffer.alloc(length, 'all the bytes of a file')
      writeFileSync(file, bytes)
      const to = join(temporary(), 'copy')
      await using handle = await openFile(file)
      const sync = vi.spyOn(Object.getPrototypeOf(handle) as FileHandle, 'sync')
      await copyDatabase(handle, to)
      expect([readFileSync(to).equals(bytes), modeOf(to)]).toEqual([true, '600'])
      expect(sync.mock.calls).toEqual([[]])
      sync.mockRestore()
    }
  })

  test('a backup copy skips only the bytes that SQLite locks', async () => {
    const [locked, end] = [2 ** 30, 2 ** 30 + 4096]
    const asked: [from: number, to: number][] = []
    const source = {
      read: async (_: Buffer, _offset: number, length: number, at: number) => {
        asked.push([at, Math.min(at + length, end)])
        return { bytesRead: Math.max(0, Math.min(length, end - at)) }
      },
    } as unknown as FileHandle
    const written = vi.fn(async (_: Buffer, _offset: number, bytesWritten: number) => ({
      bytesWritten,
    }))
    const to = { write: written, datasync: vi.fn(), sync: vi.fn(), [Symbol.asyncDispose]: vi.fn() }
    vi.spyOn(promises, 'open').mockResolvedValue(to as unknown as FileHandle)
    syncBuiltinESMExports()
    await copyDatabase(source, join(temporary(), 'copy'))
    const gaps = asked.flatMap(([at], n) => (at === (asked[n - 1]?.[1] ?? 0) ? [] : [at]))
    expect([gaps, asked.at(-2)]).toEqual([[locked + 512], [locked + 512, end]])
  })

  test('a backup copy continues after a partial write', async () => {
    const file = join(temporary(), 'file')
    writeFileSync(file, 'all the bytes of a file')
    const to = join(temporary(), 'copy')
    await using handle = await openFile(file)
    const files = Object.getPrototypeOf(handle) as FileHandle
    vi.spyOn(files, 'write').mockImplementationOnce((async () => {
      writeFileSync(to, 'all')
      return { bytesWritten: 3 }
    }) as never)
    await copyDatabase(handle, to)
    expect(readFileSync(to, 'utf8')).toBe('all the bytes of a file')
  })
})

describe('`restore`', () => {
  test('a restored store has mode 0600, and the date of its file where the backup has none', async () => {
    const file = await databaseFile()
    chmodSync(file, 0o644)
    utimesSync(file, new Date(), new Date('2026-02-03T04:05:06.000Z'))
    const before = readFileSync(file)
    const dataDir = temporary()
    restore(file, dataDir)
    expect(readdirSync(dataDir)).toEqual(['postern.db'])
    expect(modeOf(join(dataDir, 'postern.db'))).toBe('600')
    expect(readFileSync(file)).toEqual(before)
    expect(await restoredFrom(await open(dataDir))).toBe('2026-02-03T04:05:06.000Z')
  })

  test('a restored store is synced before it is renamed, and so is its directory', async () => {
    const file = await databaseFile()
    const dataDir = temporary()
    const calls = fileCalls(() => restore(file, dataDir))
    const synced = calls.flatMap(({ name, file: of }) => (name === 'fsyncSync' ? [of] : []))
    expect(synced).toEqual([
      expect.stringMatching(/^postern\.db\.new-[\da-f-]{36}$/),
      basename(dataDir),
    ])
  })

  test.each<[what: string, damage: (file: string) => void, refusal: object]>([
    [
      'that is missing',
      (file) => rmSync(file),
      { code: 'store-unwritable', message: expect.stringContaining(': ENOENT') },
    ],
    [
      'that is no database',
      (file) => writeFileSync(file, 'words '.repeat(2000)),
      { code: 'store-unwritable', message: expect.stringContaining(': SQLite failed') },
    ],
    [
      'of another program',
      (file) => alter(file, (database) => database.exec('PRAGMA application_id = 1')),
      { code: 'store-corrupt' },
    ],
    [
      'of a later version',
      (file) => alter(file, (database) => database.exec('PRAGMA user_version = 99')),
      { code: 'store-newer' },
    ],
    [
      'without the table `flags`',
      (file) => alter(file, (database) => database.exec('DROP TABLE flags')),
      { code: 'ERR_SQLITE_ERROR' },
    ],
  ])('a backup file %s restores nothing', async (_, damage, refusal) => {
    const file = join(temporary(), 'b')
    copyFileSync(await databaseFile(), file)
    damage(file)
    const dataDir = temporary()
    expect(await thrownBy(() => restore(file, dataDir))).toMatchObject(refusal)
    expect(readdirSync(dataDir)).toEqual([])
  })

  test('a restore keeps a store that appears meanwhile', async () => {
    const file = await databaseFile()
    const dataDir = temporary()
    const place = join(dataDir, 'postern.db')
    // the folder was looked at, and the copy is not in its place yet
    beforeSqlite('prepare', () => {
      if (!existsSync(place)) writeFileSync(place, 'a store')
    })
    expect(() => restore(file, dataDir)).toThrow('nothing is restored over it')
    expect([readdirSync(dataDir), readFileSync(place, 'utf8')]).toEqual([['postern.db'], 'a store'])
  })

  test('a store with a log beside it is refused as a backup', async () => {
    const file = await databaseFile()
    writeFileSync(`${file}-wal`, '')
    const dataDir = join(temporary(), 'none')
    expect(await thrownBy(() => restore(file, dataDir))).toMatchObject({
      code: 'failed',
      message: `${file} is no sound backup: a log lies beside it (-wal), so it is a store and no backup of one`,
    })
    expect(existsSync(dataDir)).toBe(false)
  })
})
