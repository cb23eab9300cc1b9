import { X509Certificate } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished, expect, test, vi } from 'vitest'
import { settingsFrom } from '../../src/config/settings.ts'
import type { OwnKeyRecord } from '../../src/kernel/own-key/own-key.ts'
import type { Core } from '../../src/wiring/core.ts'
import { createResourceReader, firstEndMs } from '../../src/wiring/probes.ts'
import { Authority } from '../upstream/certificates.ts'

const DAY_MS = 86_400_000
const NOW_MS = Date.parse('2026-06-01T00:00:00Z')

/** Keys by state, each with when it opened something last and until when it opens. */
interface Key {
  state: OwnKeyRecord['state']
  lastAtMs: number | null
  untilMs: number
  retiredAtMs?: number
}

/** The levels over such keys; `active` ends then. */
async function levelsOf(keys: Key[], { caFile }: { caFile?: string } = {}) {
  vi.useFakeTimers({ now: NOW_MS, toFake: ['Date'] })
  onTestFinished(() => void vi.useRealTimers())
  const all = keys.map((key, index) => ({ ...key, fingerprint: String(index) }))
  const named = (fingerprint: string) => all.find((key) => key.fingerprint === fingerprint)
  const core = {
    keyring: {
      all,
      active: undefined,
      opensUntilMs: ({ fingerprint }: OwnKeyRecord) => named(fingerprint)?.untilMs ?? 0,
    },
    keyUsage: { of: (fingerprint: string) => ({ lastAtMs: named(fingerprint)?.lastAtMs ?? null }) },
  } as unknown as Core
  const upstream = { url: 'https://api.example.org', ...(caFile !== undefined && { caFile }) }
  return await createResourceReader(settingsFrom({ upstream, dataDir: tmpdir() }), core)()
}

test('an old key is needed while it opened something in the last three days, and not longer', async () => {
  const untilMs = NOW_MS + 5 * DAY_MS
  const used = { state: 'retired', lastAtMs: NOW_MS - 2 * DAY_MS, untilMs } as const
  expect((await levelsOf([used])).neededKeyEndsMs).toBe(untilMs)
  const idle: Key[] = [
    { ...used, lastAtMs: NOW_MS - 4 * DAY_MS },
    { ...used, lastAtMs: null },
    { ...used, state: 'active' },
    { ...used, state: 'destroyed' },
  ]
  expect((await levelsOf(idle)).neededKeyEndsMs).toBe(Infinity)
})

test.each([
  ['just now', 0, Infinity],
  ['at its last use', 2, Infinity],
  ['before its last use', 3, NOW_MS + 5 * DAY_MS],
])('an old key that was replaced %s', async (_when, days, endsMs) => {
  const times = { lastAtMs: NOW_MS - 2 * DAY_MS, retiredAtMs: NOW_MS - days * DAY_MS }
  const key = { state: 'retired', untilMs: NOW_MS + 5 * DAY_MS, ...times } as const
  expect((await levelsOf([key])).neededKeyEndsMs).toBe(endsMs)
})

test('without dates nothing ends, and disk and memory are known', async () => {
  const levels = await levelsOf([])
  expect(levels).toMatchObject({ keyEndsMs: Infinity, authorityEndsMs: Infinity })
  expect(levels.diskFreeBytes).toBeGreaterThan(0)
  expect(levels.memoryUsed).toBeGreaterThan(0)
  expect(levels.memoryUsed).toBeLessThan(1)
})

test('an authority that is there with its successor ends with that', () => {
  const issue = (to: string) => new Authority().issue('IP:127.0.0.1', ['20200101', to]).cert
  const [old, next] = [issue('20300101'), issue('20400101')]
  for (const pem of [old + next, next + old]) {
    expect(firstEndMs(pem)).toBe(Date.parse('2040-01-01T00:00:00Z'))
  }
})

test('of several authorities in a file, the first end counts', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'levels-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const later = new Authority().issue('IP:127.0.0.1', ['20200101', '20400101']).cert
  const sooner = new Authority().cert
  const endMs = Date.parse(new X509Certificate(sooner).validTo)
  expect(firstEndMs(`a note\n${later}\n${sooner}`)).toBe(endMs)
  expect(firstEndMs('none')).toBe(Infinity)
  const caFile = join(folder, 'ca.pem')
  writeFileSync(caFile, later + sooner)
  expect((await levelsOf([], { caFile })).authorityEndsMs).toBe(endMs)
})
