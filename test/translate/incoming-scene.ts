/** Updates of a private chat with Alice, and all that they are opened with. */
import type { JudgedMessage } from '../../src/kernel/opening/finding.ts'
import type { UpdateHead } from '../../src/kernel/sightings.ts'
import type { KnownChats } from '../../src/kernel/wall/known-chats.ts'
import { sightingsOf } from '../support/unseen.ts'
import { vi } from 'vitest'
import type { MessageOutcome } from '../../src/store/outcomes.ts'
import type { LeavingEvent } from '../../src/translate/deferral.ts'
import { Incoming, type IncomingParts } from '../../src/translate/incoming.ts'
import { ALICE, OPENED, known, partsOf, sealed } from '../kernel/opening/examine-scene.ts'

export const CERTIFICATE = 'f'.repeat(40)

/** A private chat with Alice, whose messages open; a test changes it. */
export function scene(
  more: Partial<ReturnType<typeof known>> = {},
  policy: Partial<Pick<IncomingParts, 'verify' | 'normalizeText' | 'clock' | 'fresh'>> = {},
) {
  const all = {
    ...known(),
    ...more,
    recognized: vi.fn((_sighting: object, _claims: string[]) => Promise.resolve('new')),
    remember: vi.fn((_sighting: object, _as: string) => Promise.resolve()),
    rememberSigned: vi.fn((_people: number[], _kind: string) => Promise.resolve()),
    batch: vi.fn(async (judge: (check: object) => Promise<unknown>): Promise<unknown> =>
      judge({ recognize: all.recognized, remember: all.remember }),
    ),
    hasOpened: vi.fn((_chatId: number, _botId: number | null) => Promise.resolve(false)),
    saw: vi.fn((_sightings: object[], _fresh: () => Promise<void>) => Promise.resolve()),
    sawNotices: vi.fn((_chatIds: number[]) => Promise.resolve()),
    sawPerson: vi.fn((_chatId: number, _userId: number | null) => undefined),
    forget: vi.fn((_chatId: number) => undefined),
    rewrite: vi.fn((updates: object[]) =>
      Promise.resolve({ changed: false, count: updates.length }),
    ),
    unwritten: new Set<number>(),
    verdict: ['valid'],
    distrust: vi.fn((_userId: number, _signer: string, _chatId: number): string | null => null),
  }
  const parts = partsOf(all)
  const sightings = {
    saw: all.saw,
    sawNotices: all.sawNotices,
    isUnwritten: (id: number) => all.unwritten.has(id),
  }
  const incoming = new Incoming({
    ...parts,
    fresh: () => Promise.resolve(),
    engine: { ...parts.engine, verify: () => Promise.resolve(all.verdict) },
    knownChats: {
      ...parts.knownChats,
      isPrivate: (id: number) => all.privateChats.has(id),
      ...sightings,
    },
    modes: { ...parts.modes, forget: all.forget },
    sightings: sightingsOf({ knownChats: sightings as unknown as KnownChats }),
    presses: { saw: () => Promise.resolve() },
    hear: (_update: unknown, messages: readonly JudgedMessage[]) => Promise.resolve([...messages]),
    directory: {
      sawPerson: all.sawPerson,
      mayAskAgain: () => false,
      signer: () =>
        Promise.resolve({
          userId: ALICE,
          fingerprint: CERTIFICATE,
          unusable: null,
          certificateStatus: { armored: 'certificate' },
        }),
    },
    keyChanges: { tell: () => Promise.resolve([]) },
    trust: {
      standingOf: () => 'seen',
      isShared: () => false,
      distrust: all.distrust,
      formerOf: () => null,
      policies: { for: () => 'accept' },
    },
    keyring: { ...parts.keyring, all: [{ fingerprint: 'own', certificate: 'own' }] },
    people: {
      hasSigned: (userId: number, kind: string) =>
        all.hasSigned && userId === ALICE && kind === 'words',
      isOthers: () => false,
      rememberSigned: all.rememberSigned,
    },
    replayMemory: { hasOpened: all.hasOpened, batch: all.batch, reaches: () => true },
    urls: { rewrite: all.rewrite },
    audience: 'off',
    verify: 'flag',
    normalizeText: true,
    ...policy,
  } as unknown as IncomingParts)
  const told: MessageOutcome[][] = []
  incoming.onJudged((outcomes) => told.push(outcomes))
  const leavings: LeavingEvent[] = []
  incoming.onLeaving((event) => leavings.push(event))
  return { all, incoming: overArrays(incoming), told, leavings }
}

/** Takes updates as they were parsed. */
const overArrays = (incoming: Incoming) => ({
  open: (updates: readonly unknown[], ...request: [Parameters<Incoming['open']>[1]?]) =>
    incoming.open(updates as readonly UpdateHead[], ...request),
  onJudged: incoming.onJudged.bind(incoming),
  onStranger: incoming.onStranger.bind(incoming),
  onNamed: incoming.onNamed.bind(incoming),
})

export type Json = Record<string, unknown>

export const SIGNED = { ...OPENED, text: 'words', dataDigest: 'data', openedWith: 'own key' }
export const claim = { issuerKeyId: null, createdMs: 1000, intended: [], digest: 'statement' }
export const signedBy = (open: object = SIGNED) =>
  vi.fn(() => Promise.resolve<object>({ ...open, signatures: [claim] }))
export const openedAs = (open: object = SIGNED) => vi.fn(() => Promise.resolve<object>(open))

let numbers = 0
/** An update that brings a Message of Alice's in the private chat. */
export function update(message: Json = {}, updateId = ++numbers) {
  return {
    updateId,
    kind: 'message',
    message: {
      id: 3,
      chat: { id: 50, kind: 'private' },
      from: { id: ALICE },
      date: 1000,
      ...sealed,
      ...message,
    } as Json,
  }
}
export const verdictOf = ({ message }: { message: Json }) => message['postern'] as Json
