import { randomBytes } from 'node:crypto'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { useStage } from '../support/double-stage.ts'
import { fetched, named, outcomeOf, picture, sealedBy } from './support.ts'
import { diskOfFile, fill } from '../store/support.ts'

const MIB = 2 ** 20
const { disk, isMounted } = diskOfFile('8m')

describe.skipIf(!isMounted)('a disk that is full (skipped where none can be mounted)', () => {
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
      expect(await outcomeOf(stage, large)).toBe('503 postern_store_unwritable')
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
    fill(disk)
    expect(await outcomeOf(stage, url)).toBe('503 postern_store_unwritable')
    expect((await stage.sidecar.call('GET', '/me')).status).toBe(200)
    rmSync(join(disk, 'filler'))
    expect((await fetched(stage, url)).body).toEqual(content)
    const named2 = await named(stage, await sealedBy(from, stage, content), { chat, from })
    expect(named2).toMatch(/^\/media\/file-\d+\?chat=/)
    expect((await fetched(stage, named2)).body).toEqual(content)
  })
})
