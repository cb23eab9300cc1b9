import { sightingsOf, unseen } from '../../support/unseen.ts'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { useFakeTime } from '../../support/fake-time.ts'
import { NoResponseError } from '../../../src/errors.ts'
import { PeopleObserver, type PeopleObserverParts } from '../../../src/kernel/people/observe.ts'
import type { Person } from '../../../src/kernel/people/person.ts'
import { Certificates } from '../../../src/kernel/people/certificates.ts'
import type { KeyList } from '../../../src/kernel/lookups.ts'
import { Directory } from '../../../src/service/lookups/directory.ts'
import type { CertificateStatus } from '../../../src/openpgp/engine.ts'
import { judging, printOf, recordOf } from '../../kernel/people/people-scene.ts'
import { serviceError } from '../../keys/support.ts'
import { MOST_RECIPIENTS } from '../../../src/openpgp/size.ts'

useFakeTime({ now: 1_000_000 })

/** The part of a person by which their keys are known. */
const keysOf = ({ userId, certificateStatus }: Person) => ({ userId, certificateStatus })

/**
 * A directory whose service answers as told.
 * @param special what certificates of some names are instead of usable
 */
function scene(special: Record<string, Partial<CertificateStatus>> = {}) {
  const asked: string[] = []
  const learned: unknown[] = []
  const answers = new Map<string, unknown>()
  const answer = async (of: string): Promise<unknown> => {
    asked.push(of)
    const given = answers.has(of) ? answers.get(of) : serviceError(404)
    if (given instanceof Error) throw given
    return given
  }
  const learn =
    (what: string) =>
    async (...given: unknown[]): Promise<void> =>
      void learned.push([what, ...given])
  const parts: PeopleObserverParts = {
    certificates: {
      judge: judging(special),
      keepCopies: async () => {},
      rememberRevoked: async () => {},
      isRevokedSince: () => false,
      refreshList: (list: KeyList, nowMs: number) =>
        Certificates.prototype.refreshList.call(parts.certificates, list, nowMs),
      refreshPerson: (person: Person, nowMs: number) =>
        Certificates.prototype.refreshPerson.call(parts.certificates, person, nowMs),
    },
    trust: { saw: learn('listed'), isRemembered: () => true },
    keyListHistory: {
      saw: learn('list'),
      recordOwnKeys: async () => {},
      recordStripped: async () => {},
    },
    knownKeys: {
      saw: (source: string, listed: Person[]) => learn('keys')(source, listed.map(keysOf)),
    },
    own: () => new Set(),
  } as unknown as PeopleObserverParts
  const observer = new PeopleObserver(parts)
  const directory = new Directory({
    sightings: sightingsOf({ people: observer }),
    certificates: parts.certificates,
    calls: {
      chatKeys: unseen((chatId: number) => answer(`chat ${chatId}`)),
      userKey: unseen((userId: number) => answer(`person ${userId}`)),
    },
  })
  const list = (chatId: number, ...keys: unknown[]) => void answers.set(`chat ${chatId}`, { keys })
  return { directory, asked, learned, answers, list }
}

