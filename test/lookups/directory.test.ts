import { sightingsOf, unseen } from '../support/unseen.ts'
import { agreeingClocks } from '../support/judging-clock.ts'
import { afterAll, expect, test } from 'vitest'
import { NoResponseError } from '../../src/errors.ts'
import { Certificates } from '../../src/kernel/people/certificates.ts'
import { Directory } from '../../src/lookups/directory.ts'
import { Journal } from '../../src/kernel/people/journal.ts'
import { KeyListHistory } from '../../src/kernel/people/key-list-history.ts'
import { KnownKeys } from '../../src/kernel/people/known-keys.ts'
import { PeopleObserver } from '../../src/kernel/people/observe.ts'
import { Findings } from '../../src/kernel/people/findings.ts'
import { People } from '../../src/kernel/people/people.ts'
import { Trust } from '../../src/kernel/people/trust.ts'
import { createEngine } from '../../src/openpgp/create.ts'
import { open, temporary } from '../store/support.ts'
import { testPerson } from '../support/openpgp-people.ts'
import { memoryOf } from '../../src/store/memory.ts'

const engine = createEngine({ threads: 1 })
afterAll(() => engine[Symbol.asyncDispose]())

/** A directory whose service answers every key list with `result`. */
async function listing(result: unknown): Promise<Directory> {
  const store = await open(temporary())
  const journal = new Journal(memoryOf(store))
  const people = await People.load(memoryOf(store))
  const certificates = await Certificates.load({ engine, memory: memoryOf(store), journal })
  const observer = new PeopleObserver({
    certificates,
    trust: await Trust.load({
      memory: memoryOf(store),
      journal,
      people,
      policy: 'accept',
      clocks: agreeingClocks(),
    }),
    keyListHistory: new KeyListHistory(memoryOf(store), journal),
    knownKeys: new KnownKeys(memoryOf(store)),
    findings: new Findings(memoryOf(store), journal, () => new Set()),
  })
  return new Directory({
    sightings: sightingsOf({ people: observer }),
    certificates,
    calls: {
      chatKeys: unseen(async () => result),
      userKey: () => Promise.reject(new Error('not asked')),
    },
  })
}

const record = (name: string, more: Record<string, unknown>): Record<string, unknown> => {
  const { certificate, primary } = testPerson(name)
  return { publicKey: certificate, fingerprint: primary.fingerprint, ...more }
}

test('a list counts the keys that belong to nobody, or to two, and says how many members there are', async () => {
  const keys = [
    record('ann', { userId: 1 }),
    record('nobody', {}),
    record('two', { userId: 2, user: { id: 3 } }),
  ]
  const list = await (await listing({ keys, memberCount: 9 })).keyList(7, 0)
  expect(list).toMatchObject({ nameless: 2, memberCount: 9, tooMany: null, lapsesAtMs: Infinity })
  expect(list.people.map(({ userId, unusable }) => ({ userId, unusable }))).toEqual([
    { userId: 1, unusable: null },
  ])
})

test.each([[null], [{ keys: 'none' }], [{ keys: [], memberCount: 1.5 }]])(
  '%j is no key list',
  async (result) => {
    const asked = (await listing(result)).keyList(7, 0)
    await expect(asked).rejects.toThrow(NoResponseError)
    await expect(asked).rejects.toMatchObject({
      code: 'postern_upstream_invalid',
      message: expect.stringContaining('a key list'),
    })
  },
)

test('of more keys than fit into any message it is known how many, and none is judged', async () => {
  const keys = Array.from({ length: 10_000 }, (_, index) => ({ userId: index }))
  const list = await (await listing({ keys, memberCount: 20_000 })).keyList(7, 0)
  expect(list).toMatchObject({ people: [], nameless: 0, tooMany: 10_000, memberCount: 20_000 })
})
