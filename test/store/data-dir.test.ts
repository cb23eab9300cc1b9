import { spawnSync } from '../support/programs.ts'
import { chmodSync, chownSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { openStore } from '../../src/store/open-store.ts'
import { canMount, made, modeOf, mounted, open, put, temporary, madeFolder } from './support.ts'

const opening = (dataDir: string) => openStore({ dataDir, passphrase: null, mode: 'create' })

/** Runs with a umask that would leave everything open to everybody. */
async function withUmask<T>(umask: number, run: () => Promise<T>): Promise<T> {
  const before = process.umask(umask)
  try {
    return await run()
  } finally {
    process.umask(before)
  }
}

describe('the data directory is the sidecar’s alone', () => {
  test('directory and files are made for us alone, whatever the umask', async () => {
    for (const umask of [0o000, 0o777]) {
      const dataDir = join(temporary(), 'data')
      await withUmask(umask, async () => {
        const store = await open(dataDir)
        await put(store, 'a', 'b')
      })
      expect(modeOf(dataDir)).toBe('700')
      const names = readdirSync(dataDir)
      expect(names).toEqual(
        expect.arrayContaining(['postern.db', 'postern.db-wal', 'store.json', 'owner.json']),
      )
      for (const name of names) expect([name, modeOf(join(dataDir, name))]).toEqual([name, '600'])
    }
  })

  test('a directory and files that others could read are closed to them', async () => {
    const dataDir = await madeFolder()
    chmodSync(join(dataDir, 'postern.db'), 0o644)
    await made(dataDir)
    expect(modeOf(join(dataDir, 'postern.db'))).toBe('600')
    chmodSync(dataDir, 0o777)
    await made(dataDir)
    expect(modeOf(dataDir)).toBe('700')
  })

  test('a directory that others could read is refused where it holds more than the store', async () => {
    const dataDir = await madeFolder()
    writeFileSync(join(dataDir, 'letters.txt'), 'x')
    chmodSync(dataDir, 0o1777)
    await expect(opening(dataDir)).rejects.toMatchObject({ code: 'data-dir', exitCode: 3 })
    expect(modeOf(dataDir)).toBe('777')
  })

  test('a directory of other files is refused, and nothing in it is touched', async () => {
    const dataDir = temporary()
    writeFileSync(join(dataDir, 'letters.txt'), 'x')
    await expect(opening(dataDir)).rejects.toMatchObject({ code: 'data-dir', exitCode: 2 })
    expect(readdirSync(dataDir)).toEqual(['letters.txt'])
  })

  test('a database that is a link or a directory is refused', async () => {
    const linked = await madeFolder()
    const other = temporary()
    symlinkSync(join(linked, 'postern.db'), join(other, 'postern.db'))
    await expect(opening(other)).rejects.toMatchObject({ code: 'data-dir' })
    const third = temporary()
    mkdirSync(join(third, 'postern.db'))
    await expect(opening(third)).rejects.toMatchObject({ code: 'data-dir' })
  })

  test('two creations at the same time leave one store, and one of them is refused', async () => {
    const dataDir = temporary()
    const results = await Promise.allSettled([open(dataDir), open(dataDir)])
    expect(results.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected'])
    const lost = results.find(({ status }) => status === 'rejected')
    expect(lost).toMatchObject({ reason: { code: 'store-in-use' } })
  })
})

describe.skipIf(process.getuid?.() !== 0)('as root (skipped for other users)', () => {
  test('a directory or a database of another user is refused', async () => {
    const dataDir = await madeFolder()
    chownSync(join(dataDir, 'postern.db'), 12345, 12345)
    await expect(opening(dataDir)).rejects.toMatchObject({ code: 'data-dir' })
    chownSync(dataDir, 12345, 12345)
    await expect(opening(dataDir)).rejects.toMatchObject({ code: 'data-dir' })
  })
})

describe.skipIf(!canMount())(
  'on a file system of its own (skipped where none can be mounted)',
  () => {
    test('a read-only directory is refused, and the store opens when it is writable again', async () => {
      const dataDir = join(mounted('4m'), 'data')
      await made(dataDir)
      const remount = (how: 'ro' | 'rw') =>
        spawnSync('mount', ['-o', `remount,${how}`, join(dataDir, '..')])
      remount('ro')
      await expect(opening(dataDir)).rejects.toMatchObject({ code: 'store-unwritable' })
      await expect(opening(join(dataDir, 'new'))).rejects.toMatchObject({
        code: 'store-unwritable',
      })
      remount('rw')
      await made(dataDir)
    })
  },
)
