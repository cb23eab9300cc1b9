/** The probes of a sidecar over played parts, and the levels of its resources. */
import { X509Certificate } from 'node:crypto'
import { rmSync, writeFileSync } from 'node:fs'
import * as os from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { SecretSource } from '../../src/config/secrets.ts'
import { settingsFrom } from '../../src/config/settings.ts'
import type { OwnKeyRecord } from '../../src/kernel/own-key/own-key.ts'
import { createWarnings } from '../../src/observe/warnings.ts'
import type { Core } from '../../src/wiring/core.ts'
import type { BotOptions, Link } from '../../src/wiring/link.ts'
import {
  createProbes,
  createResourceReader,
  firstEndMs,
  NEEDED_MS,
  pruneHourly,
  readMachine,
  tryWriting,
} from '../../src/wiring/probes.ts'
import { useFakeTime } from '../support/fake-time.ts'
import { flags, open, temporary } from '../store/support.ts'
import { Authority } from '../service/certificates.ts'
import { PlayedParts } from './played-parts.ts'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
const NOW_MS = Date.parse('2026-06-01T00:00:00Z')

useFakeTime({ now: NOW_MS, toFake: ['Date', 'setInterval', 'clearInterval'] })
afterEach(() => void vi.restoreAllMocks())

describe('the probes', () => {
  interface Scene {
    endsMs?: number | null
    hasPublication?: boolean
    isShared?: boolean
    isHandedIn?: boolean
    name?: string
  }

  function scene(o: Scene = {}) {
    const { endsMs = NOW_MS + 5000, hasPublication = true, isShared = false } = o
    const parts = new PlayedParts()
    const shown = new Map<string, () => unknown>()
    const show = (name: string, read: () => unknown) => void shown.set(name, read)
    const warnings = createWarnings()
    const dataDir = temporary()
    const shared: number[] = []
    const link: Link = parts.part('link', {
      calls: parts.part('calls'),
      metrics: { show, showValue: show },
      watch: parts.part('watch'),
      warnings,
      alerts: parts.part('alerts'),
      shareCalls: (count: number) => void shared.push(count),
    })
    parts.results.set('store.countSidecars', () => Promise.resolve(3))
    const store = parts.part('store', { isShared })
    const core: Core = parts.part('core', {
      store,
      keyring: {
        active: endsMs === null ? undefined : { endsMs },
        all: [],
        clocks: { isBehind: () => true },
      },
      publication: hasPublication ? parts.part('publication') : null,
    })
    const options: BotOptions = {
      settings: settingsFrom({ upstream: { url: 'http://127.0.0.1:9' }, dataDir }),
      secrets: {
        botToken: parts.part('botToken'),
        clientToken: null,
        passphrase: SecretSource.fromValue('x'),
      },
      log: parts.part('log'),
      ...(o.name !== undefined && { name: o.name }),
      ...(o.isHandedIn && { parts: { store } }),
    }
    const probes = createProbes(options, link, core)
    const read = (name: string) => shown.get(`postern_${name}`)?.()
    const look = async () => {
      await probes.lookLocally()
      return parts.calls().map((call) => call.split(' ')[0])
    }
    return { probes, parts, read, shared, warnings, dataDir, look }
  }

  test('the clock probe informs `ServiceWatch`, and the publication of a bot with a key', () => {
    const { probes, parts } = scene()
    probes.lookAtClock()
    expect(parts.calls()).toEqual(['watch.clockIsBehind true', 'publication.lookAtClock'])
    const keyless = scene({ hasPublication: false })
    keyless.probes.lookAtClock()
    expect(keyless.parts.calls()).toEqual(['watch.clockIsBehind true'])
  })

  test('`untilNextEndMs` is the time until the active key ends, and Infinity without such an end', () => {
    const left = (endsMs: number | null) => scene({ endsMs }).probes.untilNextEndMs()
    const after = [5000, 1, 0, -1].map((ms) => left(NOW_MS + ms))
    expect([...after, left(null)]).toEqual([5000, 1, Infinity, Infinity, Infinity])
  })

  test('the local probe counts sidecars, and warns of a key that ends', async () => {
    const { look, shared, read, warnings, parts } = scene({ endsMs: NOW_MS + DAY_MS })
    expect([read('ends_in_seconds'), read('memory_used_ratio')]).toEqual([[], null])
    await look()
    expect([shared, read('ends_in_seconds')]).toEqual([[3], [[{ what: 'key' }, 86_400]]])
    expect(read('memory_used_ratio')).toBeGreaterThan(0)
    expect(warnings.holds('key-ending')).toBe(true)
    parts.results.set('store.countSidecars', () => Promise.reject(new Error('out of reach')))
    await look()
    expect(shared).toEqual([3])
  })

  test('the probes of one of several bots leave disk and memory to the process', async () => {
    const { look, read } = scene({ name: 'x' })
    await look()
    expect([read('memory_used_ratio'), read('disk_free_bytes')]).toEqual([null, null])
  })

  test('the local probe writes to the store only where its own disk is doubtful', async () => {
    const own = scene()
    expect(await own.look()).not.toContain('store.write')
    const others = [scene({ isShared: true }), scene({ isHandedIn: true })]
    for (const { dataDir } of [own, ...others]) rmSync(dataDir, { recursive: true })
    expect(await own.look()).toContain('store.write')
    own.parts.results.set('store.write', () => Promise.reject(new Error('full')))
    expect(await own.look()).toContain('store.write')
    for (const other of others) expect(await other.look()).not.toContain('store.write')
  })
})