describe('a key list', () => {
  test('a key list is fetched once, and again when it is too old or was dropped', async () => {
    const { directory, asked, list } = scene()
    list(7, recordOf(1, 'ann'))
    const first = await directory.keyList(7, performance.now())
    const { people } = first
    expect(await directory.keyList(7, 0)).toBe(first)
    // what is made of an array of people is found by it
    expect(first.people).toBe(people)
    expect(asked).toEqual(['chat 7'])
    vi.advanceTimersByTime(10)
    await directory.keyList(7, performance.now())
    directory.forget(7)
    await directory.keyList(7, 0)
    directory.forgetAll()
    await directory.keyList(7, 0)
    expect(asked).toEqual(['chat 7', 'chat 7', 'chat 7', 'chat 7'])
    expect(directory.lookups.lists).toEqual({ hits: 1, misses: 4 })
  })

  test('a key list is recorded with the keys of every listed person', async () => {
    const { directory, learned, list } = scene()
    list(7, recordOf(1, 'ann'))
    const { people } = await directory.keyList(7, 0)
    expect(learned.slice(1)).toEqual([
      ['keys', 'chat 7', people.map(keysOf)],
      ['list', 7, people],
    ])
  })

  test('a key list with one key above the limit is not judged or recorded', async () => {
    const { directory, learned, list } = scene()
    const keys = Array.from({ length: 2 * MOST_RECIPIENTS + 1 }, (_, id) => recordOf(id, 'ann'))
    list(7, ...keys.slice(1))
    list(8, ...keys)
    expect(await directory.keyList(7, 0)).toMatchObject({ tooMany: null, nameless: 0 })
    const before = learned.length
    expect(await directory.keyList(8, 0)).toMatchObject({
      people: [],
      tooMany: keys.length,
      lapsesAtMs: Infinity,
    })
    expect(learned).toHaveLength(before)
  })

  test('a key list counts keys with no owner or two owners, and has the number of members', async () => {
    const { directory, answers } = scene()
    const { userId: _none, ...nobodys } = recordOf(0, 'nobody')
    const keys = [recordOf(1, 'ann'), nobodys, { ...recordOf(2, 'two'), user: { id: 3 } }]
    answers.set('chat 7', { keys, memberCount: 9 })
    const list = await directory.keyList(7, 0)
    expect(list).toMatchObject({ nameless: 2, memberCount: 9, tooMany: null, lapsesAtMs: Infinity })
    expect(list.people).toMatchObject([{ userId: 1, unusable: null }])
  })

  test.each<[unknown]>([
    [null],
    [{ keys: 'none' }],
    [{ keys: [], memberCount: 1.5 }],
    [{ keys: [], memberCount: '9' }],
    [{ keys: [], memberCount: null }],
  ])('a response %j is rejected as a key list', async (result) => {
    const { directory, answers } = scene()
    answers.set('chat 7', result)
    const asked = directory.keyList(7, 0)
    await expect(asked).rejects.toThrow(NoResponseError)
    await expect(asked).rejects.toMatchObject({
      code: 'postern_upstream_invalid',
      message: expect.stringContaining('a key list'),
    })
  })

  test('a key list that does not fit into the cache evicts the lists before it', async () => {
    // a certificate, and about 1 KiB beside it, for each of two persons: 64 MiB and a little
    const armored = 'x'.repeat(2 ** 25 - 512)
    const { directory, asked, list } = scene({ ann: { armored } })
    list(7, recordOf(1, 'ann'))
    list(8, recordOf(2, 'ann'))
    for (const chatId of [7, 8, 8, 7]) await directory.keyList(chatId, 0)
    expect(asked).toEqual(['chat 7', 'chat 8', 'chat 7'])
    const fits = scene({ ann: { armored: armored.slice(512) } })
    for (const chatId of [7, 8]) fits.list(chatId, recordOf(chatId, 'ann'))
    for (const chatId of [7, 8, 7]) await fits.directory.keyList(chatId, 0)
    expect(fits.asked).toEqual(['chat 7', 'chat 8'])
    const own = scene({ ann: { armored } })
    own.list(7)
    for (const userId of [1, 2]) own.answers.set(`person ${userId}`, recordOf(userId, 'ann'))
    for (const userId of [1, 2, 2, 1]) await own.directory.signer(userId, 7)
    expect(own.asked).toEqual(['chat 7', 'person 1', 'person 2', 'person 1'])
  })

  test('a key list expires with its first usable certificate', async () => {
    const { directory, list } = scene({
      ann: { expiresMs: 3_000_000 },
      ben: { expiresMs: 2_000_000 },
      cid: { expiresMs: 500, unusable: 'expired' },
    })
    list(7, recordOf(1, 'ann'), recordOf(2, 'ben'), recordOf(3, 'cid'), recordOf(4, 'dan'))
    expect((await directory.keyList(7, 0)).lapsesAtMs).toBe(2_000_000)
    list(8)
    expect((await directory.keyList(8, 0)).lapsesAtMs).toBe(Infinity)
  })

  test('an expired certificate in a cached key list is judged again, and no other certificate', async () => {
    const special: Record<string, Partial<CertificateStatus>> = {
      ann: { expiresMs: 2_000_000 },
      ben: { expiresMs: 3_000_000 },
      cid: { expiresMs: 500, unusable: 'revoked' },
    }
    const { directory, asked, list } = scene(special)
    list(7, recordOf(1, 'ann'), recordOf(2, 'ben'), recordOf(3, 'cid'))
    await directory.keyList(7, 0)
    for (const name of ['ann', 'ben', 'cid']) special[name] = { unusable: 'expired', expiresMs: 9 }
    vi.setSystemTime(1_999_999)
    const reasons = async () =>
      (await directory.keyList(7, 0)).people.map(({ unusable }) => unusable)
    expect(await reasons()).toEqual([null, null, 'revoked'])
    vi.setSystemTime(2_000_000)
    expect(await reasons()).toEqual(['expired', null, 'revoked'])
    const list7 = await directory.keyList(7, 0)
    expect(list7.people[0]?.certificateStatus.unusable).toBe('expired')
    expect([list7.lapsesAtMs, asked]).toEqual([3_000_000, ['chat 7']])
  })
})

