import { setImmediate as turn } from 'node:timers/promises'
import { describe, expect, test, vi } from 'vitest'
import { useFakeTime } from '../support/fake-time.ts'
import {
  EngineUnavailableError,
  NoResponseError,
  OperatorError,
  Refusal,
} from '../../src/errors.ts'
import { Batches } from '../../src/translate/batch.ts'
import type { FoundMessage } from '../../src/kernel/opening/find-messages.ts'
import { transientErrorIn } from '../../src/kernel/opening/finding.ts'
import {
  DAMAGED,
  SHORT,
  asking,
  damaged,
  findings,
  never,
  scene,
  sealed,
  words,
} from './batch-scene.ts'
import { found, partsOf } from '../kernel/opening/examine-scene.ts'

useFakeTime({ toFake: ['performance'] }, 1_000_000)

test('a batch is answered up to its first slow update, and later verdicts are cached for the next batch', async () => {
  const slow = vi.fn(() => never)
  const { batches, opening } = scene((armored) =>
    armored === 'slow' ? slow() : Promise.resolve(DAMAGED),
  )
  const updates = ['a', 'b', 'slow', 'c'].map(sealed)
  expect(findings(await batches.examine(updates))).toEqual([[damaged()], [damaged()]])
  const [, , signal] = opening.mock.calls[2] ?? []
  expect(signal?.aborted).toBe(true)
  slow.mockResolvedValue(DAMAGED as never)
  expect(await batches.examine(updates.slice(2))).toHaveLength(2)
  expect(opening.mock.calls.map(([armored]) => armored)).toEqual(['a', 'b', 'slow', 'c', 'slow'])
  await batches.examine(updates)
  expect(opening, 'what was answered is not kept').toHaveBeenCalledTimes(9)
})

test('a batch waits longer for its first update and then returns that update alone', async () => {
  const { promise, resolve } = Promise.withResolvers<object>()
  const { batches } = scene((armored) => (armored === 'first' ? promise : never), {
    ...SHORT,
    firstMs: 60_000,
  })
  const examining = batches.examine(['first', 'second'].map(sealed))
  setTimeout(() => resolve(DAMAGED), 80)
  expect(findings(await examining)).toEqual([[damaged()]])
})

test('a first update that is not opened in three batches is withheld', async () => {
  const { batches } = scene(() => never)
  const both = [...sealed('a'), found({ text: 'words' }, { messageId: 4 })]
  const onLeft = vi.fn()
  for (let tries = 1; tries < 3; tries++) {
    expect(await batches.examine([both, sealed('b')], { onLeft })).toEqual([])
    expect(await batches.examine([sealed(`other ${tries}`)])).toEqual([])
  }
  expect(onLeft.mock.calls).toEqual([[{ index: 0, why: 'ours' }], [{ index: 0, why: 'ours' }]])
  const judged = await batches.examine([both, sealed('b')])
  expect(findings(judged)).toEqual([
    [damaged('deadline'), { kind: 'plain', verdict: 'mode-unknown' }],
  ])
  expect(
    judged[0]?.map(({ finding, ms, found: { messageId } }) => [
      transientErrorIn(finding),
      ms,
      messageId,
    ]),
  ).toEqual([
    [null, 0, 3],
    [null, 0, 4],
  ])
})

test('an examined Message has the duration of its opening', async () => {
  const { batches } = scene(() => {
    vi.advanceTimersByTime(12)
    return Promise.resolve(DAMAGED)
  })
  expect((await batches.examine([sealed('a')]))[0]?.[0]?.ms).toBe(12)
})

test('a message whose opening fails unexpectedly three times is withheld, and others are delivered', async () => {
  const patient = { ...SHORT, budgetMs: 10_000, firstMs: 10_000 }
  const { batches, opening } = scene(
    (armored) => (armored === 'odd' ? Promise.reject(new Error('odd')) : Promise.resolve(DAMAGED)),
    patient,
  )
  expect(findings(await batches.examine([sealed('odd'), sealed('a')]))).toEqual([
    [damaged('failed')],
    [damaged()],
  ])
  expect(opening.mock.calls.filter(([armored]) => armored === 'odd').length).toBe(3)
  const odd = asking(() => Promise.resolve('open'))
  odd.all.protectedChats = {
    has: () => {
      throw new Error('odd')
    },
  } as never
  expect(findings(await new Batches(partsOf(odd.all), patient).examine([words('a')]))).toEqual([
    [{ kind: 'plain', verdict: 'mode-unknown' }],
  ])
})

