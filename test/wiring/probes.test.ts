/** The probes of a sidecar that runs, over parts that are played. */
import * as os from 'node:os'
import { rmSync } from 'node:fs'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { SecretSource } from '../../src/config/secrets.ts'
import { settingsFrom } from '../../src/config/settings.ts'
import type { ResourceLevels } from '../../src/observe/expiry-warning.ts'
import { createWarnings } from '../../src/observe/warnings.ts'
import type { Core } from '../../src/wiring/core.ts'
import type { BotOptions, Link } from '../../src/wiring/link.ts'
import {
  createProbes,
  createResourceReader,
  NEEDED_MS,
  readMachine,
} from '../../src/wiring/probes.ts'
import { useFakeTime } from '../support/fake-time.ts'
import { temporary } from '../store/support.ts'
import { PlayedParts } from './played-parts.ts'

const DAY_MS = 86_400_000
const NOW_MS = Date.parse('2026-06-01T00:00:00Z')

useFakeTime({ now: NOW_MS, toFake: ['Date'] })
afterEach(() => void vi.restoreAllMocks())

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
  const levels = () => shown.get('postern_ends_in_seconds')?.()
  const look = async () => {
    await probes.lookLocally()
    return parts.calls().map((call) => call.split(' ')[0])
  }
  return { probes, parts, shown, shared, warnings, dataDir, levels, look }
}

describe('the probes', () => {
  test('ask the service, the store and the token', async () => {
    const { probes, parts } = scene()
    parts.results.set('botToken.reload', () => Promise.resolve(true))
    await probes.askService()
    await probes.reachStore()
    await probes.tryStore()
    expect(await probes.reloadToken()).toBe(true)
    const calls = parts.calls().map((call) => call.trim())
    expect(calls).toEqual(['calls.probe', 'store.keepUp', 'store.write', 'botToken.reload'])
  })

  test('wait for a write to the store', async () => {
    const { probes, parts } = scene()
    parts.results.set('store.write', () => Promise.reject(new Error('full')))
    await expect(probes.tryStore()).rejects.toThrow('full')
  })

  test('compare the clock with the bot’s key', () => {
    const { probes, parts } = scene()
    probes.lookAtClock()
    expect(parts.calls()).toEqual(['watch.clockIsBehind true', 'publication.lookAtClock'])
    const keyless = scene({ hasPublication: false })
    keyless.probes.lookAtClock()
    expect(keyless.parts.calls()).toEqual(['watch.clockIsBehind true'])
  })

  test('know when the key ends', () => {
    const left = (endsMs: number | null) => scene({ endsMs }).probes.untilNextEndMs()
    const after = [5000, 1, 0, -1].map((ms) => left(NOW_MS + ms))
    expect([...after, left(null)]).toEqual([5000, 1, Infinity, Infinity, Infinity])
  })

  test('count sidecars, and show what ends or runs out', async () => {
    const { look, shared, levels, warnings, shown, parts } = scene({ endsMs: NOW_MS + DAY_MS })
    expect([levels(), shown.get('postern_memory_used_ratio')?.()]).toEqual([[], null])
    expect(await look()).toContain('store.countSidecars')
    expect([shared, levels()]).toEqual([[3], [[{ what: 'key' }, 86_400]]])
    expect(shown.get('postern_memory_used_ratio')?.()).toBeGreaterThan(0)
    expect(warnings.holds('key-ending')).toBe(true)
    parts.results.set('store.countSidecars', () => Promise.reject(new Error('out of reach')))
    await look()
    expect(shared).toEqual([3])
  })

  test('leave to the process what several bots share', async () => {
    const { look, shown } = scene({ name: 'x' })
    await look()
    expect(shown.get('postern_memory_used_ratio')?.()).toBeNull()
    expect(shown.get('postern_disk_free_bytes')?.()).toBeNull()
  })

  test('try to write where the disk of the store is doubtful', async () => {
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

describe('the levels', () => {
  const needed = (lastAtMs: number | null) => {
    const key = { state: 'retired', fingerprint: 'a' }
    const core = {
      keyring: { all: [key], active: undefined, opensUntilMs: () => 7 },
      keyUsage: { of: () => ({ lastAtMs }) },
    }
    const settings = settingsFrom({ upstream: { url: 'http://x' }, dataDir: temporary() })
    return createResourceReader(settings, core as unknown as Core)()
  }

  test('name an old key by its last use of three days', async () => {
    expect(NEEDED_MS).toBe(3 * DAY_MS)
    const ends = [NEEDED_MS - 1, NEEDED_MS].map((ms) => needed(NOW_MS - ms))
    expect((await Promise.all(ends)).map((one) => one.neededKeyEndsMs)).toEqual([7, Infinity])
  })

  test('are of the machine and the process', async () => {
    const levels = async (limit: number, rss: number): Promise<Partial<ResourceLevels>> => {
      vi.spyOn(process, 'constrainedMemory').mockReturnValue(limit)
      vi.spyOn(process.memoryUsage, 'rss').mockReturnValue(rss)
      return await readMachine(temporary())
    }
    const whole = os.totalmem()
    for (const limit of [0, whole * 2]) {
      expect((await levels(limit, whole * 0.75)).memoryUsed).toBeCloseTo(0.75)
    }
    expect((await levels(2e6, 1.5e6)).memoryUsed).toBeCloseTo(0.75)
    const { memoryUsed } = await levels(0, 0)
    expect(memoryUsed).toBeGreaterThan(0)
    expect(memoryUsed).toBeLessThan(0.75)
    expect((await readMachine('/no/such/folder')).diskFreeBytes).toBeNull()
  })
})
