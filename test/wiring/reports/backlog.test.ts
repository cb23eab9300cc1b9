import { expect, test } from 'vitest'
import { Health } from '../../../src/observe/health.ts'
import { createWarnings } from '../../../src/observe/warnings.ts'
import type { BacklogLevel } from '../../../src/updates/backlog.ts'
import { reportBacklog } from '../../../src/wiring/reports/events.ts'
import { watchedLog } from '../../support/watched-log.ts'

/** What a backlog of each level warns of, and what it keeps from readiness. */
function reportedAs(level: BacklogLevel, { isReason }: { isReason: boolean }) {
  const health = new Health()
  const warnings = createWarnings()
  const lines: unknown[] = []
  const log = watchedLog(({ msg }) => lines.push(msg))
  const parts = { health, warnings, log, isReason }
  const state = { level, pending: 120, oldestMs: 90_000, leftMs: null }
  reportBacklog({ state, before: 'none', isHourLess: false }, parts)
  reportBacklog({ state, before: level, isHourLess: false }, parts)
  const [warning] = warnings.all()
  const codes = { warned: warnings.all().length, reasons: health.all().map(({ code }) => code) }
  const gone = { ...state, level: 'none' } as const
  reportBacklog({ state: gone, before: level, isHourLess: false }, parts)
  expect([warnings.all(), health.ready]).toEqual([[], true])
  return { ...codes, message: warning?.message, lines }
}

test('waiting updates are a warning, and also a reason with `updatesWaiting: unready`', () => {
  const warned = reportedAs('noticed', { isReason: false })
  expect(warned).toMatchObject({ warned: 1, reasons: [] })
  expect(warned.message).toMatch(/: 120 wait, the oldest for 1\.5 minutes$/)
  expect(reportedAs('noticed', { isReason: true }).reasons).toEqual(['updates-waiting'])
})

test('expiring updates are a reason with the time left, and one log line an hour', () => {
  const health = new Health()
  const lines: object[] = []
  const log = watchedLog((line) => lines.push(line))
  const HOUR_MS = 3_600_000
  const state = { pending: 2, oldestMs: 25 * HOUR_MS, leftMs: 47 * HOUR_MS }
  const parts = { health, warnings: createWarnings(), log, isReason: false }
  const look = { state: { ...state, level: 'expiring' }, isHourLess: false } as const
  reportBacklog({ ...look, before: 'none' }, parts)
  reportBacklog({ ...look, before: 'expiring' }, parts)
  expect(lines).toEqual([])
  reportBacklog({ ...look, before: 'expiring', isHourLess: true }, parts)
  const seconds = { oldestSeconds: 25 * 3600, droppedInSeconds: 47 * 3600 }
  expect(lines).toMatchObject([{ pending: 2, ...seconds, msg: 'the service will drop updates' }])
  const [reason] = health.all()
  expect(reason?.code).toBe('updates-expiring')
  expect(reason?.message).toMatch(
    /the oldest for 25\.0 hours; the service drops it in 47\.0 hours$/,
  )
})

test('a backlog that is only a warning is logged at its start and its end, and a reason is not', () => {
  expect(reportedAs('noticed', { isReason: false }).lines).toEqual([
    'updates wait for the bot',
    'updates do not wait any more',
  ])
  expect(reportedAs('noticed', { isReason: true }).lines).toEqual([])
  expect(reportedAs('waiting', { isReason: false }).lines).toEqual([])
})

test.each([true, false])(
  'a backlog before a webhook is a reason, with `isReason` %s',
  (isReason) => {
    expect(reportedAs('waiting', { isReason }).reasons).toEqual(['updates-waiting'])
    expect(reportedAs('expiring', { isReason }).reasons).toEqual(['updates-expiring'])
    expect(reportedAs('none', { isReason })).toMatchObject({ warned: 0, reasons: [] })
  },
)
