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

describe('a store that cannot be written', () => {
  test.each(['batch', 'rememberSigned', 'saw', 'sawNotices', 'rewrite'] as const)(
    'where %s fails leaves all updates at the service, and gives no verdict',
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

  test('lets what is before the first opened message be answered, and nothing behind it', async () => {
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
  ])('lets what is before the first update with %s be answered', async (what, message) => {
    const { incoming, all, told, leavings } = scene({ ...open, open: signedBy() })
    const words = () => update({ armored: undefined, text: 'words', chat: { id: 51 } })
    const updates = [words(), words(), update(message, 9), words()]
    if (what === 'a file') all.rewrite.mockResolvedValue({ changed: true, count: 2 })
    else all[what === 'a notice' ? 'sawNotices' : 'saw'].mockImplementation(unwritable)
    if (what === 'a chat that is new') all.unwritten.add(50)
    expect(await incoming.open(updates)).toEqual({ updates: updates.slice(0, 2), changed: true })
    expect([told, leavings]).toMatchObject([[[]], [{ updateId: 9, why: 'ours' }]])
    expect(all.forget).not.toHaveBeenCalled()
  })

  test('lets nothing be answered where what others have learned cannot be read', async () => {
    const { incoming, all } = scene({ ...open }, { fresh: unwritable })
    all.unwritten.add(50)
    all.saw.mockImplementation(async (_sightings, fresh) => await fresh())
    const words = update({ armored: undefined, text: 'words', chat: { id: 51 } })
    await expect(incoming.open([words, update()])).rejects.toMatchObject(UNWRITABLE)
    expect(all.sawPerson).not.toHaveBeenCalled()
  })

  test('is not a chat too many, which is judged as an unknown one', async () => {
    const { incoming, all } = scene({ open: openedAs() })
    all.saw.mockRejectedValue(new TooManyChatsError('postern_store_unwritable'))
    const one = update()
    await incoming.open([one])
    expect(verdictOf(one)['verdict']).toBe('unsigned')
  })

  test.each(['batch', 'saw', 'rewrite'] as const)(
    'is not what else %s fails with',
    async (name) => {
      for (const error of [new Error('odd'), new Refusal('postern_locked')]) {
        const { incoming, all } = scene({ open: openedAs() })
        all[name].mockRejectedValue(error)
        await expect(incoming.open([update()])).rejects.toBe(error)
      }
    },
  )

  test('is not asked for what nobody sealed', async () => {
    const { incoming, all } = scene()
    await incoming.open([update({ armored: undefined, text: 'words' })])
    expect(all.batch).not.toHaveBeenCalled()
  })
})

describe('what an update says of chats', () => {
  test('is learned: their kinds, and whose a private one is', async () => {
    const { incoming, all } = scene({ open: openedAs() })
    await incoming.open([update({ text: 'x', replyTo: { text: 'y', from: { id: 9 } } })])
    expect(sightings(all)).toEqual([
      [
        { chatId: 50, kind: 'private' },
        { chatId: 50, kind: 'private' },
        { chatId: 50, userId: ALICE },
      ],
    ])
  })

  test('is not learned without a kind or a number', async () => {
    const { incoming, all } = scene({ open: openedAs() })
    await incoming.open([update({ chat: { id: 50 } }), update({ chat: { kind: 'group' } })])
    expect(sightings(all)).toEqual([[{ chatId: 50, userId: ALICE }]])
  })

  test.each([
    ['the bot', { from: { id: BOT } }],
    ['nobody', { from: undefined }],
    ['a notice', { kind: 'joined', armored: undefined }],
  ])('of its person is not learned from %s', async (_who, message) => {
    const { incoming, all } = scene({ open: openedAs() })
    await incoming.open([update(message)])
    expect(persons(all)).toEqual([[]])
  })

  test('of its person is not learned from a press, or from a Message of another chat', async () => {
    const { incoming, all } = scene({ open: openedAs() })
    const { message } = update()
    const press = { id: 'p', from: { id: ALICE }, data: 'd', message }
    await incoming.open([{ updateId: 1, kind: 'callback_query', callbackQuery: press }])
    const elsewhere = { ...update().message, chat: { id: 51, kind: 'private' } }
    await incoming.open([{ ...update(), beside: elsewhere }])
    expect(persons(all)).toEqual([[], [{ chatId: 50, userId: ALICE }]])
  })

  test('makes key lists stale: by whoever writes there, the bot apart', async () => {
    const { incoming, all } = scene({ open: openedAs() })
    await incoming.open([
      update(),
      update({ from: { id: BOT } }),
      update({ from: undefined }),
      update({ chat: undefined }),
    ])
    expect([all.sawPerson.mock.calls, all.forget.mock.calls]).toEqual([[[50, ALICE]], []])
  })

  test('as a notice makes lists and modes stale, whoever it is about', async () => {
    const { incoming, all } = scene()
    for (const from of [{ id: ALICE }, { id: BOT }, undefined]) {
      await incoming.open([update({ kind: 'joined', armored: undefined, from })])
    }
    expect(all.sawPerson.mock.calls).toEqual([
      [50, null],
      [50, null],
      [50, null],
    ])
    expect(all.forget.mock.calls).toEqual([[50], [50], [50]])
  })
})

describe('an answer', () => {
  test('of which nothing has to be changed says so', async () => {
    const { incoming, told } = scene(open)
    const one = update({ armored: undefined, text: 'words' })
    const before = structuredClone(one)
    expect(await incoming.open([one])).toEqual({ updates: [before], changed: false })
    expect(told).toEqual([[]])
    expect(await incoming.open([])).toEqual({ updates: [], changed: false })
  })

  test('of which something stood under our name, or a url is ours now, is changed', async () => {
    const { incoming, all } = scene(open)
    const one = update({ armored: undefined, text: 'words', postern: { verdict: 'verified' } })
    expect((await incoming.open([one])).changed).toBe(true)
    expect(one.message).not.toHaveProperty('postern')
    all.rewrite.mockResolvedValue({ changed: true, count: 1 })
    const named = update({ armored: undefined, text: 'words' })
    expect((await incoming.open([named])).changed).toBe(true)
    expect(all.rewrite.mock.calls[1]).toEqual([[{ update: named, chatId: 50 }]])
  })

  test('speaks of no chat where its updates do not', async () => {
    const { incoming, all } = scene(open)
    await incoming.open([{ updateId: 1, kind: 'new' }])
    expect(all.rewrite.mock.calls).toEqual([
      [[{ update: { updateId: 1, kind: 'new' }, chatId: null }]],
    ])
  })

  test('has a hundred updates at most, and those beyond wait', async () => {
    const { incoming } = scene(open)
    const all = Array.from({ length: 101 }, (_, n) =>
      update({ armored: undefined, text: 'words' }, n),
    )
    const { updates, changed } = await incoming.open(all)
    expect([updates, changed]).toEqual([all.slice(0, 100), true])
  })

  test('for one who has left is empty, and what it says of chats is learned', async () => {
    const { incoming, all, told } = scene({ open: openedAs() })
    expect(await incoming.open([update()], { gone: AbortSignal.abort() })).toEqual({
      updates: [],
      changed: true,
    })
    expect([all.saw.mock.calls.length, all.batch.mock.calls, told]).toEqual([1, [], [[]]])
  })

  test('gives a quotation that was judged as nothing back as it was', async () => {
    const { incoming } = scene(open)
    const one = update({ armored: undefined, text: 'words', replyTo: 'what they said' })
    await incoming.open([one])
    expect(one.message['replyTo']).toBe('what they said')
  })
})

describe('Messages beyond those that are looked at', () => {
  const many = (one: object) => ({
    ...update({ armored: undefined, text: 'words' }),
    list: Array.from({ length: 100 }, () => ({ text: 'x' })),
    surplus: one,
  })

  test('give nothing of them as words', async () => {
    const { incoming, told } = scene(open)
    const [text, armored] = [many({ text: 'words' }), many({ armored: 'x', text: 'words' })]
    expect((await incoming.open([text])).changed).toBe(true)
    await incoming.open([armored])
    expect(text.surplus).toEqual({
      postern: { opened: false, verdict: 'mode-unknown', withheldText: 'words' },
    })
    expect(armored.surplus).toEqual({
      armored: 'x',
      postern: {
        opened: false,
        verdict: 'too-large',
        reason: 'too-many-messages',
        withheldText: 'words',
      },
    })
    expect(told.flat()).toEqual([])
  })
})

describe('a batch that took long', () => {
  useFakeTime({ toFake: ['performance'] })

  /** What takes long by the clock of a test. */
  const costly = (outcome: object) =>
    vi.fn(() => {
      vi.advanceTimersByTime(1000)
      return Promise.resolve(outcome)
    })

  test('for nothing is answered after those that came later and were delivered', async () => {
    const answered: string[] = []
    const withheld = scene({ open: costly({ outcome: 'damaged' }) })
    const delivered = scene({ open: costly(SIGNED) })
    await Promise.all([
      withheld.incoming.open([update()]).then(() => answered.push('withheld')),
      delivered.incoming.open([update()]).then(() => answered.push('delivered')),
    ])
    expect(answered).toEqual(['delivered', 'withheld'])
  })

  test('for nothing is answered at once to one who leaves meanwhile', async () => {
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

  test('is not one that took next to nothing, however late it came', async () => {
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

describe('readable private words from before the key', () => {
  const words = () => update({ armored: undefined, text: 'words' })

  test('are so until something sealed of the person’s was opened in the chat', async () => {
    const { incoming, all } = scene({ open: signedBy() })
    const [before, sealed, after] = [words(), update(), words()]
    await incoming.open([before, sealed, after])
    expect([before, sealed, after].map((one) => verdictOf(one)['verdict'])).toEqual([
      'before-key',
      'verified',
      'plaintext-in-protected',
    ])
    expect(all.hasOpened.mock.calls).toEqual([[50, 1]])
    all.hasOpened.mockResolvedValue(true)
    const later = words()
    await incoming.open([later])
    expect(verdictOf(later)).toEqual({
      opened: false,
      verdict: 'plaintext-in-protected',
      withheldText: 'words',
    })
  })

  test('do not end by what was withheld', async () => {
    const { incoming, all } = scene({ open: signedBy() })
    all.recognized.mockResolvedValue('replayed')
    const [sealed, after] = [update(), words()]
    await incoming.open([sealed, after])
    expect([sealed, after].map((one) => verdictOf(one)['verdict'])).toEqual([
      'replayed',
      'before-key',
    ])
  })

  test('end for who has signed, whatever their date', async () => {
    const { incoming } = scene({ hasSigned: true })
    const one = words()
    await incoming.open([one])
    expect(verdictOf(one)['verdict']).toBe('plaintext-in-protected')
  })
})
