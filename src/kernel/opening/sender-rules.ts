/** Rules by the memory of a sender, which forbid text or files after any result of the engine. */
import type { Engine } from '../../openpgp/index.ts'
import type { JudgingClock, KeyLookups, ModeLookups, Time } from '../lookups.ts'
import type { SignedKind } from '../memory.ts'
import type { OwnKeys } from '../own-key/own-key.ts'
import type { Certificates } from '../people/certificates.ts'
import type { KeyListHistory } from '../people/key-list-history.ts'
import type { KnownKeys } from '../people/known-keys.ts'
import type { People } from '../people/people.ts'
import { decisionAgainst } from '../people/person.ts'
import type { Trust } from '../people/trust.ts'
import type { Guard } from '../wall/guard.ts'
import type { KnownChats } from '../wall/known-chats.ts'
import type { ReplayMemory } from './replay-memory.ts'
import type { Reasoned, Verdict } from './verdict.ts'

/** What words and files are judged by. */
export interface ExamineParts {
  people: People
  trust: Trust
  certificates: Pick<Certificates, 'copyOf' | 'isRevoked'>
  keyListHistory: KeyListHistory
  knownKeys: KnownKeys
  knownChats: KnownChats
  guard: Guard
  replayMemory: Pick<ReplayMemory, 'reaches'>
  engine: Engine
  keyring: OwnKeys
  directory: KeyLookups
  modes: ModeLookups
  time: Time
  clock: JudgingClock
  botId: () => number | null
  /** Setting `cache.keyListSeconds`, in ms. */
  keyListMaxAgeMs: number
  /** Setting `open.audience`. */
  audience: 'check' | 'off'
}

export type SenderParts = Pick<ExamineParts, 'people' | 'trust' | 'knownChats' | 'botId' | 'clock'>

/** The claimed sender of words or a file in a chat. */
export interface ClaimedSender {
  kind: SignedKind
  chatId: number
  fromId: number | null
  /** The person who pressed the button, in a press. */
  pressedById?: number | null
  /** It was given as unsigned before: a signature of the sender since then does not count against it. */
  wasUnsigned?: boolean
}

type SenderPlace = Pick<ClaimedSender, 'fromId' | 'pressedById'> & { chatId: number | null }

/**
 * The stranger who wrote or pressed in a private chat; null where there is none. A private chat has
 * one person: nobody else writes, sends files or presses there, but the bot.
 */
export function strangerIn(
  { chatId, fromId, pressedById = null }: SenderPlace,
  { knownChats, botId }: Pick<SenderParts, 'knownChats' | 'botId'>,
): number | null {
  const personId = chatId === null ? null : knownChats.personOf(chatId)
  if (personId === null) return null
  if (fromId !== null && fromId !== personId && fromId !== botId()) return fromId
  return pressedById === personId ? null : pressedById
}

/** The verdict on words or a file of a stranger (`strangerIn`); null for anybody else. */
export function whyStranger(
  place: SenderPlace,
  parts: Pick<SenderParts, 'knownChats' | 'botId'>,
): Reasoned | null {
  if (strangerIn(place, parts) === null) return null
  return { verdict: 'bad-signature', reason: 'other-person' }
}

/** The verdict on unsigned words or files of a person who must sign, or may not speak; null: they may. */
export function whyNotUnsigned(
  userId: number,
  { kind, wasUnsigned = false }: Pick<ClaimedSender, 'kind' | 'wasUnsigned'>,
  { people, trust }: Pick<SenderParts, 'people' | 'trust'>,
): Reasoned | null {
  if (trust.standingOf(userId) === 'blocked')
    return { verdict: 'unknown-signer', reason: 'blocked' }
  if (!wasUnsigned && people.hasSigned(userId, kind)) {
    return { verdict: 'bad-signature', reason: 'stopped-signing' }
  }
  const mustSign = kind === 'words' && trust.standingOf(userId) === 'verified'
  return mustSign ? { verdict: 'bad-signature', reason: 'must-sign' } : null
}

/**
 * The verdict that replaces an earlier one by newer knowledge: a decision of the operator, a
 * signature of the person, the person of the chat. Null where the earlier one is still right.
 * @param judged the earlier verdict; null: given as it is stored
 */
export function whyNotAnyMore(
  { verdict, signer }: { verdict: Verdict | null; signer?: string | undefined },
  sender: ClaimedSender,
  parts: SenderParts,
): Reasoned | null {
  const byStranger = whyStranger(sender, parts)
  if (byStranger !== null) return byStranger
  const { fromId: userId, chatId } = sender
  if (userId === null || userId === parts.botId()) return null
  if (verdict === 'unsigned') return whyNotUnsigned(userId, sender, parts)
  if (verdict !== 'verified' || signer === undefined) return null
  const reason = decisionAgainst({ userId, fingerprint: signer }, chatId, parts)
  if (reason === null) return null
  const former = parts.trust.formerOf(userId, chatId, parts.clock.expiryNowMs())
  const isFormer = reason !== 'other-person' && former?.fingerprint === signer
  return isFormer ? null : { verdict: 'unknown-signer', reason }
}
