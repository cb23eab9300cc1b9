/** Locks of one process, by a database that a test plays. */
import { expect, test, vi } from 'vitest'
import { PostgresError } from '../../../src/store/postgres/failures.ts'
import { giveBack, unblocked } from '../../../src/store/postgres/locks.ts'
import type { Session } from '../../../src/store/postgres/session.ts'
import { pauses } from '../../support/fake-time.ts'

const BLOCKED = new PostgresError('blocked', 'a lock')
const LOST = new PostgresError('lost', 'gone')

test('`unblocked` runs a blocked query eight times, 50 ms apart, and no other failing query again', async () => {
  const made = pauses()
  const query = vi.fn(async () => 'done')
  expect([await unblocked(query), made]).toEqual(['done', []])
  query.mockClear().mockRejectedValueOnce(BLOCKED).mockRejectedValueOnce(BLOCKED)
  expect([await unblocked(query), made]).toEqual(['done', [50, 50]])
  query.mockClear().mockRejectedValue(BLOCKED)
  await expect(unblocked(query)).rejects.toBe(BLOCKED)
  expect([query.mock.calls.length, made.length]).toEqual([8, 9])
  query.mockClear().mockRejectedValue(LOST)
  await expect(unblocked(query)).rejects.toBe(LOST)
  expect([query.mock.calls.length, made.length]).toEqual([1, 9])
})

test.each([
  ['blocked on and on', BLOCKED, 8, 1],
  ['lost', LOST, 1, 0],
])(
  '`giveBack` of a lock cuts the session only where the query is %s',
  async (_how, error, runs, cuts) => {
    pauses()
    const query = vi.fn(async () => Promise.reject(error))
    const session = { query, cut: vi.fn() }
    await giveBack(session as unknown as Session, { text: 'x', parameters: [1] })
    expect(query.mock.calls.map((call) => [...call])).toEqual(
      Array.from({ length: runs }, () => ['x', [1]]),
    )
    expect(session.cut).toHaveBeenCalledTimes(cuts)
  },
)
