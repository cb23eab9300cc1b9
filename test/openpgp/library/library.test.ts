/** What the library asks of its threads, and what is answered where they fail. */
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
  /** Of the job. */
  args: unknown[]
  deadlineMs?: number
  /** What is answered where its thread was killed twice, and where it failed twice. */
  killed?: unknown
  failed?: unknown
}
const CASES: Record<string, Case> = {
  open: {
    ask: (of) => of.open(message, [key], signal),
    args: [{ recipientPackets: [packet], text: 'a', signer: {}, found: [] }, [key]],
    deadlineMs: 3000,
    killed: { outcome: 'damaged', reason: 'deadline' },
    failed: { outcome: 'damaged', reason: 'failed' },
  },
  unwrap: {
    ask: (of) => helpers(of).unwrap({ recipientPackets: [packet] } as never),
    args: [[packet], [key]],
    deadlineMs: 3000,
    killed: [],
    failed: [],
  },
  openWhole: {
    ask: (of) => helpers(of).openWhole([packet], packet, []),
    args: [[packet], packet, [key], []],
    deadlineMs: 30_000,
    killed: null,
    failed: null,
  },
  unpackWhole: {
    ask: (of) => helpers(of).unpackWhole(packet),
    args: [packet],
    deadlineMs: 30_000,
    killed: null,
    failed: null,
  },
  verify: {
    ask: (of) => of.verify(two, 'c', { nowMs: 5, signal }),
    args: [two, 'c', 5],
    deadlineMs: 3000,
    killed: ['bad', 'bad'],
    failed: ['bad', 'bad'],
  },
  judge: {
    ask: (of) => of.judgeForNative('c', 5, 'known'),
    args: ['c', 5, 'known', true],
    deadlineMs: 3000,
    killed: { status: unusable, info: null },
  },
  adopt: {
    ask: (of) => of.alone.adopt(packet, key),
    args: [packet, key, NOW_MS],
    deadlineMs: 30_000,
    killed: { outcome: 'unfit', reason: 'too-large' },
  },
  generate: { ask: (of) => of.alone.generate(key), args: [key], deadlineMs: 30_000 },
  unlock: { ask: (of) => of.unlock('a', 'b'), args: ['a', 'b'], deadlineMs: 30_000 },
  relock: { ask: (of) => of.alone.relock('a', key), args: ['a', key], deadlineMs: 30_000 },
  describeOwnKey: { ask: (of) => of.describe(key, 5), args: [key, 5], deadlineMs: 30_000 },
  seal: { ask: (of) => of.seal(message), args: [message, NOW_MS] },
  recipientPackets: { ask: (of) => of.packetsFor(['c'], key), args: [['c'], key, NOW_MS] },
  allListAes256: { ask: (of) => of.readAes256(['c']), args: [['c'], NOW_MS] },
}
const TRIED_TWICE = ['open', 'unwrap', 'openWhole', 'unpackWhole', 'verify', 'judge']
const HURRIED = ['open', 'unwrap', 'verify', 'judge']

const run = vi.spyOn(Pool.prototype, 'run')
beforeEach(() => void run.mockReset())
afterAll(() => run.mockRestore())
const asked = (one: Case, deadlineMs?: number) => async () =>
  await one.ask(new Library({ nowMs: () => NOW_MS, ...(deadlineMs && { deadlineMs }) }, {}))

test.each(Object.entries(CASES))('%s is a job with its own deadline', async (job, one) => {
  const result = { armored: 'sealed' }
  run.mockResolvedValue(result)
  const given = await asked(one)()
  if (job !== 'seal') expect(given).toBe(result)
  const [name, args, deadlineMs, stop] = run.mock.lastCall ?? []
  expect([name, args, deadlineMs]).toEqual([job, one.args, one.deadlineMs])
  expect(stop).toBe(['open', 'verify'].includes(job) ? signal : undefined)
  await asked(one, 7)()
  expect(run.mock.lastCall?.[2]).toBe(HURRIED.includes(job) ? 7 : one.deadlineMs)
})

test.each(Object.entries(CASES))('%s that fails is answered', async (job, one) => {
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
})

test.each(TRIED_TWICE)('%s that fails once is done', async (job) => {
  run.mockRejectedValueOnce(new JobKilled(job)).mockResolvedValueOnce('done')
  expect(await asked(CASES[job]!)()).toBe('done')
})

test('a certificate is judged once, without what native code needs, at the time that is handed in', async () => {
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

test('each kind of work has threads of its own, of which one at most is for attachments', async () => {
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
