import { rmSync } from 'node:fs'
import { spawnSync } from '../support/programs.ts'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { openStore } from '../../src/store/open-store.ts'
import { canMount, digests, execute, made, mounted, zeroPages } from './support.ts'

const refusal = (dataDir: string, passphrase: string | null = 'a passphrase') =>
  openStore({ dataDir, passphrase, mode: 'existing' }).then(
    () => expect.unreachable('it opened'),
    (error: unknown) => error as { code: string; message: string; hint: string },
  )

/** A store on a file system of its own, which is made read-only. */
async function frozen(change: (file: string) => unknown = () => {}): Promise<string> {
  const mount = mounted('8m')
  const dataDir = join(mount, 'data')
  await made(dataDir, 'a passphrase')
  change(join(dataDir, 'postern.db'))
  spawnSync('mount', ['-o', 'remount,ro', mount])
  return dataDir
}

describe.skipIf(!canMount())('a read-only disk (skipped where none can be mounted)', () => {
  test('a store on a read-only disk is refused as `store-unwritable`', async () => {
    const error = await refusal(await frozen())
    expect(error.code).toBe('store-unwritable')
    expect(error.hint).toContain('mount it writable')
  })

  test.each([
    ['a wrong passphrase', 'store-passphrase', 'wrong', () => {}],
    ['no passphrase', 'store-locked', null, () => {}],
    [
      'a later version',
      'store-newer',
      'a passphrase',
      (file: string) => execute(file, 'PRAGMA user_version = 99; PRAGMA wal_checkpoint(TRUNCATE)'),
    ],
    ['a damaged page', 'store-corrupt', 'a passphrase', (file: string) => zeroPages(file, 3)],
    ['no database file', 'store-missing', 'a passphrase', (file: string) => rmSync(file)],
  ] as const)(
    'a store on a read-only disk with %s is refused as %s',
    async (_what, code, passphrase, change) => {
      const dataDir = await frozen(change)
      const before = digests(dataDir)
      expect((await refusal(dataDir, passphrase)).code).toBe(code)
      expect(digests(dataDir)).toEqual(before)
    },
  )
})
