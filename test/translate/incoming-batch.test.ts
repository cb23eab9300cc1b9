import { setImmediate as turn } from 'node:timers/promises'
import { describe, expect, test, vi } from 'vitest'
import { useFakeTime } from '../support/fake-time.ts'
import { Refusal, TooManyChatsError } from '../../src/errors.ts'
import { ALICE, BOT } from '../kernel/opening/examine-scene.ts'
import { SIGNED, openedAs, scene, signedBy, update, verdictOf } from './incoming-scene.ts'

const UNWRITABLE = { code: 'postern_store_unwritable', extra: { retryAfter: 2 } }
const unwritable = () => Promise.reject(new Refusal('postern_store_unwritable'))
const open = { protectedChats: new Set<number>(), privateChats: new Set<number>() }

/** What was recorded of chats, call by call. */
const sightings = ({ saw }: ReturnType<typeof scene>['all']): object[][] =>
  saw.mock.calls.map(([seen]) => seen)

/** Of this, whom private chats are with. */
const persons = (all: ReturnType<typeof scene>['all']): object[][] =>
  sightings(all).map((seen) => seen.filter((one) => 'userId' in one))

test.each(['batch', 'rememberSigned', 'saw', 'sawNotices', 'rewrite'] as const)(
  'an unwritable store during `%s` leaves all updates at the service, without a verdict',
  async (name) => {
    const { incoming, all, told, leavings } = scene({ open: signedBy() })
    all.unwritten.add(50)
    const working = all[name].getMockImplementation() as never
    all[name].mockImplementation(unwritable)
    const one = update({}, 7)
    const notice = update({ kind: 'joined', armored: undefined })
    await expect(incoming.open([one, notice])).rejects.toMatchObject(UNWRITABLE)
    expect(told).toEqual([])
    const at = { updateId: 7, chatId: 50, why: 'ours' }
    expect(leavings).toEqual([{ kind: 'left', isFirst: true, ...at }])
    all[name].mockImplementation(working)
    const again = update({}, 7)
    await incoming.open([again])
    expect(verdictOf(again)['verdict']).toBe('verified')
    expect(leavings[1]).toEqual({ kind: 'came', waitedMs: expect.any(Number), ...at })
  },
)

test('a poll with an unwritable store returns the updates before the first opened message, and none behind', async () => {
  const { incoming, all, told, leavings } = scene({ open: signedBy() })
  all.batch.mockImplementation(unwritable)
  const words = () => update({ armored: undefined, text: 'words' })
  const updates = [words(), words(), update({}, 9), words()]
  expect(await incoming.open(updates)).toEqual({ updates: updates.slice(0, 2), changed: true })
  expect(told).toMatchObject([[{ verdict: 'before-key' }, { verdict: 'before-key' }]])
  expect(leavings).toMatchObject([{ updateId: 9, why: 'ours' }])
})

test.each([
  ['a chat that is new', {}],
  ['a notice', { kind: 'joined', armored: undefined }],
  ['a file', {}],
])(
  'a poll with an unwritable store returns the updates before the first one with %s',
  async (what, message) => {
    const { incoming, all, told, leavings } = scene({ ...open, open: signedBy() })
    const words = () => update({ armored: undefined, text: 'words', chat: { id: 51 } })
    const updates = [words(), words(), update(message, 9), words()]
    if (what === 'a file') all.rewrite.mockResolvedValue({ changed: true, count: 2 })
    else all[what === 'a notice' ? 'sawNotices' : 'saw'].mockImplementation(unwritable)
    if (what === 'a chat that is new') all.unwritten.add(50)
    expect(await incoming.open(updates)).toEqual({ updates: updates.slice(0, 2), changed: true })
    expect([told, leavings]).toMatchObject([[[]], [{ updateId: 9, why: 'ours' }]])
    expect(all.forget).not.toHaveBeenCalled()
  },
)

test('a poll is refused when the facts of other sidecars cannot be read', async () => {
  const { incoming, all } = scene({ ...open }, { fresh: unwritable })
  all.unwritten.add(50)
  all.saw.mockImplementation(async (_sightings, fresh) => await fresh())
  const words = update({ armored: undefined, text: 'words', chat: { id: 51 } })
  await expect(incoming.open([words, update()])).rejects.toMatchObject(UNWRITABLE)
  expect(all.sawPerson).not.toHaveBeenCalled()
})

test('a message of a chat beyond the maximum of known chats is judged as of an unknown chat', async () => {
  const { incoming, all } = scene({ open: openedAs() })
  all.saw.mockRejectedValue(new TooManyChatsError('postern_store_unwritable'))
  const one = update()
  await incoming.open([one])
  expect(verdictOf(one)['verdict']).toBe('unsigned')
})

test.each(['batch', 'saw', 'rewrite'] as const)(
  'another failure of `%s` is thrown unchanged',
  async (name) => {
    for (const error of [new Error('odd'), new Refusal('postern_locked')]) {
      const { incoming, all } = scene({ open: openedAs() })
      all[name].mockRejectedValue(error)
      await expect(incoming.open([update()])).rejects.toBe(error)
    }
  },
)