describe('the certificate of a signer', () => {
  test('a signer is found in the key list of the chat, and otherwise in the record of the person', async () => {
    const { directory, asked, answers, list, learned } = scene()
    list(7, recordOf(1, 'ann'))
    answers.set('person 2', recordOf(2, 'ben'))
    expect((await directory.signer(1, 7))?.fingerprint).toBe(printOf('ann'))
    expect(asked).toEqual(['chat 7'])
    const ben = await directory.signer(2, 7)
    expect(ben?.fingerprint).toBe(printOf('ben'))
    expect(asked).toEqual(['chat 7', 'person 2'])
    expect(learned.slice(-2)).toEqual([
      ['listed', [{ userId: 2, fingerprint: printOf('ben') }]],
      ['keys', 'person 2', [keysOf(ben!)]],
    ])
    expect(learned).toHaveLength(5)
    expect(directory.lookups.people).toEqual({ hits: 0, misses: 1 })
    directory.forgetAll()
    await directory.signer(2, 7)
    expect(asked).toHaveLength(4)
  })

  test('a signer with two keys in the list has the certificate of the record, in either order', async () => {
    const forged = recordOf(1, 'ben')
    const real = recordOf(1, 'ann')
    for (const keys of [
      [forged, real],
      [real, forged],
    ]) {
      const { directory, asked, answers, list } = scene()
      list(7, ...keys)
      answers.set('person 1', real)
      expect((await directory.signer(1, 7))?.fingerprint).toBe(printOf('ann'))
      expect(asked).toEqual(['chat 7', 'person 1'])
    }
  })

  test('a signer without a key at the service is null, and the recorded listing is cleared', async () => {
    const { directory, learned, list } = scene()
    list(7)
    expect(await directory.signer(2, 7)).toBeNull()
    expect(learned).toContainEqual(['listed', [{ userId: 2, fingerprint: null }]])
  })

  test('a record that names another person, or none, gives no signer and clears no listing', async () => {
    const { directory, answers, list, learned } = scene()
    list(7)
    answers.set('person 2', recordOf(3, 'cid'))
    answers.set('person 4', { publicKey: 'none' })
    expect(await directory.signer(2, 7)).toBeNull()
    const before = learned.length
    expect(await directory.signer(4, 7)).toBeNull()
    // which takes nothing back
    expect(learned).toHaveLength(before)
  })

  test('a signer may be ten minutes old, unless the caller needs a newer one', async () => {
    const { directory, asked, answers, list } = scene()
    vi.advanceTimersByTime(3_600_000)
    list(7)
    answers.set('person 2', recordOf(2, 'ben'))
    await directory.signer(2, 7)
    vi.advanceTimersByTime(600_000)
    await directory.signer(2, 7)
    expect(asked).toEqual(['chat 7', 'person 2'])
    vi.advanceTimersByTime(1)
    await directory.signer(2, 7)
    expect(asked).toHaveLength(4)
    vi.advanceTimersByTime(1)
    await directory.signer(2, 7, performance.now())
    expect(asked).toHaveLength(6)
  })

  test.each([400, 403, 404, 428])(
    'a signer is found in the record of the person where the service refuses the list with %i',
    async (status) => {
      const { directory, answers } = scene()
      answers.set('chat 7', serviceError(status))
      answers.set('person 2', recordOf(2, 'ben'))
      expect((await directory.signer(2, 7))?.userId).toBe(2)
    },
  )

  test.each([
    serviceError(401),
    serviceError(429),
    serviceError(500),
    new NoResponseError('postern_upstream_timeout', 'late'),
  ])('a signer lookup rejects where the list fails with %s', async (error) => {
    const { directory, answers, asked } = scene()
    answers.set('chat 7', error)
    await expect(directory.signer(2, 7)).rejects.toBe(error)
    expect(asked).toEqual(['chat 7'])
  })

  test.each([
    serviceError(403),
    serviceError(500),
    new NoResponseError('postern_upstream_timeout', 'late'),
  ])(
    'a signer lookup rejects where the record fails with %s, and clears no listing',
    async (error) => {
      const { directory, answers, list, learned } = scene()
      list(7)
      answers.set('person 2', error)
      await expect(directory.signer(2, 7)).rejects.toBe(error)
      expect(learned.flat()).not.toContainEqual([{ userId: 2, fingerprint: null }])
    },
  )
})

