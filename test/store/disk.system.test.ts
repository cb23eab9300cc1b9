import { spawnSync } from '../support/programs.ts'
import { rmSync } from 'node:fs'
import { statfs } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { freeBytesOf, isDiskDoubtful, LEAST_FREE_BYTES } from '../../src/store/disk.ts'
import { diskOfFile } from './support.ts'

const { disk: folder, isMounted } = diskOfFile(String(2 * LEAST_FREE_BYTES))

test('`isDiskDoubtful` is true for a missing folder', async () => {
  expect(await isDiskDoubtful(join(folder, 'nowhere'))).toBe(true)
  await expect(freeBytesOf(join(folder, 'nowhere'))).rejects.toThrow('ENOENT')
})

test.skipIf(!isMounted)(
  '`isDiskDoubtful` is true while the disk is nearly full or read-only (skipped without a mount)',
  async () => {
    expect(await isDiskDoubtful(folder)).toBe(false)
    const { bavail, bsize } = await statfs(folder)
    expect(await freeBytesOf(folder)).toBe(bavail * bsize)
    const filler = join(folder, 'filler')
    spawnSync('fallocate', ['-l', String(LEAST_FREE_BYTES + bsize), filler])
    expect(await isDiskDoubtful(folder)).toBe(true)
    rmSync(filler)
    expect(await isDiskDoubtful(folder)).toBe(false)
    spawnSync('mount', ['-o', 'remount,ro', folder])
    expect(await isDiskDoubtful(folder)).toBe(true)
  },
)
