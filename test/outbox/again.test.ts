/** The loop of the outbox at the edges of its times, and whatever happens in it for the second time. */
import { expect, test, vi } from 'vitest'
import { NoResponseError, Refusal } from '../../src/errors.ts'
import { OutboxEntries } from '../../src/outbox/entries.ts'
import { outboxNews } from '../../src/outbox/news.ts'
import type { OutboxAttempt } from '../../src/outbox/outbox.ts'
import { NO_APPROVALS } from '../support/approvals.ts'
import { rest } from '../support/played-clock.ts'
import {
  entryOf,
  HOUR,
  loopScene as scene,
  MINUTE,
  SECOND,
  SENT,
  serviceError,
  turnOf,
  type LoopScene,
} from './support.ts'

const AWAY = new NoResponseError('postern_upstream_unreachable')
const SLOW = { ...SENT, code: 'slow_mode', mayPass: true }

/** The answers of the service to a first send. */
const after = (...given: (OutboxAttempt | Error)[]) => {
  return async ({ answers, give, begin }: LoopScene): Promise<void> => {
    answers.push(...given)
    await give('words')
    await begin()
  }
}
const again = ({ tries }: LoopScene): boolean => tries.length === 2
const wait = (retryAfter: number) => new Refusal('postern_busy', '', { extra: { retryAfter } })

/** A time of the loop: nothing has happened a millisecond before, and it has at the millisecond. */
const EDGES: [
  what: string,
  atMs: number,
  prepare: (one: LoopScene) => Promise<unknown>,
  happened: (one: LoopScene) => boolean | Promise<boolean>,
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
  const giveBig = async (more: object = {}) => {
    const { id } = await give('big', more)
    await entries.change(id, () => ({ bytes: 64 * 2 ** 20 }))
  }
  await giveBig()
  await begin()
  expect(entries.all[0]?.state).toBe('sent')
  await giveBig({ dueAtMs: HOUR })
  await expect(give('more')).rejects.toMatchObject({ code: 'postern_outbox_full' })
})

test('a loop that was requested for its turn in mid-send begins no other, and gives it back', async () => {
  const given = vi.fn(async () => {})
  const { store, ask } = turnOf({ isHeld: true }, given)
  const { give, begin, during, tries } = await scene({ lock: store })
  during.send = async () => ask()
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
  const news = outboxNews(entries, { isOn: true })
  const { id } = await give('words')
  const settle = async (how: object, atMs: number) => {
    const entry = entries.get(id)
    if (entry !== undefined) await entries.settle(entry, how, atMs)
  }
  for (const [round, code] of ['first', 'second'].entries()) {
    const { signal } = news
    expect(signal.aborted).toBe(false)
    await settle({ state: 'refused', code }, round)
    // of another end of it
    await news.heard([`${id} ${round - 1}`])
    const [end] = news.after(7)
    expect([signal.aborted, end?.update.updateId]).toEqual([true, 7])
    expect(end?.update.postern_outbox).toMatchObject({ id, code })
    await news.heard([end?.id ?? ''])
    expect(news.after(7)).toEqual([])
    await entries.wait(id, { isForSealed: true, nowMs: 0 })
  }
  await settle({ state: 'refused', code: 'third' }, 3)
  const full = new Refusal('postern_store_unwritable')
  const failing = vi.spyOn(store, 'write').mockRejectedValue(full)
  await news.heard(news.after(0).map((one) => one.id))
  failing.mockRestore()
  expect(news.after(0)).toEqual([])
  const later = await OutboxEntries.load(store, NO_APPROVALS)
  const count = (isOn: boolean) => outboxNews(later, { isOn }).after(0).length
  expect([count(true), count(false)]).toEqual([1, 0])
})
