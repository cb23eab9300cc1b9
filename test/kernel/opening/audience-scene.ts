/** A group and its key list, and what else is known of for whom a message is. */
import { vi } from 'vitest'
import { SYSTEM_TIME } from '../../../src/util/clock.ts'
import type { KeyList } from '../../../src/kernel/lookups.ts'
import type { PastListing } from '../../../src/kernel/people/key-list-history.ts'
import type { Person } from '../../../src/kernel/people/person.ts'
import { audienceOf, type Addressed } from '../../../src/kernel/opening/audience.ts'
import type { ExamineParts } from '../../../src/kernel/opening/examine.ts'

/** When what is asked about was signed. */
export const SIGNED_MS = 1_700_000_000_000

export const [BOT, ALICE, BOB, CAROL, MALLORY] = [1, 5, 6, 7, 9]
/** Fingerprints of subkeys end in the key id. */
export const keyId = (digit: string): string => digit.repeat(16)
export const subkey = (digit: string): string => '0'.repeat(24) + keyId(digit)
export const primary = (digit: string): string => digit.repeat(40)

export function person(userId: number, digit: string, more: Partial<Person> = {}): Person {
  const certificateStatus = {
    encryptionKeys: [subkey(digit)],
    algorithm: 'Curve25519',
  } as unknown as Person['certificateStatus']
  return { userId, fingerprint: primary(digit), unusable: null, certificateStatus, ...more }
}

/** A person whose certificate has these subkeys beside the primary key `f`. */
export function listing(userId: number, ...digits: string[]): Person {
  const one = person(userId, 'f')
  const encryptionKeys = digits.map(subkey)
  return { ...one, certificateStatus: { ...one.certificateStatus, encryptionKeys } }
}

export const ALICES = person(ALICE, 'a')
export const BOBS = person(BOB, 'b')

export const listOf = (people: Person[], tooMany: number | null = null): KeyList =>
  ({ people, tooMany }) as KeyList

/** A group of Alice, Bob and the bot; private chats are with Alice. A test changes it. */
export function scene() {
  const all = {
    isPrivate: false,
    personId: ALICE as number | null,
    list: listOf([ALICES, BOBS]),
    fresh: undefined as KeyList | undefined,
    mayAskAgain: false,
    signer: ALICES as Person | null,
    named: [] as number[],
    past: [] as PastListing[],
    owners: new Map<string, Set<number> | Map<number, number>>([
      [keyId('a'), new Set([ALICE])],
      [keyId('b'), new Set([BOB])],
      [keyId('c'), new Set([CAROL])],
    ]),
    audience: 'check',
  }
  const asked = {
    keyList: vi.fn((_chatId: number, sinceMs: number) =>
      Promise.resolve(sinceMs === 7 ? (all.fresh ?? all.list) : all.list),
    ),
    signer: vi.fn((_userId: number, _chatId: number, _sinceMs?: number) =>
      Promise.resolve(all.signer),
    ),
    askedInVain: vi.fn(),
  }
  const parts = {
    directory: { ...asked, mayAskAgain: () => all.mayAskAgain },
    keyring: {
      unlocked: [{ fingerprints: [primary('d'), subkey('e')], keyIds: [keyId('e')] }],
      fingerprints: new Set([primary('d'), subkey('e')]),
    },
    knownKeys: {
      ownersOf: (ids: string[]) =>
        Promise.resolve(
          new Map(
            ids.flatMap((id) => {
              const owners = all.owners.get(id)
              if (owners === undefined) return []
              const since = owners instanceof Map ? owners : [...owners].map((one) => [one, one])
              return [[id, new Map(since as never)]]
            }) as never,
          ),
        ),
    },
    knownChats: {
      isPrivate: () => all.isPrivate,
      personOf: () => (all.isPrivate ? all.personId : null),
    },
    botId: () => BOT,
    time: SYSTEM_TIME,
    keyListHistory: { everListed: () => Promise.resolve(all.past) },
    people: { isOthers: () => false },
    trust: {
      distrust: () => null,
      standingOf: (userId: number) => (all.named.includes(userId) ? 'accepted' : 'seen'),
    },
  }
  const audience = (to: string[], more: Partial<Addressed> & { hasUnnamed?: boolean } = {}) => {
    const { hasUnnamed = false, ...place } = more
    const keyIds = Uint8Array.from(Buffer.from(to.map(keyId).join(''), 'hex'))
    const recipients = { keyIds, hasUnnamed } as Addressed['recipients']
    const message = {
      recipients,
      intended: [],
      signedAtMs: SIGNED_MS,
      signer: primary('a'),
      chatId: 50,
      fromId: ALICE,
      receivedAtMs: 7,
      ...place,
    }
    return audienceOf(message, { ...parts, audience: all.audience } as unknown as ExamineParts)
  }
  const ask = async (...args: Parameters<typeof audience>) => (await audience(...args)) === 'other'
  return { all, asked, parts, audience, ask }
}
