import { describe, expect, test } from 'vitest'
import type { Listing } from '../../../src/kernel/people/pins.ts'
import { PeopleObserver, type PeopleObserverParts } from '../../../src/kernel/people/observe.ts'
import { signingCertificate } from '../../../src/kernel/people/person.ts'
import type { Person, Unusable } from '../../../src/kernel/people/person.ts'
import type { CertificateStatus } from '../../../src/openpgp/engine.ts'
import { armoredOf, judging, printOf, recordOf, statusOf } from './people-scene.ts'

/** @param o `forgotten`: people of whom nothing can be remembered */
function scene(
  special: Record<string, Partial<CertificateStatus>> = {},
  o: { forgotten?: number[] } = {},
) {
  const steps: unknown[] = []
  const judged: string[] = []
  const parts = {
    certificates: {
      judge: async (armored: string) => {
        judged.push(armored)
        return await judging(special)(armored)
      },
      keepCopies: async () => {},
      rememberRevoked: async ({ fingerprint }: CertificateStatus, userId: number) =>
        void steps.push({ fingerprint, userId }),
    },
    trust: {
      saw: async (listed: Listing[]) => void steps.push(listed),
      isRemembered: (userId: number) => o.forgotten?.includes(userId) !== true,
    },
    keyListHistory: {
      saw: async () => {},
      recordOwnKeys: async () => {},
      recordStripped: async () => {},
    },
    knownKeys: { saw: async () => {} },
    own: () => new Set(),
  } as unknown as PeopleObserverParts
  return { parts, steps, judged }
}

const read = async (
  records: { userId: number; fingerprint: string | null; publicKey: string | null }[],
  ...given: Parameters<typeof scene>
) => {
  const { parts, ...seen } = scene(...given)
  const answer = { records, memberCount: undefined }
  const { people } = await new PeopleObserver(parts).observeKeyList(7, answer)
  return { people, ...seen }
}

test('each key record gives a person with the computed fingerprint', async () => {
  const { people } = await read([recordOf(1, 'ann'), { ...recordOf(2, 'ben'), fingerprint: null }])
  expect(people).toEqual([
    { userId: 1, fingerprint: printOf('ann'), unusable: null, certificateStatus: statusOf('ann') },
    { userId: 2, fingerprint: printOf('ben'), unusable: null, certificateStatus: statusOf('ben') },
  ])
})

test('a record without a certificate is an unparseable one, and withdraws the person’s listing', async () => {
  const nothing = { fingerprint: null, unusable: 'unparseable' } as const
  const record = { userId: 1, fingerprint: null, publicKey: null }
  const { people, steps, judged } = await read([record], { '': nothing })
  expect(judged).toEqual([''])
  expect(people[0]).toMatchObject({ fingerprint: null, unusable: 'unparseable' })
  expect(steps[0]).toEqual([{ userId: 1, fingerprint: null }])
})

test('a record with another certificate’s fingerprint is no listing, and cannot be sealed to', async () => {
  const { people, steps } = await read([recordOf(1, 'ann', printOf('other'))])
  expect(people[0]).toMatchObject({ fingerprint: printOf('ann'), unusable: 'fingerprint-mismatch' })
  expect(steps[0]).toEqual([])
})

test('a certificate that missed its deadline withdraws no listing', async () => {
  const late = { fingerprint: null, unusable: 'deadline' } as const
  for (const record of [recordOf(1, 'ann'), { ...recordOf(1, 'ann'), fingerprint: null }]) {
    const { people, steps } = await read([record], { ann: late })
    expect(people[0]).toMatchObject({ fingerprint: null, unusable: 'deadline' })
    expect(steps[0]).toEqual([])
  }
})

test('an unparseable certificate cannot be sealed to under any claimed fingerprint', async () => {
  const { people, steps } = await read([recordOf(1, 'ann')], { ann: { fingerprint: null } })
  expect(people[0]?.unusable).toBe('unparseable')
  // whatever fingerprint is said to be its
  expect(steps[0]).toEqual([{ userId: 1, fingerprint: null }])
})

