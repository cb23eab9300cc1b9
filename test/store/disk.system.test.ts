import { spawnSync } from '../support/programs.ts'
import { mkdtempSync, rmSync } from 'node:fs'
import { statfs } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { freeBytesOf, isDiskDoubtful, LEAST_FREE_BYTES } from '../../src/store/disk.ts'
import { has } from '../support/lacks.ts'

const folder = mkdtempSync(join(tmpdir(), 'disk-'))
const options = `size=${2 * LEAST_FREE_BYTES}`
const mounted = has(
  spawnSync('mount', ['-t', 'tmpfs', '-o', options, 'none', folder]).status === 0,
  'no file system can be mounted here, which takes root',
)

afterAll(() => {
  if (mounted) spawnSync('umount', ['-l', folder])
  rmSync(folder, { recursive: true, force: true })
})

test('`isDiskDoubtful` is true for a missing folder', async () => {
  expect(await isDiskDoubtful(join(folder, 'nowhere'))).toBe(true)
  await expect(freeBytesOf(join(folder, 'nowhere'))).rejects.toThrow('ENOENT')
})

test.skipIf(!mounted)(
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
