/** The jobs that `Library` runs in threads, and its results where they fail. */
import { afterAll, beforeEach, expect, test, vi } from 'vitest'
import { EngineUnavailableError } from '../../../src/errors.ts'
import { unusableStatus } from '../../../src/openpgp/certificate-statuses.ts'
import { Library } from '../../../src/openpgp/library/library.ts'
import { JobKilled, Pool } from '../../../src/openpgp/pool.ts'

const NOW_MS = 1234
const THROWS = 'throws'
const [packet, key] = [Buffer.of(0xc1, 0), 'a key' as never]
const message = { recipientPackets: [packet], text: 'a', signer: {} } as never
const helpers = (of: Library) => of.fileOpeningHelpers([key])
const unusable = expect.objectContaining({ unusable: 'deadline', armored: 'c' })
const two = { signatures: [packet, packet] } as never
const { signal } = new AbortController()

interface Case {
  ask: (of: Library) => unknown
  deadlineMs?: number
  /** Results where its thread was killed twice, and where it failed twice. */
  killed?: unknown
  failed?: unknown
}
const CASES: Record<string, Case> = {
  open: {
    ask: (of) => of.open(message, [key], signal),
    deadlineMs: 3000,
    killed: { outcome: 'damaged', reason: 'deadline' },
    failed: { outcome: 'damaged', reason: 'failed' },
  },
  unwrap: {
    ask: (of) => helpers(of).unwrap({ recipientPackets: [packet] } as never),
    deadlineMs: 3000,
    killed: [],
    failed: [],
  },
  openWhole: {
    ask: (of) => helpers(of).openWhole(packet, []),
    deadlineMs: 30_000,
    killed: null,
    failed: null,
  },
  unpackWhole: {
    ask: (of) => helpers(of).unpackWhole(packet),
    deadlineMs: 30_000,
    killed: null,
    failed: null,
  },
  verify: {
    ask: (of) => of.verify(two, 'c', 5, signal),
    deadlineMs: 3000,
    killed: ['deadline', 'deadline'],
    failed: ['failed', 'failed'],
  },
  judge: {
    ask: (of) => of.judgeForNative('c', 5, 'known'),
    deadlineMs: 3000,
    killed: { status: unusable, info: null },
  },
  adopt: {
    ask: (of) => of.alone.adopt(packet, key),
    deadlineMs: 30_000,
    killed: { outcome: 'unfit', reason: 'too-large' },
  },
  generate: { ask: (of) => of.alone.generate(key), deadlineMs: 30_000 },
  unlock: { ask: (of) => of.unlock('a', 'b'), deadlineMs: 30_000 },
  relock: { ask: (of) => of.alone.relock('a', key), deadlineMs: 30_000 },
  describeOwnKey: { ask: (of) => of.describe(key, 5), deadlineMs: 30_000 },
  seal: { ask: (of) => of.seal(message) },
  recipientPackets: { ask: (of) => of.packetsFor(['c'], key) },
  allListAes256: { ask: (of) => of.readAes256(['c']) },
}
const TRIED_TWICE = ['open', 'unwrap', 'openWhole', 'unpackWhole', 'verify', 'judge']
const HURRIED = ['open', 'unwrap', 'verify', 'judge']

const run = vi.spyOn(Pool.prototype, 'run')
beforeEach(() => void run.mockReset())
afterAll(() => run.mockRestore())
const asked = (one: Case, deadlineMs?: number) => async () =>
  await one.ask(new Library({ nowMs: () => NOW_MS, ...(deadlineMs && { deadlineMs }) }, {}))

test.each(Object.entries(CASES))('the job `%s` has its own deadline', async (job, one) => {
  const result = { armored: 'sealed' }
  run.mockResolvedValue(result)
  const given = await asked(one)()
  if (job !== 'seal') expect(given).toBe(result)
  const [name, , deadlineMs, stop] = run.mock.lastCall ?? []
  expect([name, deadlineMs]).toEqual([job, one.deadlineMs])
  expect(stop).toBe(['open', 'verify'].includes(job) ? signal : undefined)
  await asked(one, 7)()
  expect(run.mock.lastCall?.[2]).toBe(HURRIED.includes(job) ? 7 : one.deadlineMs)
})

test.each(Object.entries(CASES))(
  'a job `%s` that always fails returns its own failure result, or throws',
  async (job, one) => {
    const times = TRIED_TWICE.includes(job) ? 2 : 1
    for (const [error, answer = THROWS] of [
      [new JobKilled(job), one.killed],
      [new Error('the input'), one.failed],
    ] as const) {
      run.mockReset().mockRejectedValue(error)
      if (answer === THROWS) await expect(asked(one)()).rejects.toBe(error)
      else expect(await asked(one)()).toEqual(answer)
      expect(run).toHaveBeenCalledTimes(times)
    }
    const ours = new EngineUnavailableError('no thread can be started')
    run.mockReset().mockRejectedValue(ours)
    await expect(asked(one)()).rejects.toBe(ours)
    expect(run).toHaveBeenCalledTimes(1)
  },
)

test.each(TRIED_TWICE)('a job `%s` that fails once runs again', async (job) => {
  run.mockRejectedValueOnce(new JobKilled(job)).mockResolvedValueOnce('done')
  expect(await asked(CASES[job]!)()).toBe('done')
})

test('`Library.certificates` judges a certificate once, at its clock, without a `CertificateInfo`', async () => {
  const checked = { status: unusableStatus('c', 'expired'), info: null }
  run.mockResolvedValue(checked)
  for (const [nowMs, atMs] of [
    [() => NOW_MS, NOW_MS],
    [undefined, expect.any(Number)],
  ] as const) {
    run.mockClear()
    const { certificates } = new Library(nowMs === undefined ? {} : { nowMs }, {})
    for (let time = 0; time < 2; time++) {
      expect(await certificates.of({ armored: 'c', known: 'k' })).toMatchObject(checked)
    }
    expect(run.mock.calls.map(([, args]) => args)).toEqual([['c', atMs, 'k', false]])
  }
})

test('`Library` has a pool for each kind of work, with one thread for attachments', async () => {
  const busy = vi.spyOn(Pool.prototype, 'load', 'get').mockImplementation(function (
    this: Pool<never>,
  ) {
    return { busy: this.size, waiting: 0 }
  })
  for (const [threads, size] of [
    [{}, 2],
    [{ threads: 5 }, 5],
  ] as const) {
    const load = Object.entries(new Library(threads, {}).load).map(([kind, { busy: of }]) => [
      kind,
      of,
    ])
    expect(Object.fromEntries(load)).toEqual({
      messages: size,
      certificates: size,
      ours: size,
      attachments: 1,
    })
  }
  busy.mockRestore()
})