test('a person who cannot be remembered cannot be sealed to', async () => {
  const special = { ann: { unusable: 'expired' } } as const
  const records = [recordOf(1, 'ann'), recordOf(2, 'ann', printOf('other')), recordOf(3, 'ben')]
  const { people } = await read(records, special, { forgotten: [1, 2] })
  expect(people.map(({ unusable }) => unusable)).toEqual([
    'not-remembered',
    'fingerprint-mismatch',
    null,
  ])
  const known = await read(records, special)
  expect(known.people[0]?.unusable).toBe('expired')
})

describe('the certificate against which a person’s signatures are verified', () => {
  const verifying = (unusable: Unusable | null): string | null =>
    signingCertificate({
      userId: 1,
      fingerprint: printOf('ann'),
      unusable,
      certificateStatus: statusOf('ann'),
    })

  test.each<Unusable>([
    'unparseable',
    'secret-key',
    'several-certificates',
    'version',
    'too-large',
    'deadline',
    'fingerprint-mismatch',
    'not-remembered',
  ])('a certificate that is unusable as `%s` verifies no signature', (unusable) => {
    expect(verifying(unusable)).toBeNull()
  })

  test.each<Unusable | null>([
    null,
    'revoked',
    'expired',
    'not-yet-valid',
    'no-encryption-subkey',
    'weak-algorithm',
  ])('a certificate that is unusable as `%s` still verifies signatures', (unusable) => {
    expect(verifying(unusable)).toBe(armoredOf('ann'))
  })
})

test('`keepCopies` receives only certificates that verify something', async () => {
  const { parts } = scene()
  const kept: unknown[] = []
  Object.assign(parts.certificates, {
    keepCopies: async (statuses: CertificateStatus[]) => void kept.push(...statuses),
  })
  const records = [recordOf(1, 'ann'), recordOf(2, 'ben', printOf('other'))]
  await new PeopleObserver(parts).observeKeyList(7, { records, memberCount: undefined })
  expect(kept).toEqual([statusOf('ann')])
})

describe('an answer whose records could not be written', () => {
  const failure = new Error('the store is gone')
  const rejecting = (): Promise<never> => Promise.reject(failure)

  test('an answer is not returned when encryption keys or own keys in it cannot be written', async () => {
    const { parts } = scene()
    Object.assign(parts.knownKeys, { saw: rejecting })
    const answer = { records: [recordOf(1, 'ann')], memberCount: undefined }
    await expect(new PeopleObserver(parts).observeKeyList(7, answer)).rejects.toBe(failure)
    const own = scene().parts
    Object.assign(own.keyListHistory, { recordOwnKeys: rejecting })
    const record = { record: recordOf(1, 'ann') }
    await expect(new PeopleObserver(own).observeUserKey(1, record)).rejects.toBe(failure)
  })

  test.each(['listings', 'copies', 'a revocation', 'the list of the chat', 'own keys'])(
    'a key list is not returned when writing %s fails, and its other parts are recorded',
    async (failing) => {
      const { parts, steps } = scene()
      const keys: unknown[] = []
      const { certificates, trust, keyListHistory, knownKeys } = parts
      Object.assign(knownKeys, {
        saw: async (source: string, people: Person[]) =>
          void keys.push(source, ...people.map(({ userId }) => userId)),
      })
      const revoked = certificates.rememberRevoked.bind(certificates)
      const recorded = {
        listings: () => Object.assign(trust, { saw: rejecting }),
        copies: () => Object.assign(certificates, { keepCopies: rejecting }),
        'a revocation': () =>
          Object.assign(certificates, {
            rememberRevoked: async (...o: Parameters<typeof revoked>) => {
              await revoked(...o)
              throw failure
            },
          }),
        'the list of the chat': () => Object.assign(keyListHistory, { saw: rejecting }),
        'own keys': () => Object.assign(parts.keyListHistory, { recordOwnKeys: rejecting }),
      }
      recorded[failing as keyof typeof recorded]()
      const answer = { records: [recordOf(1, 'ann'), recordOf(2, 'ben')], memberCount: undefined }
      await expect(new PeopleObserver(parts).observeKeyList(7, answer)).rejects.toBe(failure)
      expect(steps).toContainEqual({ fingerprint: printOf('ann'), userId: 1 })
      expect(steps).toContainEqual({ fingerprint: printOf('ben'), userId: 2 })
      expect(keys).toEqual(['chat 7', 1, 2])
    },
  )
})
