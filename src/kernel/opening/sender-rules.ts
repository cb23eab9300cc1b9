/** Rules by the memory of a sender, which forbid text or files after any result of the engine. */
import { ALLOWED, denied, type Decision } from '../decision.ts'
import type { JudgingClock } from '../clocks.ts'
import type { SignedKind } from '../memory.ts'
import type { People } from '../people/people.ts'
import { decisionAgainst } from '../people/person.ts'
import type { Trust } from '../people/trust.ts'
import type { KnownChats } from '../wall/known-chats.ts'
import type { Reasoned, Verdict } from './verdict.ts'

export interface SenderParts {
  people: People
  trust: Trust
  knownChats: KnownChats
  clock: JudgingClock
  botId: () => number | null
}

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

/** Whether a sender may speak in a chat: nobody does whom `strangerIn` finds. */
export function maySpeak(
  place: SenderPlace,
  parts: Pick<SenderParts, 'knownChats' | 'botId'>,
): Decision<Reasoned> {
  if (strangerIn(place, parts) === null) return ALLOWED
  return denied({ verdict: 'bad-signature', reason: 'other-person' })
}

/** Whether a person may speak unsigned: one who must sign, or is blocked, may not. */
export function maySpeakUnsigned(
  userId: number,
  { kind, wasUnsigned = false }: Pick<ClaimedSender, 'kind' | 'wasUnsigned'>,
  { people, trust }: Pick<SenderParts, 'people' | 'trust'>,
): Decision<Reasoned> {
  const standing = trust.standingOf(userId)
  if (standing === 'blocked') return denied({ verdict: 'unknown-signer', reason: 'blocked' })
  if (!wasUnsigned && people.hasSigned(userId, kind)) {
    return denied({ verdict: 'bad-signature', reason: 'stopped-signing' })
  }
  const mustSign = kind === 'words' && standing === 'verified'
  return mustSign ? denied({ verdict: 'bad-signature', reason: 'must-sign' }) : ALLOWED
}

/**
 * Whether an earlier verdict is still right by newer knowledge: a decision of the operator, a signature of
 * the person, the person of the chat. The reason is the verdict in its place.
 * @param judged the earlier verdict; null: given as it is stored
 */
export function mayStand(
  { verdict, signer }: { verdict: Verdict | null; signer?: string | undefined },
  sender: ClaimedSender,
  parts: SenderParts,
): Decision<Reasoned> {
  const speaker = maySpeak(sender, parts)
  if (!speaker.allowed) return speaker
  const { fromId: userId, chatId } = sender
  if (userId === null || userId === parts.botId()) return ALLOWED
  if (verdict === 'unsigned') return maySpeakUnsigned(userId, sender, parts)
  if (verdict !== 'verified' || signer === undefined) return ALLOWED
  const reason = decisionAgainst({ userId, fingerprint: signer }, chatId, parts)
  if (reason === null) return ALLOWED
  const former = parts.trust.formerOf(userId, chatId, parts.clock.expiryNowMs())
  const isFormer = reason !== 'other-person' && former?.fingerprint === signer
  return isFormer ? ALLOWED : denied({ verdict: 'unknown-signer', reason })
}
