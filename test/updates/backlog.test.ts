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

test('one that has waited for a minute by its own date is noticed at once, also after a restart', async () => {
  const { backlog, levels, report } = backlogOf({ peek: async () => [written(60_000)] })
  await report(1)
  expect(levels.at(-1)).toBe('noticed')
  expect(backlog.state).toEqual({ level: 'noticed', pending: 1, oldestMs: 60_000, leftMs: null })
})

test('one that came just now is noticed after a minute, and its date is read once', async () => {
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

test('a hundred are noticed however young they are, and ninety-nine are not', async () => {
  const { levels, report } = backlogOf({ peek: async () => [written(0)] })
  await report(99)
  expect(levels.at(-1)).toBe('none')
  await report(100)
  expect(levels.at(-1)).toBe('noticed')
  await report(0)
  expect(levels.at(-1)).toBe('none')
})

test('what cannot be read counts from when it was first heard of, and is tried again', async () => {
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

test('one without a date counts from when it was first heard of, however often it is read', async () => {
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

test('the age goes on between looks, and is over when nothing waits', () => {
  const { backlog, pass } = backlogOf()
  backlog.recordPoll([written(5000)], 100)
  pass(2500)
  expect(backlog.state.oldestMs).toBe(7500)
  backlog.recordPoll([], 100)
  expect(backlog.state.oldestMs).toBeNull()
})

test('a date that was read while the bot polled is not believed', async () => {
  const read = Promise.withResolvers<Update[]>()
  const { backlog, report } = backlogOf({ peek: () => read.promise })
  await report(1)
  backlog.recordPoll([], 100)
  read.resolve([written(3_600_000)])
  await new Promise(setImmediate)
  expect(backlog.state).toEqual({ level: 'none', pending: 0, oldestMs: null, leftMs: null })
})

test('before a webhook, more and longer is a reason, and what is about to be lost before any bot', async () => {
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

test('after a day of waiting the service drops it in two days, and that is counted down', async () => {
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

test('an hour less until something is dropped is reported once', async () => {
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
