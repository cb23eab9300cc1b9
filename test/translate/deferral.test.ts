import { expect, test, vi } from 'vitest'
import { useFakeTime } from '../support/fake-time.ts'
import type { ExaminedMessage, MessageFinding } from '../../src/kernel/opening/finding.ts'
import type { FoundMessage } from '../../src/kernel/opening/find-messages.ts'
import { Deferral, type BatchState } from '../../src/translate/deferral.ts'
import { found } from '../kernel/opening/examine-scene.ts'
import type { TransientError } from '../../src/kernel/opening/verdict.ts'

const TIMES = { busyMs: 3000, failedMs: 60_000, othersMs: 10_000 }

useFakeTime({ toFake: ['performance'] }, 1_000_000)

const by = (fromId: number, chatId = 50): FoundMessage => found({ text: 'x' }, { chatId, fromId })

/** A batch of one Message an update, each as it was examined. */
function batchOf(
  ones: [from: FoundMessage, transientError: TransientError | null][],
  { hasMore = false } = {},
): BatchState {
  const ready = ones.map(([one, transientError]): ExaminedMessage[] => {
    if (transientError === null) return [{ found: one, finding: { kind: 'untouched' }, ms: 1 }]
    const finding = { kind: 'plain', verdict: 'mode-unknown', transientError } as const
    return [{ found: one, finding, ms: 1 }]
  })
  return { updates: ones.map(([one]) => [one]), ready, hasMore }
}

const opened = (verdict: 'verified' | 'unsigned') =>
  ({ kind: 'opened', judged: { verdict } }) as MessageFinding

/** Takes a batch and, where its first update may wait, lets it. */
function look(deferral: Deferral, batch: BatchState): boolean {
  deferral.record(batch.ready)
  const isWaiting = deferral.mayWait(0, 'update', batch)
  if (isWaiting) deferral.wait(0, batch)
  return isWaiting
}

const alone = batchOf([[by(5), 'failed']])

test('a sender’s update waits up to `failedMs`, and later ones not again before the service has answered', () => {
  const deferral = new Deferral(TIMES)
  expect(look(deferral, alone)).toBe(true)
  vi.advanceTimersByTime(59_999)
  expect(look(deferral, alone)).toBe(true)
  expect(deferral.isWaitingFor([by(5)])).toBe(true)
  vi.advanceTimersByTime(1)
  expect(look(deferral, alone)).toBe(false)
  expect([deferral.isWaitingFor([by(5)]), deferral.hasFailed([by(5)])]).toEqual([false, true])
  expect(look(deferral, alone)).toBe(false)
  deferral.record(batchOf([[by(5), null]]).ready)
  expect(deferral.hasFailed([by(5)])).toBe(false)
  expect(look(deferral, alone)).toBe(true)
})

test.each<[string, MessageFinding, object]>([
  ['without words', { kind: 'untouched' }, {}],
  ['that is damaged', { kind: 'closed', verdict: 'damaged' }, { armored: 'junk' }],
  ['in the clear', { kind: 'plain', verdict: 'plaintext-in-protected' }, { text: 'x' }],
  ['without a signature', opened('unsigned'), { armored: 'sealed' }],
])('a message %s does not make its sender’s updates wait a second time', (...given) => {
  const [, finding, message] = given
  const deferral = new Deferral(TIMES)
  look(deferral, alone)
  vi.advanceTimersByTime(60_000)
  const one = found(message, { chatId: 50, fromId: 5 })
  deferral.record([[{ found: one, finding, ms: 1 }]])
  expect(look(deferral, alone)).toBe(false)
  deferral.record([[{ found: one, finding: opened('verified'), ms: 1 }]])
  expect(look(deferral, alone)).toBe(true)
})

test('a waiting update concerns its sender in its own chat only', () => {
  const deferral = new Deferral(TIMES)
  look(deferral, alone)
  expect(deferral.isWaitingFor([by(5, 51)])).toBe(false)
  expect(deferral.isWaitingFor([by(6)])).toBe(false)
})

test('the pauses between lookups for a waiting update grow up to five seconds', () => {
  const deferral = new Deferral({ ...TIMES, failedMs: 600_000 })
  const pauses = [0, 20_000, 20_000, 300_000].map((laterMs) => {
    vi.advanceTimersByTime(laterMs)
    deferral.record(alone.ready)
    return deferral.wait(0, alone)
  })
  expect(pauses).toEqual([1000, 2000, 4000, 5000])
})

test('an update whose lookups were answered does not wait', () => {
  const deferral = new Deferral(TIMES)
  expect(look(deferral, batchOf([[by(5), null]]))).toBe(false)
})

const before = batchOf([
  [by(5), 'failed'],
  [by(6), null],
])