describe('the levels of resources', () => {
  type Key = Partial<OwnKeyRecord> & { lastAtMs: number | null }
  const UNTIL_MS = NOW_MS + 5 * DAY_MS

  /** The levels over such keys, which open until `UNTIL_MS`. */
  async function levelsOf(keys: Key[], upstream: { caFile?: string } = {}) {
    const all = keys.map((key, index) => ({ ...key, fingerprint: String(index) }))
    const core = {
      keyring: { all, active: undefined, opensUntilMs: () => UNTIL_MS },
      keyUsage: {
        of: (fingerprint: string) => ({ lastAtMs: keys[Number(fingerprint)]?.lastAtMs }),
      },
    } as unknown as Core
    const settings = { upstream: { url: 'https://api.example', ...upstream }, dataDir: temporary() }
    return await createResourceReader(settingsFrom(settings), core)()
  }

  test.each<[string, Partial<OwnKeyRecord>, number | null, boolean]>([
    ['retired key that opened something just within three days', {}, NEEDED_MS - 1, true],
    ['retired key that opened nothing for three days', {}, NEEDED_MS, false],
    ['retired key that never opened anything', {}, null, false],
    ['active key', { state: 'active' }, 1, false],
    ['destroyed key', { state: 'destroyed' }, 1, false],
    ['key used since its retirement', { retiredAtMs: NOW_MS - 3 }, 2, true],
    ['key unused since its retirement', { retiredAtMs: NOW_MS - 2 }, 2, false],
  ])('the end of a %s is reported only while phones still seal to the key', async (...row) => {
    const [, more, agoMs, isNeeded] = row
    const lastAtMs = agoMs === null ? null : NOW_MS - agoMs
    const { neededKeyEndsMs } = await levelsOf([{ state: 'retired', ...more, lastAtMs }])
    expect(neededKeyEndsMs).toBe(isNeeded ? UNTIL_MS : Infinity)
    expect(NEEDED_MS).toBe(3 * DAY_MS)
  })

  test('the used memory is a share of the machine, or of a smaller limit', async () => {
    const used = async (limit: number, rss: number) => {
      vi.spyOn(process, 'constrainedMemory').mockReturnValue(limit)
      vi.spyOn(process.memoryUsage, 'rss').mockReturnValue(rss)
      return (await readMachine(temporary())).memoryUsed
    }
    const whole = os.totalmem()
    for (const limit of [0, whole * 2]) expect(await used(limit, whole * 0.75)).toBeCloseTo(0.75)
    expect(await used(2e6, 1.5e6)).toBeCloseTo(0.75)
    const heapAlone = await used(0, 0)
    expect(heapAlone).toBeGreaterThan(0)
    expect(heapAlone).toBeLessThan(0.75)
    expect((await readMachine('/no/such/folder')).diskFreeBytes).toBeNull()
    expect((await readMachine(temporary())).diskFreeBytes).toBeGreaterThan(0)
  })

  test('an authority ends with its successor of the same name in the file', () => {
    const issue = (to: string) => new Authority().issue('IP:127.0.0.1', ['20200101', to]).cert
    const [old, next] = [issue('20300101'), issue('20400101')]
    for (const pem of [old + next, next + old]) {
      expect(firstEndMs(pem)).toBe(Date.parse('2040-01-01T00:00:00Z'))
    }
  })

  test('the first end of several authorities in `upstream.caFile` counts', async () => {
    const later = new Authority().issue('IP:127.0.0.1', ['20200101', '20400101']).cert
    const sooner = new Authority('20300101').cert
    const endMs = Date.parse(new X509Certificate(sooner).validTo)
    expect(firstEndMs('none')).toBe(Infinity)
    const caFile = join(temporary(), 'ca.pem')
    writeFileSync(caFile, `a note\n${later}\n${sooner}`)
    expect((await levelsOf([], { caFile })).authorityEndsMs).toBe(endMs)
    const { keyEndsMs, authorityEndsMs } = await levelsOf([])
    expect([keyEndsMs, authorityEndsMs]).toEqual([Infinity, Infinity])
  })
})

test('`pruneHourly` prunes the replay memory each hour, after a failure too, until its disposal', async () => {
  const prune = vi.fn((_keysSinceMs: number | null) => Promise.reject(new Error('full')))
  const upkeep = pruneHourly({ prune }, () => 7)
  await vi.advanceTimersByTimeAsync(3 * HOUR_MS)
  expect(prune.mock.calls).toEqual([[7], [7], [7]])
  upkeep[Symbol.dispose]()
  await vi.advanceTimersByTimeAsync(3 * HOUR_MS)
  expect(prune).toHaveBeenCalledTimes(3)
})

test('each call of `tryWriting` writes a different value', async () => {
  const store = await open(temporary())
  const written: unknown[] = []
  for (let n = 0; n < 3; n++) {
    await tryWriting(store)
    written.push((await flags(store))['tried_writing_at'])
    vi.advanceTimersByTime(1000)
  }
  expect(new Set(written).size).toBe(3)
})
