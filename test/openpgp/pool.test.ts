import { Worker } from 'node:worker_threads'
import { onTestFinished, expect, test, vi } from 'vitest'
import type { NativeJobs } from '../../src/openpgp/native/worker.ts'
import { EngineUnavailableError } from '../../src/errors.ts'
import { JobKilled, Pool } from '../../src/openpgp/pool.ts'
import { alice } from '../support/openpgp-people.ts'

/** Greatest time of a job that is to succeed. */
const LONG_MS = 60_000
/** Shorter than any job of a thread. */
const SHORT_MS = 1

/** A pool that is gone when the test ends, with the names of the jobs that were killed. */
function pool(size: number): { pool: Pool<NativeJobs>; killed: string[] } {
  const killed: string[] = []
  const onKilled = (name: string) => killed.push(name)
  const made = new Pool<NativeJobs>('native/worker', size, { onKilled })
  onTestFinished(() => made[Symbol.asyncDispose]())
  return { pool: made, killed }
}

const read = (of: Pool<NativeJobs>, deadlineMs = LONG_MS, signal?: AbortSignal) =>
  of.run('read', [[alice.certificate], Date.now()], deadlineMs, signal)
/** Reads so many certificates that the deadline passes meanwhile. */
const readMany = (of: Pool<NativeJobs>, deadlineMs = SHORT_MS) =>
  of.run('read', [Array.from({ length: 2000 }, () => alice.certificate), 0], deadlineMs)

const outcome = (job: Promise<unknown>): Promise<string> =>
  job.then(
    () => 'done',
    (error: unknown) => {
      if (error instanceof EngineUnavailableError) return 'unavailable'
      return error instanceof JobKilled ? 'killed' : 'failed'
    },
  )

test('a pool runs a job in a thread and returns its result', async () => {
  const { pool: one, killed } = pool(1)
  expect(await read(one)).toEqual([expect.any(Uint8Array)])
  expect(killed).toEqual([])
})

test('a pool kills a job past its deadline, and runs the next jobs in a new thread in order', async () => {
  const { pool: one, killed } = pool(1)
  const order: number[] = []
  const jobs = [readMany(one), read(one), readMany(one), read(one)].map(async (job, index) => {
    const ending = await outcome(job)
    order.push(index)
    return ending
  })
  expect(await Promise.all(jobs)).toEqual(['killed', 'done', 'killed', 'done'])
  expect(order).toEqual([0, 1, 2, 3])
  expect(killed).toEqual(['read', 'read'])
})

test('a pool that kills a job leaves jobs in other threads running', async () => {
  const { pool: two, killed } = pool(2)
  const both = await Promise.all([outcome(readMany(two)), outcome(readMany(two, LONG_MS))])
  expect(both).toEqual(['killed', 'done'])
  expect(killed).toEqual(['read'])
})

test('the deadline of a job begins with its start in a thread, not while the job waits', async () => {
  const { pool: one, killed } = pool(1)
  await read(one)
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  onTestFinished(() => void vi.useRealTimers())
  const both = [read(one), read(one, 5000)]
  vi.advanceTimersByTime(50_000)
  expect(await Promise.all(both.map(outcome))).toEqual(['done', 'done'])
  expect(killed).toEqual([])
})

test('a job that throws rejects with its own message, and its thread runs the next job', async () => {
  const { pool: one, killed } = pool(1)
  const locked = alice.certificate.replaceAll('PUBLIC', 'PRIVATE')
  const broken = one.run('unlock', [null as unknown as string, locked], LONG_MS)
  await expect(broken).rejects.toThrow(/null/)
  await expect(broken).rejects.not.toBeInstanceOf(JobKilled)
  expect(await outcome(read(one))).toBe('done')
  expect(killed).toEqual([])
})

test('a job whose signal is aborted is dropped before its start, and the next job runs', async () => {
  const { pool: one, killed } = pool(1)
  const given = new AbortController()
  const first = outcome(read(one))
  const dropped = outcome(read(one, LONG_MS, given.signal))
  const next = outcome(read(one))
  given.abort()
  expect(await Promise.all([first, dropped, next])).toEqual(['done', 'killed', 'done'])
  expect(await outcome(read(one, LONG_MS, given.signal))).toBe('killed')
  expect(killed).toEqual([])
})

test('a thread that exceeds its heap is replaced, and the next job runs', async () => {
  const { pool: one, killed } = pool(1)
  // More strings than the heap of a thread holds; in this process they are one.
  const certificates = Array.from<string>({ length: 6_000_000 }).fill('ab')
  const deadly = outcome(one.run('read', [certificates, Date.now()], 600_000))
  const next = outcome(read(one))
  expect([await deadly, await next]).toEqual(['killed', 'done'])
  expect(killed).toEqual(['read'])
})

test('a disposed pool rejects running, waiting and new jobs as unavailable', async () => {
  const { pool: one, killed } = pool(1)
  const jobs = [read(one), read(one), read(one)].map(outcome)
  await one[Symbol.asyncDispose]()
  expect(await Promise.all(jobs)).toEqual(['unavailable', 'unavailable', 'unavailable'])
  expect(await outcome(read(one))).toBe('unavailable')
  expect(killed).toEqual([])
  await one[Symbol.asyncDispose]()
})

test('a thread that is idle for half a minute ends, and the next job starts another', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  const ended = vi.spyOn(Worker.prototype, 'terminate')
  onTestFinished(() => {
    vi.useRealTimers()
    ended.mockRestore()
  })
  const { pool: one, killed } = pool(1)
  await read(one)
  vi.advanceTimersByTime(29_000)
  await read(one)
  vi.advanceTimersByTime(29_000)
  expect(ended).not.toHaveBeenCalled()
  vi.advanceTimersByTime(1_000)
  expect(ended).toHaveBeenCalledTimes(1)
  expect(await outcome(read(one))).toBe('done')
  expect(killed).toEqual([])
})
