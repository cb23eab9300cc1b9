import fs, {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import promises, { open as openFile, type FileHandle } from 'node:fs/promises'
import { syncBuiltinESMExports } from 'node:module'
import { basename, dirname, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { describe, expect, test, vi } from 'vitest'
import { alter, copyDatabase, makeCopy, readBackup } from '../../src/store/backup.ts'
import { refuseOccupied, restore } from '../../src/store/restore.ts'
import { restoredFrom } from '../../src/store/restored.ts'
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

describe('a copy that is taken', () => {
  test('is one file, which says when, and needs no log', async () => {
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

  test('says which directory cannot be written, and why', async () => {
    const dataDir = join(temporary(), 'not-there')
    expect(await thrownBy(async () => takeCopy(await databaseFile(), dataDir))).toMatchObject({
      code: 'store-unwritable',
      message: `${dataDir} cannot be written: ENOENT`,
      cause: { code: 'ENOENT' },
    })
  })

  test('leaves nothing where SQLite or the program fails', async () => {
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

  test('leaves no file of SQLite beside it either when it fails', async () => {
    const file = await databaseFile()
    const dataDir = temporary()
    const mistake = new Error('a mistake')
    vi.spyOn(DatabaseSync.prototype, 'prepare').mockImplementationOnce(() => {
      const [copy = ''] = readdirSync(dataDir)
      for (const suffix of ['-wal', '-shm', '-journal']) {
        writeFileSync(join(dataDir, copy + suffix), '')
      }
      throw mistake
    })
    expect(await thrownBy(() => takeCopy(file, dataDir))).toBe(mistake)
    expect(readdirSync(dataDir)).toEqual([])
  })
})

describe('the bytes of a copy', () => {
  test('are those of the file, of any length, closed to others and on disk', async () => {
    const file = join(temporary(), 'file')
    for (const length of [0, 1, 2 ** 20, 17 * 2 ** 20 + 5]) {
      const bytes = Buffer.alloc(length, 'all the bytes of a file')
      writeFileSync(file, bytes)
      const to = join(temporary(), 'copy')
      await using handle = await openFile(file)
      const sync = vi.spyOn(Object.getPrototypeOf(handle) as FileHandle, 'sync')
      await copyDatabase(handle, to)
      expect([readFileSync(to).equals(bytes), modeOf(to), sync.mock.calls]).toEqual([
        true,
        '600',
        [[]],
      ])
      sync.mockRestore()
    }
  })

  test('leave out those alone that SQLite locks: Windows refuses to read them', async () => {
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

  test('that one write did not take are written by the next', async () => {
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

describe('a database that is altered', () => {
  test('is ours alone meanwhile, on disk afterwards, and closed', async () => {
    const file = await databaseFile()
    const seen: unknown[] = []
    let used: DatabaseSync | undefined
    alter(file, (database) => {
      used = database
      for (const name of ['locking_mode', 'journal_mode', 'synchronous']) {
        seen.push(...Object.values(database.prepare(`PRAGMA ${name}`).get() ?? {}))
      }
    })
    expect([seen, used?.isOpen]).toEqual([['exclusive', 'delete', 2], false])
  })

  test('is closed when the change fails, and none is made', async () => {
    const file = await databaseFile()
    let used: DatabaseSync | undefined
    const mistake = new Error('a mistake')
    const failing = (database: DatabaseSync): void => {
      used = database
      throw mistake
    }
    expect(() => alter(file, failing)).toThrow(mistake)
    expect(used?.isOpen).toBe(false)
    const none = join(temporary(), 'none')
    expect(() => alter(none, () => {})).toThrow('unable to open')
    expect(existsSync(none)).toBe(false)
  })
})

describe('a backup that is restored', () => {
  test('is closed to others, and dated by its file where nothing else dates it', async () => {
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

  test('is on disk before it has its name, and so is the name', async () => {
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
      'that is not there',
      (file) => rmSync(file),
      { code: 'store-unwritable', message: expect.stringContaining(': ENOENT') },
    ],
    [
      'that is no database',
      (file) => writeFileSync(file, 'words '.repeat(2000)),
      { code: 'store-unwritable', message: expect.stringContaining(': SQLite failed') },
    ],
    [
      'of something else',
      (file) => alter(file, (database) => database.exec('PRAGMA application_id = 1')),
      { code: 'store-corrupt' },
    ],
    [
      'of a later version',
      (file) => alter(file, (database) => database.exec('PRAGMA user_version = 99')),
      { code: 'store-newer' },
    ],
    [
      'that takes no note',
      (file) => alter(file, (database) => database.exec('DROP TABLE flags')),
      { code: 'ERR_SQLITE_ERROR' },
    ],
  ])('leaves nothing where it is one %s', async (_, damage, refusal) => {
    const file = join(temporary(), 'b')
    copyFileSync(await databaseFile(), file)
    damage(file)
    const dataDir = temporary()
    expect(await thrownBy(() => restore(file, dataDir))).toMatchObject(refusal)
    expect(readdirSync(dataDir)).toEqual([])
  })

  test('does not go over a store that appears meanwhile', async () => {
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

  test('is no store: one has its log beside it', async () => {
    const file = await databaseFile()
    writeFileSync(`${file}-wal`, '')
    const dataDir = join(temporary(), 'none')
    expect(await thrownBy(() => restore(file, dataDir))).toMatchObject({
      code: 'failed',
      message: `${file} is no sound backup: a log lies beside it (-wal), so it is a store and no backup of one`,
    })
    expect(existsSync(dataDir)).toBe(false)
  })

  test('makes its folder', async () => {
    const file = await databaseFile()
    const dataDir = join(temporary(), 'none')
    restore(file, dataDir)
    expect([modeOf(dataDir), readdirSync(dataDir)]).toEqual(['700', ['postern.db']])
  })

  test('goes into a folder that is not there, is empty, or holds something else', async () => {
    const dataDir = temporary()
    for (const free of [join(dataDir, 'none'), dataDir]) {
      expect(() => refuseOccupied(free)).not.toThrow()
    }
    mkdirSync(join(dataDir, 'lost+found'))
    expect(() => refuseOccupied(dataDir)).not.toThrow()
    writeFileSync(join(dataDir, 'store.json'), '')
    expect(() => refuseOccupied(dataDir)).toThrow('nothing is restored over it')
  })
})