test('an update by a person who is not on the key list drops the list, and no other person does', async () => {
  const { directory, asked, list } = scene()
  list(7, recordOf(1, 'ann'), recordOf(5, 'eve'))
  await directory.keyList(7, 0)
  await directory.signer(2, 7)
  asked.length = 0
  // one on the list, and one known to have no key
  for (const userId of [1, 2]) directory.sawPerson(7, userId)
  await directory.keyList(7, 0)
  expect(asked).toHaveLength(0)
  // a chat without a list has none to drop
  for (const chatId of [7, 8]) directory.sawPerson(chatId, 3)
  await directory.keyList(7, 0)
  expect(asked).toHaveLength(1)
})

test('a signer is fetched again without success at most three times a minute in each chat', () => {
  // the cache below has its clock from before these timers
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  let nowMs = 1_000_000
  vi.spyOn(performance, 'now').mockImplementation(() => nowMs)
  onTestFinished(() => void vi.restoreAllMocks())
  const pass = (ms: number): void => {
    nowMs += ms
    vi.advanceTimersByTime(ms)
  }
  const { directory } = scene()
  const may = () => [
    directory.mayAskAgain(1, 7),
    directory.mayAskAgain(1, 8),
    directory.mayAskAgain(2, 7),
  ]
  for (let turn = 0; turn < 2; turn++) directory.askedInVain(1, 7)
  expect(may()).toEqual([true, true, true])
  pass(30_000)
  directory.askedInVain(1, 7)
  expect(may()).toEqual([false, true, true])
  // a minute since the first, not since the last
  pass(30_001)
  expect(may()).toEqual([true, true, true])
  for (let turn = 0; turn < 3; turn++) directory.askedInVain(1, 7)
  directory.forgetAll()
  expect(may()).toEqual([true, true, true])
})
