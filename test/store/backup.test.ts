import { spawnSync } from 'node:child_process'
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { describe, expect, test } from 'vitest'
import { readBackup } from '../../src/store/backup.ts'
import { restore } from '../../src/store/restore.ts'
import { acceptRestored, memoryGaps, restoredFrom } from '../../src/store/restored.ts'
import type { Store } from '../../src/store/store.ts'
import { canMount, digests, flags, made, modeOf, mounted, open, put, temporary } from './support.ts'

const passphrase = 'a passphrase'
const request = { passphrase }

/** Takes a copy out of the data directory, as the command does. */
async function backup(store: Store, to = join(temporary(), 'b')): Promise<string> {
  renameSync(await store.copy(), to)
  return to
}

describe('a backup', () => {
  test('is one file of mode 0600, under the same protection, with everything in it', async () => {
    const dataDir = temporary()
    const store = await open(dataDir, { passphrase })
    const secret = await store.secret('replay')
    await put(store, 'kept', 'yes')
    const file = await store.copy()
    expect(modeOf(file)).toBe('600')
    expect(readFileSync(file).includes(secret)).toBe(false)
    expect(readdirSync(dataDir).filter((name) => name.startsWith('postern.backup-'))).toHaveLength(
      1,
    )
    const { method, counts, takenAt, masterSecret } = await readBackup(file, request)
    expect({ method, masterSecret }).toEqual({
      method: 'passphrase',
      masterSecret: store.masterSecret,
    })
    expect(counts).toMatchObject({ flags: 2, secrets: 1, own_keys: 0 })
    expect(Math.abs(Date.parse(takenAt ?? '') - Date.now())).toBeLessThan(60_000)
  })

  test('holds one moment of a store that is written to all the while', async () => {
    const store = await open(temporary())
    const pair = (n: number) =>
      store.write(async (db) => {
        for (const name of ['one', 'two']) {
          await db
            .insertInto('flags')
            .values({ name: `${name}-${n}`, value: 'x'.repeat(3000) })
            .execute()
        }
      })
    for (let n = 0; n < 100; n++) await pair(n)
    const writing = Promise.all(Array.from({ length: 100 }, (_, n) => pair(100 + n)))
    const files = await Promise.all([backup(store), backup(store)])
    await writing
    for (const file of files) {
      const database = new DatabaseSync(file, { readOnly: true })
      const names = database.prepare("SELECT name FROM flags WHERE name LIKE '%-%'").all()
      database.close()
      const numbers = (kind: string) =>
        names.flatMap(({ name }) => (String(name).startsWith(kind) ? [String(name).slice(4)] : []))
      expect(numbers('one').toSorted()).toEqual(numbers('two').toSorted())
      expect(numbers('one').length).toBeGreaterThanOrEqual(100)
    }
  })

  test('that is looked into is not changed, and nothing is made beside it', async () => {
    const dataDir = temporary()
    const file = await backup(await open(dataDir, { passphrase }), join(temporary(), 'b'))
    const folder = join(file, '..')
    chmodSync(file, 0o400)
    const before = digests(folder)
    await readBackup(file, request)
    await expect(readBackup(file, { passphrase: 'another' })).rejects.toMatchObject({
      code: 'store-passphrase',
    })
    await expect(readBackup(file, { passphrase: null })).rejects.toMatchObject({
      code: 'store-locked',
    })
    expect(digests(folder)).toEqual(before)
  })

  test.each([
    ['is not there', (file: string) => rmSync(file)],
    ['is a folder', (file: string) => (rmSync(file), mkdirSync(file))],
    ['is empty', (file: string) => truncateSync(file, 0)],
    ['is cut off', (file: string) => truncateSync(file, 8192)],
    ['is something else', (file: string) => writeFileSync(file, 'words '.repeat(2000))],
    [
      'has a page of zeros',
      (file: string) => {
        spawnSync('dd', [
          'if=/dev/zero',
          `of=${file}`,
          'bs=4096',
          'seek=4',
          'count=1',
          'conv=notrunc',
        ])
      },
    ],
  ])('that %s is no sound one', async (_what, damage) => {
    const file = await backup(await open(temporary(), { passphrase }))
    damage(file)
    const error = await readBackup(file, request).catch((thrown: unknown) => thrown)
    expect(error).toMatchObject({ code: 'failed', message: expect.stringContaining(file) })
  })

  test('whose sealed secrets were changed is no sound one, and a later version is said', async () => {
    const store = await open(temporary(), { passphrase })
    await store.secret('replay')
    const changed = await backup(store)
    const newer = await backup(store)
    const alter = (file: string, sql: string) => {
      const database = new DatabaseSync(file)
      database.exec(sql)
      database.close()
    }
    alter(changed, 'UPDATE secrets SET sealed = randomblob(60)')
    alter(newer, 'PRAGMA user_version = 99')
    await expect(readBackup(changed, request)).rejects.toMatchObject({ code: 'failed' })
    await expect(readBackup(newer, request)).rejects.toMatchObject({ code: 'store-newer' })
  })

  test('that nobody took away is gone when the store opens again', async () => {
    const dataDir = temporary()
    const store = await open(dataDir)
    await store.copy()
    await store[Symbol.asyncDispose]()
    await open(dataDir)
    expect(readdirSync(dataDir).filter((name) => name.includes('backup'))).toEqual([])
  })

  test.skipIf(!canMount())('on a full disk is refused and leaves nothing', async () => {
    const mount = mounted('2m')
    const dataDir = join(mount, 'data')
    const store = await open(dataDir)
    await put(store, 'much', 'x'.repeat(900_000))
    spawnSync('dd', ['if=/dev/zero', `of=${join(mount, 'filler')}`, 'bs=4k'], { stdio: 'ignore' })
    await expect(store.copy()).rejects.toMatchObject({ code: 'store-unwritable' })
    expect(readdirSync(dataDir).filter((name) => name.includes('backup'))).toEqual([])
    rmSync(join(mount, 'filler'))
    expect((await flags(store))['much']).toHaveLength(900_000)
  })
})

