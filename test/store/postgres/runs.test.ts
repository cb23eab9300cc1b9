/** What runs again after a failure, and how often. */
import { expect, onTestFinished, test, vi } from 'vitest'
import { OvertakenError } from '../../../src/errors.ts'
import { CommitLostError, PostgresError } from '../../../src/store/postgres/failures.ts'
import { isCommitted, runAgain } from '../../../src/store/postgres/runs.ts'
import type { PostgresServer } from '../../../src/store/postgres/server.ts'
import { pauses } from '../../support/fake-time.ts'

const ofState = (code: string) => Object.assign(new Error(code), { code, severity: 'ERROR' })
const LOST = new PostgresError('lost', 'gone')

/** A server that is in reach, and what it was asked. */
function scene() {
  const done: string[] = []
  const server = {
    ensure: vi.fn(async () => void done.push('ensure')),
    probe: vi.fn(async () => void done.push('probe')),
    ask: vi.fn(async (_text: string, _parameters: unknown[]): Promise<object[]> => []),
  }
  /** Runs what fails so often. */
  const run = (error: Error, times: number) => {
    let runs = 0
    return runAgain(server as unknown as PostgresServer, async () => {
      done.push('run')
      if (runs++ < times) throw error
      return runs
    })
  }
  return { done, server, run }
}

/** Lets so much time pass at each look at the monotonic clock. */
function eachLook(ms: number): void {
  let nowMs = 0
  const spy = vi.spyOn(performance, 'now').mockImplementation(() => (nowMs += ms))
  onTestFinished(() => spy.mockRestore())
}

test.each([
  ['was overtaken', new OvertakenError()],
  ['met another transaction', ofState('40001')],
])('`runAgain` runs a query again at once where the query %s', async (_why, error) => {
  const { run, done } = scene()
  expect(await run(error, 2)).toBe(3)
  expect(done).toEqual(['ensure', 'run', 'ensure', 'run', 'ensure', 'run'])
})

test.each([
  ['lost its connection', LOST],
  ['was cancelled', ofState('57014')],
])('`runAgain` runs a query again where the query %s and a probe succeeds', async (_why, error) => {
  const { run, done, server } = scene()
  expect(await run(error, 1)).toBe(2)
  expect(done).toEqual(['ensure', 'run', 'probe', 'ensure', 'run'])
  server.probe.mockRejectedValue(new Error('nothing answers'))
  await expect(run(error, 1)).rejects.toBe(error)
})

test('`runAgain` runs a query again for three seconds only', async () => {
  eachLook(2999)
  expect(await scene().run(LOST, 1)).toBe(2)
  eachLook(3001)
  await expect(scene().run(LOST, 1)).rejects.toBe(LOST)
  expect(await scene().run(new OvertakenError(), 1)).toBe(2)
})

test.each([
  ['for any other failure', ofState('42601'), 1],
  ['where the database cannot write', ofState('53100'), 1],
  ['an eighth time', ofState('40001'), 8],
])('`runAgain` does not run a query again %s', async (_why, error, times) => {
  const { run, done } = scene()
  await expect(run(error, times)).rejects.toBe(error)
  expect(done.filter((one) => one === 'run')).toHaveLength(times)
})

test('`runAgain` waits longer after each lost connection, and not at all after an overtaken query', async () => {
  const made = pauses()
  await scene().run(LOST, 3)
  await scene().run(new OvertakenError(), 3)
  expect(made).toEqual([25, 50, 75])
})

const loss = new CommitLostError(LOST)
const judged = async (...statuses: (string | null)[]) => {
  const { server } = scene()
  for (const status of statuses) server.ask.mockResolvedValueOnce([{ status }])
  const kept = isCommitted(server as unknown as PostgresServer, 7, loss)
  return { kept, ask: server.ask }
}

test.each([
  ['committed', true],
  ['aborted', false],
])('`isCommitted` for a transaction with status %s is %s', async (status, expected) => {
  const { kept, ask } = await judged('in progress', status)
  expect(await kept).toBe(expected)
  expect(ask.mock.calls).toEqual([
    ['SELECT txid_status($1) AS status', [7]],
    ['SELECT txid_status($1) AS status', [7]],
  ])
})

test('`isCommitted` throws where the database does not know the transaction or does not respond', async () => {
  await expect((await judged(null)).kept).rejects.toBe(loss)
  await expect((await judged()).kept).rejects.toBe(loss)
  const { server } = scene()
  server.ask.mockRejectedValue(LOST)
  await expect(isCommitted(server as unknown as PostgresServer, 7, loss)).rejects.toBe(loss)
})
