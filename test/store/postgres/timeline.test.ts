/** How far a database was seen, by files and by a client that a test plays. */
import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { ClientBase } from 'pg'
import { expect, onTestFinished, test, vi } from 'vitest'
import { PostgresError } from '../../../src/store/postgres/failures.ts'
import { isBehind, LastSeenTimeline, readTimeline } from '../../../src/store/postgres/timeline.ts'
import { temporary } from '../support.ts'

const at = (timelineId: number, systemIdentifier = 'a') => ({ systemIdentifier, timelineId })

const read = (query: () => Promise<object[]>) =>
  readTimeline({ query: async () => ({ rows: await query() }) } as unknown as ClientBase)

test('`readTimeline` returns the reported timeline, and null on a standby', async () => {
  expect(await read(async () => [at(3)])).toEqual(at(3))
  expect(await read(async () => [at(0)])).toBeNull()
  expect(await read(async () => [])).toBeNull()
})

test('`readTimeline` returns null where the server denies it, and throws where the connection fails', async () => {
  const failing = (error: Error) =>
    read(async () => {
      throw error
    })
  expect(await failing(new PostgresError('rights', 'x'))).toBeNull()
  expect(await failing(new Error('no such function'))).toBeNull()
  await expect(failing(new PostgresError('lost', 'x'))).rejects.toThrow('x')
})

test.each([
  [at(2), at(2), false],
  [at(3), at(2), false],
  [at(1), at(2), true],
  [at(3, 'b'), at(2), true],
])('`isBehind` for the timeline %j after %j is %s', (found, newest, expected) => {
  expect(isBehind(found, newest)).toBe(expected)
})

function scene(place = 'here') {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  onTestFinished(() => void vi.useRealTimers())
  const dataDir = temporary()
  const file = join(dataDir, 'database.json')
  const open = (of = place) => new LastSeenTimeline(dataDir, of)
  const content = () =>
    existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as object) : null
  return { dataDir, file, open, content }
}
const seen = (epoch: number, timeline: ReturnType<typeof at> | null = at(2)) => {
  return { epoch, timeline }
}

test('`LastSeenTimeline` writes its newest note one second after the first note', () => {
  const { open, content, file } = scene()
  const record = open()
  record.note(seen(5))
  vi.advanceTimersByTime(600)
  record.note(seen(6))
  vi.advanceTimersByTime(399)
  expect(content()).toBeNull()
  vi.advanceTimersByTime(1)
  expect(content()).toEqual({ place: 'here', ...seen(6) })
  expect(readFileSync(file, 'utf8').endsWith('}\n')).toBe(true)
  expect([statSync(file).mode & 0o777, existsSync(`${file}.tmp`)]).toEqual([0o600, false])
  record.note(seen(7))
  vi.advanceTimersByTime(1000)
  expect(content()).toMatchObject({ epoch: 7 })
})

test('`LastSeenTimeline` writes its last note once on disposal', () => {
  const { open, content, file } = scene()
  const record = open()
  record[Symbol.dispose]()
  expect(content()).toBeNull()
  record.note(seen(5, null))
  record[Symbol.dispose]()
  expect(content()).toEqual({ place: 'here', ...seen(5, null) })
  writeFileSync(file, '{}')
  record[Symbol.dispose]()
  vi.advanceTimersByTime(5000)
  expect([content(), vi.getTimerCount()]).toEqual([{}, 0])
})

test.each([
  [null, true],
  [seen(4), true],
  [seen(5), false],
  [seen(6, at(3)), false],
  [seen(5, null), false],
  [seen(5, at(1)), true],
  [seen(9, at(2, 'b')), true],
])('`LastSeenTimeline` at epoch 5 and timeline 2 is ahead of %j: %s', (found, expected) => {
  const { open } = scene()
  using record = open()
  record.note(seen(5))
  record[Symbol.dispose]()
  expect(open().isAheadOf(found)).toBe(expected)
  expect(open('elsewhere').isAheadOf(found)).toBe(false)
})

test('`LastSeenTimeline` without a timeline compares epochs only', () => {
  const { open } = scene()
  using record = open()
  record.note(seen(5, null))
  record[Symbol.dispose]()
  expect([seen(5, at(1)), seen(4, at(9))].map((found) => open().isAheadOf(found))).toEqual([
    false,
    true,
  ])
})

test('`LastSeenTimeline` that is damaged, forgotten or missing is ahead of nothing', () => {
  const { open, dataDir, file } = scene()
  expect(open().isAheadOf(null)).toBe(false)
  LastSeenTimeline.forget(dataDir)
  writeFileSync(file, '{"place":"here"')
  expect(open().isAheadOf(null)).toBe(false)
  writeFileSync(file, JSON.stringify({ place: 'here', ...seen(5) }))
  expect(open().isAheadOf(null)).toBe(true)
  LastSeenTimeline.forget(dataDir)
  expect([existsSync(file), open().isAheadOf(null)]).toEqual([false, false])
})

test('`LastSeenTimeline` that cannot be written leaves no file and throws nothing', () => {
  const { open, file, dataDir } = scene()
  mkdirSync(file)
  const record = open()
  record.note(seen(5))
  record[Symbol.dispose]()
  expect(statSync(file).isDirectory()).toBe(true)
  expect(existsSync(join(dataDir, 'database.json.tmp'))).toBe(false)
})