describe('restoring', () => {
  test('gives a store that opens with all that the old one had, and says that it was restored', async () => {
    const store = await open(temporary(), { passphrase })
    const secret = await store.secret('replay')
    await put(store, 'kept', 'yes')
    const file = await backup(store)
    const dataDir = join(temporary(), 'new')
    restore(file, dataDir)
    expect(readdirSync(dataDir)).toEqual(['postern.db'])
    expect([modeOf(dataDir), modeOf(join(dataDir, 'postern.db'))]).toEqual(['700', '600'])
    const again = await open(dataDir, { passphrase, mode: 'existing' })
    expect(await again.secret('replay')).toEqual(secret)
    expect(await flags(again)).toMatchObject({ kept: 'yes' })
    expect(await restoredFrom(again)).toBe((await readBackup(file, request)).takenAt)
    expect(await restoredFrom(store)).toBeNull()
  })

  test.each<[what: string, fill: (dataDir: string) => Promise<void> | void]>([
    ['a store', (dataDir: string) => made(dataDir)],
    ['the marker of a store', (dataDir: string) => writeFileSync(join(dataDir, 'store.json'), '')],
    ['the log of a store', (dataDir: string) => writeFileSync(join(dataDir, 'postern.db-wal'), '')],
  ])('never goes over %s', async (_what, fill) => {
    const file = await backup(await open(temporary()))
    const dataDir = temporary()
    await fill(dataDir)
    const before = digests(dataDir)
    expect(() => restore(file, dataDir)).toThrow('nothing is restored over it')
    expect(digests(dataDir)).toEqual(before)
  })

  test('never goes over a store that is open', async () => {
    const dataDir = temporary()
    const store = await open(dataDir)
    expect(() => restore('/nowhere', dataDir)).toThrow('nothing is restored over it')
    await put(store, 'still', 'there')
  })

  test('takes no store for a backup while its log lies beside it', async () => {
    const dataDir = temporary()
    await open(dataDir)
    const to = join(temporary(), 'new')
    expect(() => restore(join(dataDir, 'postern.db'), to)).toThrow('it is a store')
    expect(existsSync(to)).toBe(false)
  })

  test('marks a database that was copied by hand as restored, too', async () => {
    const from = temporary()
    await made(from)
    const file = join(temporary(), 'by-hand.db')
    copyFileSync(join(from, 'postern.db'), file)
    const dataDir = temporary()
    restore(file, dataDir)
    expect(await restoredFrom(await open(dataDir))).toMatch(/^\d{4}-/)
  })

  test.skipIf(!canMount())(
    'on a disk that is full leaves nothing that looks like a store',
    async () => {
      const store = await open(temporary())
      await put(store, 'much', 'x'.repeat(900_000))
      const file = await backup(store)
      const dataDir = join(mounted('512k'), 'data')
      expect(() => restore(file, dataDir)).toThrow('cannot be written')
      expect(readdirSync(dataDir)).toEqual([])
    },
  )
})

describe('accepting a restored store', () => {
  const restored = async (): Promise<Store> => {
    const file = await backup(await open(temporary()))
    const dataDir = join(temporary(), 'new')
    restore(file, dataDir)
    return await open(dataDir)
  }

  test('leaves a gap in the memory from the backup to now', async () => {
    const store = await restored()
    const takenAtMs = Date.parse((await restoredFrom(store)) ?? '')
    await acceptRestored(store, { isLatest: false })
    expect(await restoredFrom(store)).toBeNull()
    const [gap, ...more] = await memoryGaps(store)
    expect(more).toEqual([])
    expect(gap?.fromMs).toBe(takenAtMs - 300_000)
    expect(gap?.toMs).toBeGreaterThanOrEqual(takenAtMs)
  })

  test('leaves none when nothing ran after the backup', async () => {
    const store = await restored()
    await acceptRestored(store, { isLatest: true })
    expect([await restoredFrom(store), await memoryGaps(store)]).toEqual([null, []])
  })

  test('of a backup of a restored store counts from the first backup', async () => {
    const store = await restored()
    const first = await restoredFrom(store)
    const dataDir = join(temporary(), 'newer')
    restore(await backup(store), dataDir)
    expect(await restoredFrom(await open(dataDir))).toBe(first)
  })
})
