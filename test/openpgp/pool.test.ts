import { Worker } from 'node:worker_threads'
import { onTestFinished, expect, test, vi } from 'vitest'
import type { Jobs } from '../../src/openpgp/library/worker.ts'
import { EngineUnavailableError } from '../../src/errors.ts'
import { JobKilled, Pool } from '../../src/openpgp/pool.ts'
import { alice, bot } from '../support/openpgp-people.ts'
import {
  armoredCertificate,
  bogusCertifications,
  boundSubkey,
  keyPacket,
  userId,
} from '../support/openpgp-certificate.ts'

/** Greatest time of a job that is to go well. */
const LONG_MS = 20_000
/** Much for a short job, and less than ten costly ones take. */
const DEADLINE_MS = 1500
/** Shorter than a thread takes to start. */
const SHORT_MS = 1

/** A pool that is gone when the test ends, with the names of the jobs that were killed. */
function pool(size: number): { pool: Pool<Jobs>; killed: string[] } {
  const killed: string[] = []
  const made = new Pool<Jobs>('library/worker', size, { onKilled: (name) => killed.push(name) })
  onTestFinished(() => made[Symbol.asyncDispose]())
  return { pool: made, killed }
}

const judge = (of: Pool<Jobs>, deadlineMs = LONG_MS): Promise<unknown> =>
  of.run('judge', [alice.certificate, Date.now()], deadlineMs)

const outcome = (job: Promise<unknown>): Promise<string> =>
  job.then(
    () => 'done',
    (error: unknown) => {
      if (error instanceof EngineUnavailableError) return 'unavailable'
      return error instanceof JobKilled ? 'killed' : 'failed'
    },
  )

/** A certificate that takes as long to judge as one can. */
const costly = armoredCertificate(
  keyPacket(alice.primary),
  userId(alice.primary, 'alice'),
  ...Array.from({ length: 12 }, (_, index) => [
    userId(alice.primary, `alice ${index}`),
    bogusCertifications(alice.primary, `alice ${index}`, 9),
  ]).flat(),
  boundSubkey(alice.primary, alice.subkey),
)

/** More strings than a thread's heap holds; being the same one, they take little room here. */
const tooMuch = (): string[] => Array.from<string>({ length: 9_000_000 }).fill('ab')

test('a job is done in a thread and answered', async () => {
  const { pool: one, killed } = pool(1)
  expect(await judge(one)).toMatchObject({
    status: { unusable: null, fingerprint: alice.primary.fingerprint },
  })
  expect(killed).toEqual([])
})

test('a job past its deadline is killed, and told', async () => {
  const { pool: one, killed } = pool(1)
  await expect(judge(one, SHORT_MS)).rejects.toBeInstanceOf(JobKilled)
  expect(killed).toEqual(['judge'])
})

test('after a killed job the queue goes on, in a fresh thread and in order', async () => {
  const { pool: one, killed } = pool(1)
  const order: number[] = []
  const jobs = [SHORT_MS, LONG_MS, SHORT_MS, LONG_MS].map(async (deadlineMs, index) => {
    const endings = await outcome(judge(one, deadlineMs))
    order.push(index)
    return endings
  })
  const endings = await Promise.all(jobs)
  expect(endings[0]).toBe('killed')
  expect(endings[1]).toBe('done')
  expect(endings[3]).toBe('done')
  expect(order).toEqual([0, 1, 2, 3])
  expect(killed.length).toBe(endings.filter((word) => word === 'killed').length)
})

test('a job that is killed leaves those beside it alone', async () => {
  const { pool: two, killed } = pool(2)
  const [short, long] = await Promise.all([outcome(judge(two, SHORT_MS)), outcome(judge(two))])
  expect([short, long]).toEqual(['killed', 'done'])
  expect(killed).toEqual(['judge'])
})

test('the deadline counts from when a thread takes a job up, not while it waits', async () => {
  const { pool: one, killed } = pool(1)
  await judge(one)
  const before = Array.from({ length: 10 }, () => one.run('judge', [costly, Date.now()], LONG_MS))
  const last = outcome(judge(one, DEADLINE_MS))
  expect(new Set(await Promise.all(before.map(outcome)))).toEqual(new Set(['done']))
  expect(await last).toBe('done')
  expect(killed).toEqual([])
})

test('a job that fails is told its own reason, and its thread lives on', async () => {
  const { pool: one, killed } = pool(1)
  await expect(one.run('unlock', ['no key', ''], LONG_MS)).rejects.toThrow(/armor/i)
  await expect(one.run('unlock', ['no key', ''], LONG_MS)).rejects.not.toBeInstanceOf(JobKilled)
  expect(await outcome(judge(one))).toBe('done')
  expect(killed).toEqual([])
})

test('a job that nobody waits for any more is dropped before its turn, and the next is done', async () => {
  const { pool: one, killed } = pool(1)
  const given = new AbortController()
  const args = (): [string, number] => [alice.certificate, Date.now()]
  const first = outcome(judge(one))
  const dropped = outcome(one.run('judge', args(), LONG_MS, given.signal))
  const next = outcome(judge(one))
  given.abort()
  expect(await Promise.all([first, dropped, next])).toEqual(['done', 'killed', 'done'])
  expect(await outcome(one.run('judge', args(), LONG_MS, given.signal))).toBe('killed')
  expect(killed).toEqual([])
})

test(
  'a thread that dies of its job is replaced, and the next job is done',
  { timeout: 60_000 },
  async () => {
    const { pool: one, killed } = pool(1)
    const request = {
      text: 'x',
      certificates: tooMuch(),
      signer: bot.unlocked,
      cipher: 'aes256' as const,
    }
    const deadly = outcome(one.run('seal', [request, Date.now()], 600_000))
    const next = outcome(judge(one))
    expect(await deadly).toBe('killed')
    expect(await next).toBe('done')
    expect(killed).toEqual(['seal'])
  },
)

test('a pool that is gone has ended what ran and what waited, and takes nothing more', async () => {
  const { pool: one, killed } = pool(1)
  const jobs = [judge(one), judge(one), judge(one)].map(outcome)
  await one[Symbol.asyncDispose]()
  expect(await Promise.all(jobs)).toEqual(['unavailable', 'unavailable', 'unavailable'])
  expect(await outcome(judge(one))).toBe('unavailable')
  expect(killed).toEqual([])
  await one[Symbol.asyncDispose]()
})

test('a thread that was idle for half a minute ends, with whatever it kept, and the next job has another', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  const ended = vi.spyOn(Worker.prototype, 'terminate')
  onTestFinished(() => {
    vi.useRealTimers()
    ended.mockRestore()
  })
  const { pool: one, killed } = pool(1)
  await judge(one)
  vi.advanceTimersByTime(29_000)
  await judge(one)
  vi.advanceTimersByTime(29_000)
  expect(ended).not.toHaveBeenCalled()
  vi.advanceTimersByTime(1_000)
  expect(ended).toHaveBeenCalledTimes(1)
  expect(await outcome(judge(one))).toBe('done')
  expect(killed).toEqual([])
})