test('an update with other senders behind waits up to `othersMs`', () => {
  const deferral = new Deferral(TIMES)
  expect(look(deferral, before)).toBe(true)
  vi.advanceTimersByTime(9999)
  expect(look(deferral, before)).toBe(true)
  vi.advanceTimersByTime(1)
  expect(look(deferral, before)).toBe(false)
})

test('all waiting senders share `othersMs`, once in each period', () => {
  const deferral = new Deferral(TIMES)
  const asBad = (fromId: number): BatchState =>
    batchOf([
      [by(fromId), 'failed'],
      [by(6), null],
    ])
  const times = Array.from({ length: 100 }, (_, n) => {
    const isWaiting = look(deferral, asBad(100 + Math.floor(n / 2)))
    vi.advanceTimersByTime(n === 49 ? 30_000 : 500)
    return isWaiting
  })
  expect(times.slice(0, 50).filter(Boolean)).toHaveLength(20)
  expect(times.slice(50).filter(Boolean)).toHaveLength(20)
})

test('the time without other senders behind does not count against `othersMs`', () => {
  const deferral = new Deferral(TIMES)
  expect(look(deferral, batchOf([[by(5), 'failed']]))).toBe(true)
  vi.advanceTimersByTime(30_000)
  expect(look(deferral, before)).toBe(true)
})

test.each([
  ['an update without Messages', { ready: [], updates: [] }, true],
  ['one of the same sender', batchOf([[by(5), null]]), false],
  ['one that cannot be answered either', batchOf([[by(6), 'failed']]), false],
  ['one of the sender in another chat', batchOf([[by(5, 51), null]]), true],
])(
  'an update waits with regard to another update behind: %s',
  (_what, { ready, updates }, counts) => {
    const [head] = [batchOf([[by(5), 'failed']])]
    const isEmpty = updates.length === 0
    const batch: BatchState = {
      updates: [...head.updates, ...(isEmpty ? [[]] : updates)],
      ready: [...head.ready, ...(isEmpty ? [[]] : ready)],
      hasMore: false,
    }
    const deferral = new Deferral(TIMES)
    expect(look(deferral, batch)).toBe(true)
    vi.advanceTimersByTime(10_000)
    expect(look(deferral, batch)).toBe(!counts)
  },
)

test('a full batch counts as one with other senders behind', () => {
  const deferral = new Deferral(TIMES)
  const full = batchOf([[by(5), 'failed']], { hasMore: true })
  expect(look(deferral, full)).toBe(true)
  vi.advanceTimersByTime(10_000)
  expect(look(deferral, full)).toBe(false)
})

test('an update waits for the call budget up to `busyMs`, also with other senders behind', () => {
  const deferral = new Deferral({ ...TIMES, othersMs: 0 })
  const busy = batchOf([
    [by(5), 'busy'],
    [by(6), null],
  ])
  expect(look(deferral, busy)).toBe(true)
  vi.advanceTimersByTime(2999)
  expect(look(deferral, busy)).toBe(true)
  vi.advanceTimersByTime(1)
  expect(look(deferral, busy)).toBe(false)
})

test('an update waits for the call budget no longer because a new period begins', () => {
  const deferral = new Deferral(TIMES)
  const busy = batchOf([[by(5), 'busy']])
  vi.advanceTimersByTime(TIMES.failedMs - 1000)
  const waits = Array.from({ length: 8 }, () => {
    const isWaiting = look(deferral, busy)
    vi.advanceTimersByTime(500)
    return isWaiting
  })
  expect(waits.filter(Boolean)).toHaveLength(6)
})

test('all updates that wait for the call budget share `busyMs`, once in each period', () => {
  const deferral = new Deferral(TIMES)
  const waitedMs = Array.from({ length: 60 }, (_, n) => {
    const [one, batch] = [`update ${n}`, batchOf([[by(n), 'busy']], { hasMore: true })]
    let ms = 0
    for (; ; ms += 500) {
      deferral.record(batch.ready)
      if (!deferral.mayWait(0, one, batch)) return ms
      deferral.wait(0, batch)
      vi.advanceTimersByTime(500)
    }
  })
  expect(waitedMs.reduce((sum, ms) => sum + ms)).toBe(TIMES.busyMs)
  vi.advanceTimersByTime(TIMES.failedMs)
  expect(look(deferral, batchOf([[by(99), 'busy']]))).toBe(true)
})

test('a batch of 10 000 senders waits once, since `Deferral` remembers each of them', () => {
  const deferral = new Deferral(TIMES)
  const crowd = batchOf(Array.from({ length: 10_000 }, (_, n) => [by(n + 1), 'failed']))
  expect(look(deferral, crowd)).toBe(true)
  vi.advanceTimersByTime(TIMES.failedMs)
  expect(look(deferral, crowd)).toBe(false)
})
