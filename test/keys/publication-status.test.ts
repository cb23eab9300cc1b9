import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { Bot } from '../../src/api/bot.ts'
import { Clocks } from '../../src/kernel/own-key/clocks.ts'
import type { Keyring } from '../../src/kernel/own-key/keyring.ts'
import type { OwnKeyRecord, ReadyKey } from '../../src/kernel/own-key/own-key.ts'
import {
  fingerprintOf,
  PublicationStatus,
  remoteKeyStateOf,
  type PublicationState,
} from '../../src/keys/publication-status.ts'
import { watchedLog } from '../support/watched-log.ts'

beforeEach(() => void vi.useFakeTimers({ now: 1_000_000 }))
afterEach(() => void vi.useRealTimers())

const KEY = { fingerprint: 'ours', endsMs: Infinity, unlocked: {} } as ReadyKey

function scene(
  keys: { active?: ReadyKey; pending?: ReadyKey } = { active: KEY },
  clocks = new Clocks(() => null),
) {
  const changes: string[] = []
  const log = watchedLog()
  const logged = vi.spyOn(log, 'debug')
  const status = new PublicationStatus({
    keyring: { ...keys, clocks } as unknown as Keyring,
    log,
    onChange: (state, detail) => changes.push(`${state}: ${detail}`),
  })
  return { status, changes, logged }
}

const forever = (): AbortSignal => new AbortController().signal
const refusing = (code: string): unknown => expect.objectContaining({ code })

test('at a start, a key counts as published unless there is none, or another one waits', () => {
  expect(scene().status.state).toBe('published')
  expect(scene({}).status.state).toBe('unpublished')
  expect(scene({ active: KEY, pending: KEY }).status.state).toBe('unpublished')
})

test('each state is told each time, and traced in the log when it is another one', () => {
  const { status, changes, logged } = scene()
  status.become('published', 'one')
  expect(logged).not.toHaveBeenCalled()
  status.become('conflict', 'two')
  status.become('conflict', 'three')
  expect(changes).toEqual(['published: one', 'conflict: two', 'conflict: three'])
  expect(logged.mock.calls).toEqual([[{ state: 'conflict' }, 'the bot’s key']])
})

test.each<[PublicationState, string]>([
  ['unpublished', 'postern_key_unpublished'],
  ['conflict', 'postern_key_conflict'],
  ['expired', 'postern_key_expired'],
  ['unprotected', 'postern_bot_unprotected'],
])('nothing is sealed while the key is %s', async (state, code) => {
  const { status } = scene()
  status.become(state, 'words')
  expect(() => status.requirePublished()).toThrow(refusing(code))
  await expect(status.enter()).rejects.toMatchObject({ code })
})

test('a published key signs until its time is over, and one that is missing never', () => {
  const active = { ...KEY, endsMs: 1_000_001 }
  const { status } = scene({ active })
  expect(status.requirePublished()).toBe(active)
  vi.setSystemTime(1_000_001)
  expect(() => status.requirePublished()).toThrow(refusing('postern_key_expired'))
  const none = scene({})
  none.status.become('published', 'words')
  expect(() => none.status.requirePublished()).toThrow(refusing('postern_key_unpublished'))
})

test('a key that is shown is published, or expired when its time is over', () => {
  for (const [endsMs, state] of [
    [Infinity, 'published: the key is published'],
    [1_000_000, 'expired: phones seal nothing to it any more'],
  ] as const) {
    const { status, changes } = scene({ active: { ...KEY, endsMs } })
    status.becomeShown()
    expect(changes).toEqual([state])
  }
  const { status } = scene({})
  status.becomeShown()
  expect(status.state).toBe('published')
})

test('sends wait while a key may change, and what changes it waits for the sends', async () => {
  const { status } = scene()
  const steps: string[] = []
  const first = await status.enter()
  expect(first.signer).toBe(KEY)
  const holding = status.hold(async (through) => {
    await through(forever())
    steps.push('changed')
    return 'done'
  })
  const second = status.enter().then(() => steps.push('sent'))
  await vi.advanceTimersByTimeAsync(100)
  expect(steps).toEqual([])
  first.leave()
  expect(await holding).toBe('done')
  await second
  expect(steps).toEqual(['changed', 'sent'])
  expect([status.state, vi.getTimerCount()]).toEqual(['published', 0])
})

