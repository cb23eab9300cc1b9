/** A group and its key list, and what else is known of for whom a message is. */
import { vi } from 'vitest'
import type { KeyList } from '../../src/keys/directory.ts'
import type { Person } from '../../src/keys/person.ts'
import { isForOtherChat, type Addressed, type AudienceParts } from '../../src/translate/audience.ts'

export const [BOT, ALICE, BOB, CAROL] = [1, 5, 6, 7]
/** Fingerprints of subkeys end in the key id. */
export const keyId = (digit: string): string => digit.repeat(16)
export const subkey = (digit: string): string => '0'.repeat(24) + keyId(digit)
export const primary = (digit: string): string => digit.repeat(40)

export function person(userId: number, digit: string, more: Partial<Person> = {}): Person {
  const certificateStatus = {
    encryptionKeys: [subkey(digit)],
  } as unknown as Person['certificateStatus']
  return { userId, fingerprint: primary(digit), unusable: null, certificateStatus, ...more }
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
    owners: new Map<string, Set<number>>([
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
      fingerprints: new Set([primary('d')]),
    },
    knownKeys: {
      ownersOf: (ids: string[]) =>
        Promise.resolve(
          new Map(
            ids.flatMap((id) => (all.owners.has(id) ? [[id, all.owners.get(id)]] : [])) as never,
          ),
        ),
    },
    knownChats: {
      isPrivate: () => all.isPrivate,
      personOf: () => (all.isPrivate ? all.personId : null),
    },
    botId: () => BOT,
  }
  const ask = (to: string[], more: Partial<Addressed> & { hasUnnamed?: boolean } = {}) => {
    const { hasUnnamed = false, ...place } = more
    const keyIds = Uint8Array.from(Buffer.from(to.map(keyId).join(''), 'hex'))
    const recipients = { keyIds, hasUnnamed } as Addressed['recipients']
    const message = {
      recipients,
      intended: [],
      chatId: 50,
      fromId: ALICE,
      receivedAtMs: 7,
      ...place,
    }
    return isForOtherChat(message, { ...parts, audience: all.audience } as unknown as AudienceParts)
  }
  return { all, asked, parts, ask }
}
