/** Sealed words that wait for a webhook while the disk of the store is full. */
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { canMount, fill, mounted } from '../store/support.ts'
import { openBot } from './bot.ts'
import { openScene, until } from './support.ts'

describe.skipIf(!canMount())('a full disk (skipped where none can be mounted)', () => {
  test('leaves what a webhook waits for at the service, says `store`, and is over with it', async () => {
    const disk = mounted('3m')
    const scene = await openScene({ time: 'real', dataDir: join(disk, 'data') })
    const bot = await openBot()
    expect((await scene.call('POST', '/webhook', { url: bot.url })).status).toBe(200)
    const words = await scene.write(1)
    await bot.until(1)
    fill(disk)
    words.push(...(await scene.write(2)))
    await until(() => scene.reason('store'))
    const failed = () => scene.lines.filter(({ msg }) => msg === 'updates could not be read').length
    await until(() => failed() > 1)
    expect(bot.words).toEqual(words.slice(0, 1))
    rmSync(join(disk, 'filler'))
    await bot.until(3)
    const verdicts = bot.deliveries.map(({ body }) => JSON.parse(body).message.postern.verdict)
    expect([bot.words, verdicts]).toEqual([words, ['verified', 'verified', 'verified']])
    await until(async () => (await scene.ready()).status === 200)
  })
})
