import { expect, test } from 'vitest'
import { EventLog } from '../../src/sandbox/events/log.ts'

function logOf(count: number, held: number): EventLog {
  const log = new EventLog(held)
  for (let n = 0; n < count; n++) log.append(n, { kind: 'clock' })
  return log
}
const ids = (events: { id: number }[]) => events.map(({ id }) => id)

test('`EventLog` holds the newest events and counts the missed ones of a read', () => {
  const log = logOf(10, 4)
  const { events, last, missed } = log.read(0)
  expect([ids(events), last, missed]).toEqual([[7, 8, 9, 10], 10, 6])
  expect(log.read(6)).toMatchObject({ last: 10, missed: 0 })
  expect(log.read(5)).toMatchObject({ last: 10, missed: 1 })
  expect(ids(log.read(8).events)).toEqual([9, 10])
})

test('`EventLog.read` returns at most `limit` events and the id to continue after', () => {
  const log = logOf(5, 100)
  const first = log.read(0, 2)
  expect([ids(first.events), first.last]).toEqual([[1, 2], 2])
  expect(ids(log.read(first.last, 2).events)).toEqual([3, 4])
  expect(log.read(5)).toEqual({ events: [], last: 5, missed: 0 })
})

test('`EventLog.read` after an id that is not yet given returns all held events', () => {
  expect(ids(logOf(2, 100).read(7).events)).toEqual([1, 2])
  expect(logOf(0, 100).read(7)).toEqual({ events: [], last: 0, missed: 0 })
  expect(logOf(10, 4).read(99)).toMatchObject({ last: 10, missed: 6 })
})

test('`EventLog.follow` rejects once the follower has missed an event', async () => {
  const log = logOf(1, 4)
  const followed = log.follow(0, new AbortController().signal)
  expect((await followed.next()).value).toMatchObject({ id: 1 })
  for (let n = 0; n < 5; n++) log.append(n, { kind: 'clock' })
  await expect(followed.next()).rejects.toThrow('1 events after 1 are held no longer')
})