test.each([
  ['a Message of the bot', { from: { id: BOT } }],
  ['a Message without a sender', { from: undefined }],
  ['a notice', { kind: 'joined', armored: undefined }],
])('the person of a private chat is not derived from %s', async (_who, message) => {
  const { incoming, all } = scene({ open: openedAs() })
  await incoming.open([update(message)])
  expect(persons(all)).toEqual([[]])
})

test('the person of a private chat is not derived from a press or from a Message of another chat', async () => {
  const { incoming, all } = scene({ open: openedAs() })
  const { message } = update()
  const press = { id: 'p', from: { id: ALICE }, data: 'd', message }
  await incoming.open([{ updateId: 1, kind: 'callback_query', callbackQuery: press }])
  const elsewhere = { ...update().message, chat: { id: 51, kind: 'private' } }
  await incoming.open([{ ...update(), beside: elsewhere }])
  expect(persons(all)).toEqual([[], [{ chatId: 50, userId: ALICE }]])
})

test('a readable update with a `postern` field of the service is delivered without the field', async () => {
  const { incoming } = scene(open)
  const one = update({ armored: undefined, text: 'words', postern: { verdict: 'verified' } })
  expect((await incoming.open([one])).changed).toBe(true)
  expect(one.message).not.toHaveProperty('postern')
})

test('a notice makes the mode and the key list of its chat stale', async () => {
  const { incoming, all } = scene()
  for (const from of [{ id: ALICE }, { id: BOT }, undefined]) {
    await incoming.open([update({ kind: 'joined', armored: undefined, from })])
  }
  const stale = Array.from({ length: 3 }, () => [50, null])
  expect([all.sawPerson.mock.calls, all.forget.mock.calls]).toEqual([stale, [[50], [50], [50]]])
})

test('a poll returns at most a hundred updates and leaves the others', async () => {
  const { incoming } = scene(open)
  const all = Array.from({ length: 101 }, (_, n) =>
    update({ armored: undefined, text: 'words' }, n),
  )
  const { updates, changed } = await incoming.open(all)
  expect([updates, changed]).toEqual([all.slice(0, 100), true])
})

test('a poll of a caller who has left is empty, and its facts about chats are recorded', async () => {
  const { incoming, all, told } = scene({ open: openedAs() })
  expect(await incoming.open([update()], { gone: AbortSignal.abort() })).toEqual({
    updates: [],
    changed: true,
  })
  expect([all.saw.mock.calls.length, all.batch.mock.calls, told]).toEqual([1, [], [[]]])
})

describe('a batch that took long', () => {
  useFakeTime({ toFake: ['performance'] })

  /** What takes long by the clock of a test. */
  const costly = (outcome: object) =>
    vi.fn(() => {
      vi.advanceTimersByTime(1000)
      return Promise.resolve(outcome)
    })

  test('a costly batch that delivers nothing is answered after a later batch with texts', async () => {
    const answered: string[] = []
    const withheld = scene({ open: costly({ outcome: 'damaged' }) })
    const delivered = scene({ open: costly(SIGNED) })
    await Promise.all([
      withheld.incoming.open([update()]).then(() => answered.push('withheld')),
      delivered.incoming.open([update()]).then(() => answered.push('delivered')),
    ])
    expect(answered).toEqual(['delivered', 'withheld'])
  })

  test('a held-back batch is answered at once when its caller leaves', async () => {
    const gone = new AbortController()
    const answered: string[] = []
    const [patient, leaving] = [1, 2].map(() => scene({ open: costly({ outcome: 'damaged' }) }))
    leaving?.incoming.onJudged(() => setImmediate(() => gone.abort()))
    const [one, other] = [update(), update()]
    const [, answer] = await Promise.all([
      patient?.incoming.open([one]).then(() => answered.push('patient')),
      leaving?.incoming
        .open([other], { gone: gone.signal })
        .finally(() => answered.push('leaving')),
    ])
    expect(answered).toEqual(['leaving', 'patient'])
    expect(answer).toEqual({ updates: [other], changed: true })
  })

  test('a quick batch that delivers nothing is answered at once', async () => {
    vi.advanceTimersByTime(3_600_000)
    const answered: string[] = []
    const withheld = scene({ open: openedAs({ outcome: 'damaged' }) })
    const slow = scene({ open: openedAs() })
    slow.all.rewrite.mockImplementation(async () => {
      for (let turns = 0; turns < 10; turns++) await turn()
      return { changed: false, count: 1 }
    })
    await Promise.all([
      slow.incoming.open([update()]).then(() => answered.push('slow')),
      withheld.incoming.open([update()]).then(() => answered.push('withheld')),
    ])
    expect(answered).toEqual(['withheld', 'slow'])
  })
})

const words = () => update({ armored: undefined, text: 'words' })

test('a withheld message does not end the time of readable private texts before the key', async () => {
  const { incoming, all } = scene({ open: signedBy() })
  all.recognized.mockResolvedValue('replayed')
  const [sealed, after] = [update(), words()]
  await incoming.open([sealed, after])
  expect([sealed, after].map((one) => verdictOf(one)['verdict'])).toEqual([
    'replayed',
    'before-key',
  ])
})

test('a person who has signed text cannot write readable private texts with a date before the key', async () => {
  const { incoming } = scene({ hasSigned: true })
  const one = words()
  await incoming.open([one])
  expect(verdictOf(one)['verdict']).toBe('plaintext-in-protected')
})
