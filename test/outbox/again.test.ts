/** The loop of the outbox at the edges of its times, and whatever happens in it for the second time. */
import { setImmediate as turn } from 'node:timers/promises'
import { expect, onTestFinished, test, vi } from 'vitest'
import { NoResponseError, Refusal, ServiceError } from '../../src/errors.ts'
import { OutboxEntries, type NewEntry } from '../../src/outbox/entries.ts'
import { OutboxNews } from '../../src/outbox/news.ts'
import { Outbox, type OutboxAttempt, type OutboxParts } from '../../src/outbox/outbox.ts'
import { open, temporary } from '../store/support.ts'
import { approvalsOf, NO_APPROVALS } from '../support/approvals.ts'
import { playedClock, rest } from '../support/played-clock.ts'
import { entryOf } from './support.ts'

const [SECOND, MINUTE, HOUR] = [1000, 60_000, 3_600_000]
const SENT: OutboxAttempt = { code: null, sentId: 7, retryMs: null, mayPass: false, isOfAll: false }
const AWAY = new NoResponseError('postern_upstream_unreachable')
const SLOW = { ...SENT, code: 'slow_mode', mayPass: true }
const OFFICE = { id: 3, kind: 'private', personId: 815, latchedAtMs: null, refusedAtMs: null }
const RULE = { chats: [1], kinds: ['send' as const], by: [815], withinMs: HOUR }

/** A loop, and the tries that it makes; the service answers as `answers` has it, then accepts. */
async function scene(o: { isAsked?: boolean; lock?: OutboxParts['store'] } = {}) {
  const store = await open(temporary(), { protection: 'none' })
  const knownChats = { all: [OFFICE], get: () => undefined }
  const approvals = approvalsOf({ rules: o.isAsked === true ? [RULE] : [], knownChats })
  const entries = await OutboxEntries.load(store, { ...NO_APPROVALS, approvals })
  const clock = playedClock()
  const tries: string[] = []
  const answers: (OutboxAttempt | Error)[] = []
  const stuck: unknown[] = []
  const during = { send: (): Promise<void> => turn() }
  const outbox = new Outbox({
    entries,
    store: o.lock ?? store,
    clock,
    send: async ({ id, state }, words) => {
      tries.push(words.toString())
      await during.send()
      const answer = answers.shift() ?? SENT
      if (answer instanceof Error) throw answer
      if (state === 'asked' && answer === SENT) {
        await entries.change(id, ({ approval }) => {
          const requests = approval?.requests.map((one) => ({ ...one, messageId: 9 }))
          return approval && requests ? { approval: { ...approval, requests } } : null
        })
      }
      return answer
    },
    maxAgeMs: 2 * HOUR,
  })
  outbox.onStuck((entry) => stuck.push(entry?.id))
  onTestFinished(() => outbox[Symbol.asyncDispose]())
  const give = (words: string, more: Partial<NewEntry> = {}) => {
    const times = { createdAtMs: clock.now(), dueAtMs: clock.now() }
    return entries.add(entryOf({ ...times, ...more }), Buffer.from(words))
  }
  const begin = async () => {
    outbox.start()
    await rest()
  }
  return { store, entries, outbox, clock, tries, answers, stuck, during, give, begin }
}
type Scene = Awaited<ReturnType<typeof scene>>

/** The answers of the service to a first send. */
const after = (...given: (OutboxAttempt | Error)[]) => {
  return async ({ answers, give, begin }: Scene): Promise<void> => {
    answers.push(...given)
    await give('words')
    await begin()
  }
}
const again = ({ tries }: Scene): boolean => tries.length === 2
const wait = (retryAfter: number) => new Refusal('postern_busy', '', { extra: { retryAfter } })

/** A time of the loop: nothing has happened a millisecond before, and it has at the millisecond. */
const EDGES: [
  what: string,
  atMs: number,
  prepare: (one: Scene) => Promise<unknown>,
  happened: (one: Scene) => boolean | Promise<boolean>,
][] = [
  ['the try after a thrown refusal that waits', 9000, after(wait(9)), again],
  ['the try after a look-up that waits', 11_000, after(serviceError(429, 'x', 11)), again],
  [
    'the report of an entry that waits',
    10 * MINUTE + 1,
    after({ ...SLOW, retryMs: 20 * MINUTE }),
    async ({ give, stuck }) => {
      // it wakes the loop
      await give('later', { chatId: 9, dueAtMs: 72 * HOUR })
      await rest()
      return stuck.length > 0
    },
  ],
  [
    'the removal of a settled entry',
    72 * HOUR + 1,
    after(),
    async ({ store, clock }) => {
      const later = await OutboxEntries.load(store, NO_APPROVALS)
      const { id } = later.all[0] ?? { id: '' }
      await later.add(entryOf({ createdAtMs: clock.now(), dueAtMs: 1e15 }), Buffer.from('more'))
      return later.get(id) === undefined
    },
  ],
]

