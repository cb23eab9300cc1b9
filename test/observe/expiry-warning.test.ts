import { expect, test, vi } from 'vitest'
import type { Alerts } from '../../src/observe/alerts.ts'
import { expiryWarnings, type ResourceLevels } from '../../src/observe/expiry-warning.ts'
import { createWarnings } from '../../src/observe/warnings.ts'
import { useFakeTime } from '../support/fake-time.ts'
import { watchedLog } from '../support/watched-log.ts'

const DAY_MS = 86_400_000
const NOW_MS = Date.parse('2026-01-01T00:00:00Z')

useFakeTime({ now: NOW_MS, toFake: ['Date'] })

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
  const raise: Alerts['raise'] = ({ alert, holds }) =>
    void alerted.push(`${alert} ${holds ? 'holds' : 'over'}`)
  const log = watchedLog(({ msg }) => lines.push(msg))
  const warn = expiryWarnings(warnings, { raise }, log)
  const look = (more: Partial<ResourceLevels>): string[] => {
    warn({ ...CALM, ...more })
    return warnings.all().map(({ code }) => code)
  }
  return { look, warnings, alerted, lines }
}

test('resources far from their limits raise no warning, alert or log line', () => {
  const { look, alerted, lines } = looking()
  expect([look({}), look({ diskFreeBytes: null }), alerted, lines]).toEqual([[], [], [], []])
})

test.each([
  ['key-ending', 'keyEndsMs'],
  ['authority-ending', 'authorityEndsMs'],
  ['needed-key-ending', 'neededKeyEndsMs'],
] as const)('the warning %s is alerted once at 30, 7 and 1 days before the end', (code, name) => {
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

test('the warning `disk-filling` remains while the free space is unknown', () => {
  const { look, warnings, alerted } = looking()
  look({ diskFreeBytes: 100 * 2 ** 20 })
  expect(look({ diskFreeBytes: null })).toEqual(['disk-filling'])
  expect(warnings.all()[0]?.message).toContain('100 MiB are free')
  expect(alerted).toEqual(['disk-filling holds'])
})

test('warnings of disk and memory are alerted once, and end well below their thresholds', () => {
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
