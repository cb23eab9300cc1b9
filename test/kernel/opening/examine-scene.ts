/** A private chat with Alice, and what a Message there is examined by. */
import { vi } from 'vitest'
import { SYSTEM_TIME } from '../../../src/util/clock.ts'
import { agreeingClocks } from '../../support/judging-clock.ts'
import { examine, type ExamineParts } from '../../../src/kernel/opening/examine.ts'
import type { FoundMessage } from '../../../src/kernel/opening/find-messages.ts'
import { encryptedMessage } from '../../translate/support.ts'

export const NOW_MS = Date.UTC(2026, 0, 1)
export const [BOT, ALICE, MALLORY] = [1, 5, 6]
const arrival = { receivedAtMs: 7000, signal: new AbortController().signal }
export const OPENED = {
  outcome: 'opened',
  signatures: [],
  signed: {},
  recipients: { hasUnnamed: false, keyIds: new Uint8Array() },
}

/** A private chat with Alice, number 50, whose message opens; a test changes it. */
export function known() {
  return {
    protectedChats: new Set([50]),
    privateChats: new Set([50]),
    latchedChats: new Set<number>(),
    personId: ALICE as number | null,
    firstPublishedAtMs: null as number | null,
    mode: vi.fn((_chatId: number, _sinceMs: number) => Promise.resolve('open')),
    open: vi.fn((_armored: string) => Promise.resolve<object>(OPENED)),
    hasSigned: false,
  }
}

export function partsOf(all: ReturnType<typeof known>): ExamineParts {
  return {
    guard: { mustSeal: (id: number) => all.protectedChats.has(id) },
    modes: { get: async (id: number, sinceMs: number) => ({ mode: await all.mode(id, sinceMs) }) },
    knownChats: {
      isPrivate: (id: number) => all.privateChats.has(id),
      isLatched: (id: number) => all.latchedChats.has(id),
      personOf: () => all.personId,
    },
    keyring: { unlocked: [], fingerprints: new Set(), firstPublishedAtMs: all.firstPublishedAtMs },
    engine: { open: all.open },
    readableMax: () => 2 ** 21,
    directory: {
      keyList: () => Promise.resolve({ people: [], tooMany: null }),
      signer: () => Promise.resolve(null),
    },
    trust: { standingOf: () => 'seen', policies: { for: () => 'accept' } },
    people: {
      hasSigned: (userId: number, kind: string) =>
        all.hasSigned && userId === ALICE && kind === 'words',
    },
    botId: () => BOT,
    audience: 'check',
    clock: agreeingClocks(),
    time: SYSTEM_TIME,
  } as unknown as ExamineParts
}

export const found = (message: object, more: Partial<FoundMessage> = {}): FoundMessage => ({
  message: message as Record<string, unknown>,
  chatId: 50,
  chatKind: 'private',
  updateChatId: 50,
  position: 'top',
  pressedById: null,
  messageId: 3,
  fromId: ALICE,
  dateMs: NOW_MS,
  isOrdinary: true,
  ...more,
})

export async function look(
  one: FoundMessage,
  more: Partial<ReturnType<typeof known>> = {},
): Promise<Awaited<ReturnType<typeof examine>>> {
  return await examine(one, arrival, partsOf({ ...known(), ...more }))
}

export const open = { protectedChats: new Set<number>(), privateChats: new Set<number>() }
export const sealed = { armored: encryptedMessage() }
