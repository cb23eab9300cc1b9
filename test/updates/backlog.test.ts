/** What waits at the service, by its own date, before a bot that does not take it. */
import { expect, test } from 'vitest'
import type { Update } from '../../src/api/updates.ts'
import { Backlog, type BacklogLevel, type BacklogParts } from '../../src/updates/backlog.ts'

const NOW_MS = 1_700_000_000_000
const written = (ageMs: number): Update => ({
  updateId: 7,
  kind: 'message',
  message: { id: 1, date: NOW_MS - ageMs },
})

test('a `Backlog` waits a minute at a time while something waits at the service, and not at all else', async () => {
  const waits: (() => void)[] = []
  const wait = (): Promise<void> => new Promise((resolve) => void waits.push(resolve))
  const clock = { now: () => NOW_MS, monotonicNow: () => NOW_MS, wait }
  const { backlog, report } = backlogOf({ clock })
  const pass = async (): Promise<number> => {
    waits.at(-1)?.()
    await new Promise(setImmediate)
    return waits.length
  }
  await report(1)
  await report(0)
  backlog.start()
  expect(await pass()).toBe(0)
  await report(1)
  await report(1)
  expect([waits.length, await pass(), await pass()]).toEqual([1, 2, 3])
  await report(0)
  expect([await pass(), await pass()]).toEqual([3, 3])
  backlog.markBehind()
  expect([waits.length, await pass()]).toEqual([4, 5])
  await report(0)
  backlog.recordPoll([], 100)
  expect(await pass()).toBe(5)
})

/** A backlog whose clock stands, with the levels that it reported. */
function backlogOf(more: Partial<BacklogParts> = {}) {
  let nowMs = NOW_MS
  const levels: BacklogLevel[] = []
  const peeks: number[] = []
  const peek = more.peek ?? (async () => null)
  const backlog = new Backlog({
    clock: { now: () => nowMs, monotonicNow: () => nowMs, wait: () => new Promise(() => {}) },
    skewMs: () => 0,
    isDelivering: () => false,
    ask: async () => {},
    ...more,
    peek: async () => {
      peeks.push(nowMs)
      return await peek()
    },
  })
  backlog.onState(({ state }) => levels.push(state.level))
  const report = async (count: number): Promise<void> => {
    backlog.recordPending(count)
    await new Promise(setImmediate)
  }
  const pass = (ms: number): void => {
    nowMs += ms
  }
  return { backlog, levels, peeks, report, pass }
}

test('a `Backlog` reports an update that is a minute old by its own date at once', async () => {
  const { backlog, levels, report } = backlogOf({ peek: async () => [written(60_000)] })
  await report(1)
  expect(levels.at(-1)).toBe('noticed')
  expect(backlog.state).toEqual({ level: 'noticed', pending: 1, oldestMs: 60_000, leftMs: null })
})

test('a `Backlog` reports a new update after a minute and reads its date once', async () => {
  const { levels, peeks, report, pass } = backlogOf({ peek: async () => [written(0)] })
  for (let n = 0; n < 6; n++) {
    await report(1)
    expect(levels.at(-1)).toBe('none')
    pass(10_000)
  }
  await report(1)
  expect(levels.at(-1)).toBe('noticed')
  expect(peeks.length).toBe(1)
})

test('a `Backlog` reports 100 waiting updates of any age, and not 99', async () => {
  const { levels, report } = backlogOf({ peek: async () => [written(0)] })
  await report(99)
  expect(levels.at(-1)).toBe('none')
  await report(100)
  expect(levels.at(-1)).toBe('noticed')
  await report(0)
  expect(levels.at(-1)).toBe('none')
})

test('an update that cannot be read is as old as its first report, and each report tries to read it again', async () => {
  const { levels, peeks, report, pass } = backlogOf({
    peek: () => Promise.reject(new Error('no answer')),
  })
  await report(1)
  pass(59_999)
  await report(1)
  expect(levels.at(-1)).toBe('none')
  pass(1)
  await report(1)
  expect(levels.at(-1)).toBe('noticed')
  expect(peeks.length).toBe(3)
})

const press = (updateId: number): Update => ({ updateId, kind: 'callback_query' })

test('an update without a date is as old as its first report, even when a poll reads it again', async () => {
  const { backlog, peeks, report, pass } = backlogOf({ peek: async () => [press(7)] })
  await report(1)
  pass(30_000)
  await report(1)
  backlog.recordPoll([press(7)], 100)
  expect(backlog.state.oldestMs).toBe(30_000)
  expect(peeks.length).toBe(1)
  backlog.recordPoll([press(8)], 100)
  expect(backlog.state.oldestMs).toBe(0)
})

test('the age of the oldest update grows between reports and is null once no update waits', () => {
  const { backlog, pass } = backlogOf()
  backlog.recordPoll([written(5000)], 100)
  pass(2500)
  expect(backlog.state.oldestMs).toBe(7500)
  backlog.recordPoll([], 100)
  expect(backlog.state.oldestMs).toBeNull()
})

test('a `Backlog` ignores a date that it read while the bot polled', async () => {
  const read = Promise.withResolvers<Update[]>()
  const { backlog, report } = backlogOf({ peek: () => read.promise })
  await report(1)
  backlog.recordPoll([], 100)
  read.resolve([written(3_600_000)])
  await new Promise(setImmediate)
  expect(backlog.state).toEqual({ level: 'none', pending: 0, oldestMs: null, leftMs: null })
})

test('an update of ten minutes is `waiting` before a webhook, `noticed` before polls, and 8000 are `expiring`', async () => {
  const peek = async () => [written(600_000)]
  const before = backlogOf({ peek, isDelivering: () => true })
  await before.report(1)
  expect(before.levels.at(-1)).toBe('waiting')
  const polling = backlogOf({ peek })
  await polling.report(1)
  expect(polling.levels.at(-1)).toBe('noticed')
  await polling.report(8000)
  expect(polling.levels.at(-1)).toBe('expiring')
})

test('an update older than 24 hours is `expiring`, with the time left until the service drops it at 72 hours', async () => {
  const { backlog, levels } = backlogOf()
  const HOUR_MS = 3_600_000
  backlog.recordPoll([written(24 * HOUR_MS - 1)], 100)
  expect([levels.at(-1), backlog.state.leftMs]).toEqual(['noticed', null])
  for (const [hours, left] of [
    [24, 48],
    [71, 1],
    [73, 0],
  ] as const) {
    backlog.recordPoll([written(hours * HOUR_MS)], 100)
    expect([levels.at(-1), backlog.state.leftMs]).toEqual(['expiring', left * HOUR_MS])
  }
})

test('a `Backlog` reports once each time that an hour less is left before an update is dropped', async () => {
  const HOUR_MS = 3_600_000
  const { backlog, report, pass } = backlogOf({ peek: async () => [written(23.5 * HOUR_MS)] })
  await report(1)
  const hours: boolean[] = []
  backlog.onState(({ isHourLess }) => hours.push(isHourLess))
  for (const ms of [0, HOUR_MS, HOUR_MS - 1, 1, HOUR_MS / 2, HOUR_MS, 50 * HOUR_MS, HOUR_MS]) {
    pass(ms)
    await report(1)
  }
  // it begins at 24 hours, and ends with nothing left
  expect(hours).toEqual([false, false, true, false, true, true, true, false])
  await report(0)
  expect(hours.at(-1)).toBe(false)
})
