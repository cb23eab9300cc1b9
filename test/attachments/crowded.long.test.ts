import { readdirSync, readlinkSync } from 'node:fs'
import { join } from 'node:path'
import { createHash, randomBytes } from 'node:crypto'
import { expect, test } from 'vitest'
import { MEMORY_BOUND } from '../bounds/scene.ts'
import { useStage } from '../support/double-stage.ts'
import { forgetPeak, peakBytes } from '../support/sidecar-process.ts'
import { literal, sealPackets } from '../support/faults-packets.ts'
import { until } from '../support/sidecar.ts'
import { fetched, named, picture, sealedBy } from './support.ts'

const stage = useStage()
const MIB = 2 ** 20
const OPENINGS = 4

async function sent(content: Buffer): Promise<string> {
  const from = await stage.friend()
  const sealed = await sealedBy(from, stage, content)
  return await named(stage, sealed, { chat: stage.privateChat(from), from })
}

/** Lets the service answer for files only when the test says so. */
function holdBack(): { release: () => void } & Disposable {
  const { promise, resolve } = Promise.withResolvers<undefined>()
  const rule = stage.double.script('GET', /^\/media\//, () => promise)
  return {
    release: () => resolve(undefined),
    [Symbol.dispose]: () => {
      resolve(undefined)
      rule[Symbol.dispose]()
    },
  }
}

const underWay = async (): Promise<number> => {
  const metrics = await (await fetch(`${stage.sidecar.adminUrl}/metrics`)).text()
  return Number(/^postern_media_openings (\d+)$/m.exec(metrics)?.[1])
}

test('a fifth file at once is refused with `postern_busy` and Retry-After, and other calls are served', async () => {
  const contents = Array.from({ length: OPENINGS }, () => picture())
  const urls = await Promise.all(contents.map(sent))
  const cached = await sent(picture())
  expect((await fetched(stage, cached)).status).toBe(200)
  const late = await sent(picture())
  using gate = holdBack()
  const waiting = urls.map((url) => fetched(stage, url))
  await until(async () => (await underWay()) === OPENINGS, 'four are under way')
  const refused = await fetched(stage, late)
  expect({ status: refused.status, code: refused.code }).toEqual({
    status: 503,
    code: 'postern_busy',
  })
  expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
  expect((await fetched(stage, cached)).status, 'what is cached').toBe(200)
  const again = fetched(stage, urls[0] ?? '')
  expect((await stage.sidecar.call('GET', '/me')).status).toBe(200)
  gate.release()
  const bodies = (await Promise.all(waiting)).map(({ body }) => body)
  expect(bodies).toEqual(contents)
  expect((await again).body).toEqual(contents[0])
  expect((await fetched(stage, late)).status).toBe(200)
})

test('a caller who stops waiting for a file ends no other caller’s download, and the file is cached', async () => {
  const content = picture()
  const url = await sent(content)
  const mark = stage.double.mark()
  {
    using gate = holdBack()
    const leaving = new AbortController()
    const left = fetched(stage, url, { signal: leaving.signal }).catch(() => 'left')
    const staying = fetched(stage, url)
    await until(async () => (await underWay()) === 1, 'it is under way')
    leaving.abort()
    expect(await left).toBe('left')
    gate.release()
    expect((await staying).body).toEqual(content)
  }
  expect((await fetched(stage, url)).body).toEqual(content)
  expect(stage.double.calls('GET', /^\/media\//, mark)).toHaveLength(1)
})

test('a caller who stops reading a file releases its place for the next download', async () => {
  const url = await sent(randomBytes(20 * MIB))
  const leaving = new AbortController()
  const response = await fetch(`${stage.sidecar.url}${url}`, { signal: leaving.signal })
  await response.body?.getReader().read()
  leaving.abort()
  expect((await fetched(stage, url)).body).toHaveLength(20 * MIB)
})

test(
  'four files of 64 MiB at once stay within a bound of memory',
  { timeout: 240_000 },
  async () => {
    const content = randomBytes(64 * MIB)
    const expected = createHash('sha256').update(content).digest('hex')
    const { pid } = stage.sidecar
    const from = await stage.person()
    const chat = stage.privateChat(from)
    const fetchedAtOnce = async (count: number): Promise<void> => {
      const urls: string[] = []
      for (let index = 0; index < count; index++) {
        const parts = await sealPackets(literal(content), [stage.botCertificate])
        const sealed = Buffer.concat([parts.recipients, parts.container])
        urls.push(await named(stage, sealed, { chat, from }))
      }
      const digests = urls.map(async (url) => {
        const response = await fetch(`${stage.sidecar.url}${url}`)
        const hash = createHash('sha256')
        for await (const piece of response.body ?? []) hash.update(piece as Uint8Array)
        return hash.digest('hex')
      })
      expect(await Promise.all(digests)).toEqual(urls.map(() => expected))
      stage.double.world.files.clear()
    }
    await fetchedAtOnce(1)
    const before = peakBytes(pid)
    forgetPeak(pid)
    await fetchedAtOnce(OPENINGS)
    const peak = peakBytes(pid)
    expect(peak - before).toBeLessThan(192 * MIB)
    expect(peak).toBeLessThan(MEMORY_BOUND)
  },
)

test('a sidecar stopped or killed during a download leaves no file in its spool', async () => {
  const folder = join(stage.sidecar.dataDir, 'spool')
  for (const end of ['stop', 'kill'] as const) {
    const url = await sent(randomBytes(5 * MIB))
    expect((await fetched(stage, url)).status).toBe(200)
    const other = await sent(picture())
    using _gate = holdBack()
    const cut = fetched(stage, other).catch(() => 'cut')
    await until(async () => (await underWay()) === 1, 'it is under way')
    const inside = readdirSync(`/proc/${stage.sidecar.pid}/fd`).filter((fd) => {
      return readlinkSync(`/proc/${stage.sidecar.pid}/fd/${fd}`).startsWith(folder)
    })
    expect(inside.length).toBeGreaterThan(0)
    await stage.sidecar[end]()
    await cut
    expect(readdirSync(folder)).toEqual([])
    await stage.restart()
  }
})
