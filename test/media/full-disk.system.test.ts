import { spawnSync } from '../support/programs.ts'
import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { useStage } from '../support/double-stage.ts'
import { fetched, named, picture, sealedBy } from './support.ts'
import { has } from '../support/lacks.ts'

const MIB = 2 ** 20
const disk = mkdtempSync(join(tmpdir(), 'sm-'))
const mounted = has(
  spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=8m', 'none', disk]).status === 0,
  'no file system can be mounted here, which takes root',
)
const filler = join(disk, 'filler')

afterAll(() => {
  if (mounted) spawnSync('umount', ['-l', disk])
  rmSync(disk, { recursive: true, force: true })
})

/** Takes all that is left of the small disk. */
function fill(): void {
  for (let size = MIB; size >= 1; size >>= 1) {
    try {
      for (;;) writeFileSync(filler, Buffer.alloc(size), { flag: 'a' })
    } catch {
      continue
    }
  }
}

describe.skipIf(!mounted)('a disk that is full (skipped where none can be mounted)', () => {
  const stage = useStage({ dataDir: join(disk, 'data') })

  test('a file that does not fit on the disk is refused, and a smaller one is served', async () => {
    const from = await stage.friend()
    const chat = stage.privateChat(from)
    const small = picture()
    for (const [place, content] of [
      [stage.openGroup(), randomBytes(20 * MIB)],
      [chat, await sealedBy(from, stage, randomBytes(20 * MIB))],
    ] as const) {
      const large = await named(stage, content, { chat: place, from })
      const { status, code } = await fetched(stage, large)
      expect({ status, code }).toEqual({ status: 503, code: 'postern_store_unwritable' })
      const url = await named(stage, await sealedBy(from, stage, small), { chat, from })
      expect((await fetched(stage, url)).body).toEqual(small)
      await stage.sidecar.whenReady()
    }
  })

  test('a full disk refuses files and no other calls, and files are served again once there is room', async () => {
    const from = await stage.friend()
    const chat = stage.privateChat(from)
    const content = picture()
    const url = await named(stage, await sealedBy(from, stage, content), { chat, from })
    fill()
    const { status, code } = await fetched(stage, url)
    expect({ status, code }).toEqual({ status: 503, code: 'postern_store_unwritable' })
    expect((await stage.sidecar.call('GET', '/me')).status).toBe(200)
    rmSync(filler)
    expect((await fetched(stage, url)).body).toEqual(content)
    const named2 = await named(stage, await sealedBy(from, stage, content), { chat, from })
    expect(named2).toMatch(/^\/media\/file-\d+\?chat=/)
    expect((await fetched(stage, named2)).body).toEqual(content)
  })
})