test('a send that waited is refused when nothing is published then, and holds up nothing', async () => {
  const { status } = scene()
  const looked = Promise.withResolvers<void>()
  const holding = status.hold(async () => {
    await looked.promise
    status.become('conflict', 'words')
  })
  const sending = status.enter()
  looked.resolve()
  sending.catch(() => {})
  await holding
  await expect(sending).rejects.toMatchObject({ code: 'postern_key_conflict' })
  // it is not inside any more
  await status.hold((through) => through(forever()))
})

test('a send is refused at once where nothing is published before it would wait', async () => {
  const { status } = scene()
  status.become('conflict', 'words')
  void status.hold(() => new Promise(() => {}))
  await expect(status.enter()).rejects.toMatchObject({ code: 'postern_key_conflict' })
})

test('past twenty seconds sends are refused rather than held, until it is known better', async () => {
  const { status, changes } = scene()
  const { promise, resolve } = Promise.withResolvers<void>()
  const holding = status.hold(() => promise)
  const sending = status.enter()
  sending.catch(() => {})
  await vi.advanceTimersByTimeAsync(19_999)
  expect(changes).toEqual([])
  await vi.advanceTimersByTimeAsync(1)
  expect(changes).toEqual(['unpublished: the service has not shown the new key yet'])
  await expect(sending).rejects.toMatchObject({ code: 'postern_key_unpublished' })
  resolve()
  await holding
})

test('what fails while sends are held lets them in again', async () => {
  const { status } = scene()
  await expect(status.hold(() => Promise.reject(new Error('stop')))).rejects.toThrow('stop')
  expect((await status.enter()).signer).toBe(KEY)
  expect(vi.getTimerCount()).toBe(0)
})

test.each([
  ['ABCD', 'abcd'],
  ['', null],
  [null, null],
  [undefined, null],
])('a bot with the fingerprint %j claims %j', (fingerprint, claimed) => {
  expect(fingerprintOf({ fingerprint } as Bot)).toBe(claimed)
})

test('what the service shows is told apart by what we ever held', () => {
  const states = { a: 'active', b: 'pending', c: 'retired', d: 'destroyed' } as const
  const find = (print: string) => {
    const state = (states as Record<string, OwnKeyRecord['state']>)[print]
    return state && ({ state } as OwnKeyRecord)
  }
  const of = (shown: string | null, firstPublishedAtMs: number | null): string =>
    remoteKeyStateOf(shown, { find, firstPublishedAtMs } as unknown as Keyring)
  expect(['a', 'b', 'c', 'd', 'x'].map((shown) => of(shown, 5))).toEqual([
    'equal',
    'pending',
    'older',
    'older',
    'foreign',
  ])
  expect([of(null, null), of(null, 0), of('x', null)]).toEqual(['first', 'none', 'foreign'])
})

test('the end of a published key is known by the clock alone, and taken back by a clock set back', () => {
  const { status, changes } = scene({ active: { ...KEY, endsMs: 1_000_500 } })
  status.lookAtClock()
  expect(changes).toEqual([])
  vi.setSystemTime(1_000_500)
  status.lookAtClock()
  status.lookAtClock()
  expect(changes).toEqual(['expired: phones seal nothing to it any more'])
  vi.setSystemTime(1_000_499)
  status.lookAtClock()
  expect(status.state).toBe('published')
})

test.each<PublicationState>(['unpublished', 'conflict', 'unprotected'])(
  'a key that is %s stays so whatever the clock says',
  (state) => {
    const { status } = scene({ active: { ...KEY, endsMs: 5 } })
    status.become(state, '')
    status.lookAtClock()
    expect(status.state).toBe(state)
    const none = scene({})
    none.status.lookAtClock()
    expect(none.changes).toEqual([])
  },
)

test('nothing is signed by a clock that shows a time before the key was made', () => {
  const clocks = new Clocks(() => null)
  const { status } = scene({ active: KEY }, clocks)
  clocks.passed(1_000_001)
  expect(() => status.requirePublished()).toThrow(refusing('postern_clock_wrong'))
  vi.setSystemTime(1_000_001)
  expect(status.requirePublished()).toBe(KEY)
})