test('an update that the sidecar itself fails to open is left with all later ones, and tried once a batch', async () => {
  const patient = { ...SHORT, budgetMs: 10_000, firstMs: 10_000 }
  for (const error of [
    new EngineUnavailableError('no thread can be started'),
    new OperatorError('store-corrupt', 'damaged'),
    new Refusal('postern_store_unwritable'),
    new RangeError('Array buffer allocation failed'),
  ]) {
    const { batches, opening } = scene(
      (armored) => (armored === 'bad' ? Promise.reject(error) : Promise.resolve(DAMAGED)),
      patient,
    )
    const onLeft = vi.fn()
    const updates = [sealed('a'), sealed('bad'), sealed('b')]
    expect(findings(await batches.examine(updates, { onLeft }))).toEqual([[damaged()]])
    expect(onLeft.mock.calls).toEqual([[{ index: 1, why: 'ours' }]])
    for (let polls = 0; polls < 5; polls++) {
      const failing = batches.examine(updates.slice(1))
      const isBroken = error instanceof OperatorError
      await expect(failing).rejects.toMatchObject(isBroken ? error : { extra: { retryAfter: 2 } })
    }
    expect(opening.mock.calls.map(([armored]) => armored)).toEqual([
      'a',
      'bad',
      'b',
      ...Array.from({ length: 5 }, () => 'bad'),
    ])
    opening.mockImplementation(() => Promise.resolve(DAMAGED))
    expect(findings(await batches.examine(updates.slice(1)))).toEqual([[damaged()], [damaged()]])
  }
})

describe('a failed lookup in a batch', () => {
  const times = { ...SHORT, budgetMs: 60_000 }
  const failure = () => Promise.reject(new NoResponseError('postern_upstream_timeout'))

  test('a failed lookup of a chat’s mode is repeated, and its second answer decides', async () => {
    const { batches, all } = asking(() => Promise.resolve('open'), times)
    all.mode.mockImplementationOnce(failure)
    const [[one] = []] = await batches.examine([words('a')])
    expect(one?.finding).toEqual({ kind: 'untouched' })
    expect(all.mode).toHaveBeenCalledTimes(2)
  })

  test('a Message whose lookup fails three times is withheld', async () => {
    const { batches, all } = asking(failure, times)
    const [[one] = []] = await batches.examine([words('a')])
    expect(one?.finding).toEqual({
      kind: 'plain',
      verdict: 'mode-unknown',
      transientError: 'failed',
    })
    expect(all.mode).toHaveBeenCalledTimes(3)
  })

  test.each([
    [5000, 2],
    [5001, 1],
  ])('a lookup that fails after %i ms is made %i times', async (tookMs, count) => {
    const { batches, all } = asking(() => Promise.resolve('open'), times)
    all.mode.mockImplementationOnce(() => {
      vi.advanceTimersByTime(tookMs)
      return failure()
    })
    await batches.examine([words('a')])
    expect(all.mode).toHaveBeenCalledTimes(count)
  })

  test('a failed lookup is not repeated once the caller has left', async () => {
    const gone = new AbortController()
    const { batches, all } = asking(() => Promise.resolve('open'), times)
    all.mode.mockImplementation(async () => {
      gone.abort()
      for (let turns = 0; turns < 3; turns++) await turn()
      return await failure()
    })
    expect(await batches.examine([words('a')], { gone: gone.signal })).toEqual([])
    await batches.examine([words('b')])
    expect(all.mode.mock.calls.length, 'once for the first, three times for the second').toBe(4)
  })
})

describe('a batch whose call budget is used up', () => {
  const times = { ...SHORT, budgetMs: 60_000, busyMs: 5000 }
  const busy = () => Promise.reject(new Refusal('postern_busy'))

  test('a batch whose call budget is used up returns the updates before, and the next batch the others', async () => {
    const { batches, all } = asking(() => Promise.resolve('open'), times)
    all.mode.mockResolvedValueOnce('open').mockImplementationOnce(busy)
    const updates = ['a', 'b', 'c'].map(words)
    expect(findings(await batches.examine(updates))).toEqual([[{ kind: 'untouched' }]])
    expect(findings(await batches.examine(updates.slice(1)))).toHaveLength(2)
    expect(all.mode.mock.calls.length, 'what was behind is kept').toBe(4)
  })

  test('a first update waits over several batches for the call budget and is withheld after `busyMs`', async () => {
    const { batches, all } = asking(busy, times)
    expect(await batches.examine([words('a')])).toEqual([])
    vi.advanceTimersByTime(4999)
    expect(await batches.examine([words('a')])).toEqual([])
    vi.advanceTimersByTime(1)
    expect(findings(await batches.examine([words('a')]))).toEqual([
      [{ kind: 'plain', verdict: 'mode-unknown', transientError: 'busy' }],
    ])
    expect(all.mode).toHaveBeenCalledTimes(3)
  })

  test('the waiting time of one first update does not count for another', async () => {
    const { batches } = asking(busy, times)
    expect(await batches.examine([words('a')])).toEqual([])
    vi.advanceTimersByTime(5000)
    expect(await batches.examine([words('b')])).toEqual([])
    expect(await batches.examine([words('a')])).toHaveLength(1)
  })

  test('an update waits for each of its Messages and is examined again as a whole', async () => {
    const { batches, all } = asking(() => Promise.resolve('open'), times)
    const mixed = (): FoundMessage[] => [
      found({ text: 'a' }),
      found({ text: 'b' }, { chatId: 51, updateChatId: 51 }),
    ]
    all.mode.mockImplementationOnce(busy)
    expect(await batches.examine([mixed()])).toEqual([])
    expect(findings(await batches.examine([mixed()]))).toEqual([
      [{ kind: 'untouched' }, { kind: 'untouched' }],
    ])
    expect(all.mode).toHaveBeenCalledTimes(4)
  })
})
