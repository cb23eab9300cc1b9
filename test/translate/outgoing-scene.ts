/** A bot that sends, and all that it asks: what is prepared for its messages. */
import { sightingsOf } from '../support/unseen.ts'
import { SYSTEM_TIME } from '../../src/util/clock.ts'
import { vi } from 'vitest'
import type { KnownChats } from '../../src/kernel/wall/known-chats.ts'
import type { KeyList } from '../../src/kernel/lookups.ts'
import { Sealed } from '../../src/openpgp/format/armor-writer.ts'
import { AS_MADE } from '../../src/openpgp/size.ts'
import type { Draft } from '../../src/translate/draft.ts'
import { Guard } from '../../src/kernel/wall/guard.ts'
import { Outgoing, type OutgoingParts } from '../../src/translate/outgoing.ts'

export const CHAT = 50
const ALICE = 5
export const SEALED = Sealed.of('sealed', { dataDigest: 'data', statementDigest: 'statement' })
const LIST = {
  people: [
    {
      userId: ALICE,
      fingerprint: 'a'.repeat(40),
      unusable: null,
      certificateStatus: {
        armored: 'certificate',
        encryptionKeys: ['k'],
        recipientBytes: { aes256: 100, aes128: 84 },
      },
    },
  ],
  memberCount: 2,
  nameless: 0,
  tooMany: null,
} as unknown as KeyList

/** A protected group with one person and a bot that has a key; a test changes it. */
export function scene(isProtected = true) {
  const events: string[] = []
  const chats = { isLatched: isProtected, isPrivate: false }
  const knownChats = {
    isLatched: () => chats.isLatched,
    isPrivate: () => chats.isPrivate,
    personOf: () => null,
    get: () => undefined,
    saw: vi.fn((_sightings: object[]) => Promise.resolve(void (chats.isLatched = true))),
    refused: vi.fn(() => Promise.resolve()),
  }
  const modes = {
    ask: vi.fn((_chatId: number) => Promise.resolve<object>({})),
    get: () => Promise.resolve({ mode: 'open', kind: 'group', historyVisible: true }),
    forget: vi.fn(),
  }
  const publication = {
    expectSend: vi.fn(),
    state: 'published',
    requirePublished: vi.fn(() => void events.push('required')),
    compareNow: vi.fn(() => Promise.resolve()),
    enter: vi.fn(async (prepare: () => Promise<unknown>) => {
      const prepared = await prepare()
      events.push('entered')
      const leave = (): void => void events.push('left')
      return { prepared, signer: { unlocked: { sizes: AS_MADE } }, requireHeld: () => {}, leave }
    }),
  }
  const parts = {
    knownChats,
    modes,
    guard: new Guard({
      time: SYSTEM_TIME,
      fresh: () => Promise.resolve(),
      freshForMs: Infinity,
      knownChats: knownChats as unknown as KnownChats,
      modes: modes as never,
      ownsKey: () => true,
      sealsForBot: true,
      readableGroups: 'allow',
      chatMaxAgeMs: 0,
    }),
    sightings: sightingsOf({ knownChats: knownChats as unknown as KnownChats }),
    clearFields: { ofMessage: () => [] },
    directory: {
      keyList: vi.fn((..._at: number[]) => Promise.resolve(LIST)),
      hasKeyList: () => false,
      forget: vi.fn(),
    },
    publication: publication as typeof publication | null,
    engine: { sealKnown: vi.fn((_request: object) => Promise.resolve(SEALED)) },
    replayMemory: { rememberOwn: () => Promise.resolve() } as object | null,
    keyring: { fingerprints: new Set<string>(), all: [] as object[] },
    people: { isOthers: () => false },
    trust: { epoch: { value: 1 }, distrust: () => null },
    keyChanges: { tell: () => Promise.resolve([]) },
    keyListHistory: { contradicts: vi.fn(() => Promise.resolve()) },
    botId: () => 1,
    unusableRecipient: 'skip',
    armoredMax: () => 100_000,
    time: { nowMs: () => Date.now() },
    keyListMaxAgeMs: 60_000,
  }
  const outgoing = new Outgoing(parts as unknown as OutgoingParts)
  return { outgoing, parts, chats, publication, events }
}

export function draftOf(more: Partial<Draft> = {}): Draft {
  return {
    target: { route: 'send', path: '/messages', later: null },
    chatId: CHAT,
    fields: { chatId: CHAT },
    unlisted: [],
    text: 'words',
    ...more,
  } as Draft
}