test.each(EDGES)('%s happens at %i ms and not before', async (_name, atMs, prepare, happened) => {
  const one = await scene()
  await prepare(one)
  await one.clock.pass(atMs - 1)
  expect(await happened(one)).toBe(false)
  await one.clock.pass(1)
  expect(await happened(one)).toBe(true)
})

test('the waits after failures double up to a minute, and begin anew after a send', async () => {
  const { answers, give, begin, clock, tries } = await scene()
  answers.push(...Array.from({ length: 8 }, () => AWAY))
  await give('words')
  await begin()
  for (const [at, seconds] of [1, 2, 4, 8, 16, 32, 60, 60].entries()) {
    await clock.pass(seconds * SECOND - 1)
    expect(tries).toHaveLength(at + 1)
    await clock.pass(1)
    expect(tries).toHaveLength(at + 2)
  }
  for (const answer of [AWAY, SLOW, SLOW]) {
    answers.push(answer)
    await give('other')
    await rest()
    await clock.pass(SECOND)
  }
  expect(tries.slice(-6)).toEqual(Array(6).fill('other'))
})

test('an entry that was sent leaves its room to others', async () => {
  const { entries, begin, give } = await scene()
  const big = 'x'.repeat(33 * 2 ** 20)
  await give(big)
  await begin()
  expect(entries.all[0]?.state).toBe('sent')
  await give(big, { dueAtMs: HOUR })
  await expect(give(big)).rejects.toMatchObject({ code: 'postern_outbox_full' })
})

test('a loop that was requested for its turn in mid-send begins no other, and gives it back', async () => {
  const asked = new AbortController()
  const { signal } = new AbortController()
  const given = vi.fn(async () => {})
  const locks = [{ isHeld: true, signal, asked: asked.signal, [Symbol.asyncDispose]: given }]
  const untilFree = (_name: string, end: AbortSignal) =>
    new Promise<void>((resolve) => end.addEventListener('abort', () => resolve()))
  const lock = { tryLock: async () => locks.pop() ?? null, untilFree }
  const { give, begin, during, tries } = await scene({ lock })
  during.send = async () => asked.abort()
  for (const words of ['one', 'two']) await give(words)
  await begin()
  expect([tries, given.mock.calls.length]).toEqual([['one'], 1])
})

test('a request for a word settles nothing, waits for its approver alone, and ends in time', async () => {
  const { entries, answers, give, begin, clock } = await scene({ isAsked: true })
  answers.push({ ...SLOW, retryMs: 5000 })
  const asked = await give('{}')
  await begin()
  const other = await give('{}', { messageId: '7' })
  await rest()
  expect(entries.get(other.id)?.state).toBe('sent')
  await clock.pass(5000)
  const { state, settledAtMs, approval } = entries.get(asked.id) ?? {}
  expect([state, settledAtMs, approval?.requests[0]?.messageId]).toEqual(['asked', null, 9])
  await clock.pass(HOUR - 5001)
  expect(entries.get(asked.id)?.state).toBe('asked')
  await clock.pass(1)
  expect(entries.get(asked.id)?.code).toBe('postern_approval_late')
})

test('the second end of an entry is news again, and an end whose record fails after a restart', async () => {
  const { entries, give, store } = await scene()
  const news = new OutboxNews(entries, { isOn: true })
  const { id } = await give('words')
  for (const [round, code] of ['first', 'second'].entries()) {
    const { signal } = news
    expect(signal.aborted).toBe(false)
    await entries.settle(id, { state: 'refused', code }, round)
    const [end] = news.after(7)
    expect([signal.aborted, end?.update.updateId]).toEqual([true, 7])
    expect(end?.update.postern_outbox).toMatchObject({ id, code })
    await news.heard([end?.id ?? ''])
    expect(news.after(7)).toEqual([])
    await entries.wait(id, { isForSealed: true, nowMs: 0 })
  }
  await entries.settle(id, { state: 'refused', code: 'third' }, 3)
  const full = new Refusal('postern_store_unwritable')
  const failing = vi.spyOn(store, 'write').mockRejectedValue(full)
  await news.heard(news.after(0).map((one) => one.id))
  failing.mockRestore()
  expect(news.after(0)).toEqual([])
  const later = await OutboxEntries.load(store, NO_APPROVALS)
  const count = (isOn: boolean) => new OutboxNews(later, { isOn }).after(0).length
  expect([count(true), count(false)]).toEqual([1, 0])
})

function serviceError(status: number, code: string, seconds?: number): ServiceError {
  const answer = { status, headers: {}, body: Buffer.from('{}') }
  return new ServiceError({ code, status, expected: undefined, retryAfterSeconds: seconds, answer })
}
