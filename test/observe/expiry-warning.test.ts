import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { ExpiryWarnings, type ResourceLevels } from '../../src/observe/expiry-warning.ts'
import { createWarnings } from '../../src/observe/warnings.ts'
import { watchedLog } from '../support/watched-log.ts'

const DAY_MS = 86_400_000
const NOW_MS = Date.parse('2026-01-01T00:00:00Z')

beforeEach(() => void vi.useFakeTimers({ now: NOW_MS, toFake: ['Date'] }))
afterEach(() => void vi.useRealTimers())

const CALM: ResourceLevels = {
  keyEndsMs: Infinity,
  authorityEndsMs: Infinity,
  neededKeyEndsMs: Infinity,
  diskFreeBytes: 10 * 2 ** 30,
  memoryUsed: 0.2,
}

function looking() {
  const warnings = createWarnings()
  const alerted: string[] = []
  const lines: unknown[] = []
  const expiryWarnings = new ExpiryWarnings({
    warnings,
    alerts: { raise: ({ alert, holds }) => alerted.push(`${alert} ${holds ? 'holds' : 'over'}`) },
    log: watchedLog(({ msg }) => lines.push(msg)),
  })
  const look = (more: Partial<ResourceLevels>): string[] => {
    expiryWarnings.look({ ...CALM, ...more })
    return warnings.all().map(({ code }) => code)
  }
  return { look, warnings, alerted, lines }
}

test('nothing is said while nothing runs out', () => {
  const { look, alerted, lines } = looking()
  expect([look({}), look({ diskFreeBytes: null }), alerted, lines]).toEqual([[], [], [], []])
})

test.each([
  ['key-ending', 'keyEndsMs'],
  ['authority-ending', 'authorityEndsMs'],
  ['needed-key-ending', 'neededKeyEndsMs'],
] as const)('%s is said 30, 7 and 1 days before, once each', (code, name) => {
  const { look, warnings, alerted, lines } = looking()
  const endsMs = NOW_MS + 31 * DAY_MS
  const saidOnDay: number[] = []
  for (let day = 0; day <= 32; day++) {
    vi.setSystemTime(NOW_MS + day * DAY_MS)
    const before = alerted.length
    for (let n = 0; n < 3; n++) look({ [name]: endsMs })
    if (alerted.length > before) saidOnDay.push(31 - day)
    expect(warnings.holds(code)).toBe(day >= 1)
  }
  expect(saidOnDay).toEqual([30, 7, 1])
  expect(warnings.all()[0]?.message).toContain('on 2026-02-01T00:00:00.000Z')
  expect(look({})).toEqual([])
  expect(alerted.at(-1)).toBe(`${code} over`)
  expect(lines.length).toBe(4)
})

test('a disk that cannot be asked any more is not said to have room', () => {
  const { look, warnings, alerted } = looking()
  look({ diskFreeBytes: 100 * 2 ** 20 })
  expect(look({ diskFreeBytes: null })).toEqual(['disk-filling'])
  expect(warnings.all()[0]?.message).toContain('100 MiB are free')
  expect(alerted).toEqual(['disk-filling holds'])
})

test('disk and memory are said once, and are over only when there is clearly room', () => {
  const { look, alerted } = looking()
  expect(look({ diskFreeBytes: 255 * 2 ** 20, memoryUsed: 0.91 })).toEqual([
    'disk-filling',
    'memory-filling',
  ])
  look({ diskFreeBytes: 300 * 2 ** 20, memoryUsed: 0.87 })
  expect(alerted).toEqual(['disk-filling holds', 'memory-filling holds'])
  expect(look({ diskFreeBytes: 330 * 2 ** 20, memoryUsed: 0.84 })).toEqual([])
  expect(alerted.slice(2)).toEqual(['disk-filling over', 'memory-filling over'])
})
