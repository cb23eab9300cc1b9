/**
 * The verdicts of examined Messages in the order of their updates, against what is remembered: what
 * was seen before, and what was learned since they were examined.
 */
import { isOwnFailure } from '../../errors.ts'
import type { OpenedFile, OpenedText } from '../../openpgp/index.ts'
import { chatsPastKey, isFromBeforeKey } from './before-key.ts'
import {
  isByStranger,
  isProtectedSince,
  OTHER_PERSON,
  type ExamineParts,
  type Judgeable,
  type MessageFinding,
} from './examine.ts'
import type { FoundMessage } from './find-messages.ts'
import type { ReplayMemory } from './replay-memory.ts'
import type { ReplayCheck, Sighting } from './seen-rules.ts'
import { whyNotAnyMore, type Judged } from './signatures.ts'
import { delivers, type Reasoned, type VerifyPolicy } from './verdict.ts'

export interface SettleParts extends Pick<
  ExamineParts,
  'people' | 'trust' | 'botId' | 'clock' | 'knownChats' | 'guard'
> {
  replayMemory: Pick<ReplayMemory, 'batch' | 'hasOpened'>
  /** Setting `open.verify`. */
  verify: VerifyPolicy
}

/** A Message of the update with this id. */
export type Numbered = Judgeable & { updateId: number }

/** The updates that can be answered; what replaces the verdicts of their Messages, in one list. */
export interface Settled {
  prefix: Numbered[][]
  /** Undefined where a Message's own verdict stands. */
  verdicts: (Reasoned | undefined)[]
}

const STOPPED_SIGNING = { verdict: 'bad-signature', reason: 'stopped-signing' } as const

type OpenedFinding = Extract<MessageFinding, { kind: 'opened' }>

/** Updates up to the first that was readable when it was examined, and whose chat is protected by now. */
export function stillStanding<T extends Judgeable>(
  finished: T[][],
  { guard }: Pick<SettleParts, 'guard'>,
): T[][] {
  const end = finished.findIndex((all) => all.some((one) => isProtectedSince(one, guard)))
  return end === -1 ? finished : finished.slice(0, end)
}

/**
 * Asks the memory against replays in order, and records what is delivered and who signed. Where that
 * cannot be recorded, the updates before the first one with anything to record are settled.
 * @param pause called between two Messages
 * @throws what the store fails with, where no update is before it
 */
export async function settle(
  prefix: Numbered[][],
  parts: SettleParts,
  pause: () => Promise<void>,
): Promise<Settled> {
  const { replayMemory, botId, people } = parts
  const index = prefix.findIndex((all) => all.some(isOpened))
  const judged = prefix.flat()
  const past = await chatsPastKey(judged, replayMemory, botId())
  const ended = judged.map((one) => endedBeforeKey(one, past, parts))
  if (index === -1) return { prefix, verdicts: ended }
  try {
    const verdicts = await replayMemory.batch((check) =>
      settleInOrder(judged, { check, past, pause }, parts),
    )
    await people.rememberSigned(signersAmong(judged, verdicts), 'words')
    return { prefix, verdicts }
  } catch (error) {
    if (!isOwnFailure(error) || index === 0) throw error
    return { prefix: prefix.slice(0, index), verdicts: ended }
  }
}

/** An opened message or file, with its own verdict. */
export interface JudgedSighting {
  place: Omit<Sighting, 'dataDigest' | 'signatureDigest'>
  opened: Pick<OpenedText | OpenedFile, 'dataDigest' | 'signatures'>
  judged: Judged
  isForOtherChat: boolean
}

/** What else counts, beside the memory. */
export interface ReplayRules {
  /** Setting `open.verify`. */
  verify: VerifyPolicy
  /** The bot's own message, which the service brings as a new one. */
  isOwnWords?: boolean
  /** Called where the memory allows it. Gives what was learned since, or null. */
  objection?: () => Reasoned | null
}

/**
 * Asks the memory against replays, and records what is delivered.
 * @returns what replaces its own verdict; undefined: that stands
 */
export async function checkReplay(
  check: ReplayCheck,
  { place, opened, judged, isForOtherChat }: JudgedSighting,
  { verify, isOwnWords = false, objection = () => null }: ReplayRules,
): Promise<Reasoned | undefined> {
  const { dataDigest, signatures } = opened
  const sighting = { ...place, dataDigest, signatureDigest: judged.signatureDigest ?? null }
  const claims = signatures.map(({ digest }) => digest)
  const recognized = await check.recognize(sighting, claims)
  if (recognized === 'replayed') return { verdict: 'replayed' }
  if (isOwnWords) return { verdict: 'replayed', reason: 'own-words' }
  if (recognized === 'confirmed') return { verdict: 'replayed', reason: 'confirmed-before' }
  if (recognized === 'new' && isForOtherChat) {
    return { verdict: 'replayed', reason: 'other-audience' }
  }
  const objected = objection()
  if (objected !== null) return objected
  if (delivers(judged, verify)) await check.remember(sighting, recognized)
  return undefined
}

/** The verdict in the end. @param settled of `settle`; null where no verdict is needed */
export function finalOf(
  finding: MessageFinding,
  settled: Reasoned | undefined,
): (Reasoned & Pick<Judged, 'signer' | 'signedAtMs'>) | null {
  if (finding.kind === 'untouched' || finding.kind === 'readable') return null
  return settled ?? (finding.kind === 'opened' ? finding.judged : finding)
}

/** Whether the text of a Message with this verdict is given to the bot: of a closed one there is none. */
export const deliversText = (
  finding: MessageFinding,
  final: Reasoned,
  verify: VerifyPolicy,
): boolean => finding.kind !== 'closed' && delivers(final, verify)

/** What replaces the verdict of words from before the key, by what is known by now. */
function endedBeforeKey(
  one: Numbered,
  past: ReadonlySet<number | null>,
  parts: SettleParts,
  signed: ReadonlySet<number | null> = new Set(),
): Reasoned | undefined {
  if (!isFromBeforeKey(one)) return undefined
  const { chatId, fromId } = one.found
  const place = { fromId, chatId: chatId ?? 0, kind: 'words' as const }
  const learned = whyNotAnyMore({ verdict: 'unsigned' }, place, parts)
  return past.has(chatId) || signed.has(fromId) || learned !== null
    ? { verdict: 'plaintext-in-protected' }
    : undefined
}

async function settleInOrder(
  judged: Numbered[],
  {
    check,
    past,
    pause,
  }: { check: ReplayCheck; past: Set<number | null>; pause: () => Promise<void> },
  parts: SettleParts,
): Promise<(Reasoned | undefined)[]> {
  const verdicts: (Reasoned | undefined)[] = []
  const signed = new Set<number | null>()
  for (const one of judged) {
    const { finding } = one.examined
    const settled =
      finding.kind === 'opened'
        ? await settleOpened(one, finding, { check, signed, parts })
        : endedBeforeKey(one, past, parts, signed)
    const final = finding.kind === 'opened' ? (settled ?? finding.judged) : null
    if (final?.verdict === 'verified') signed.add(one.found.fromId)
    const isOwn = one.found.fromId === parts.botId()
    if (final !== null && !isOwn && delivers(final, 'flag')) past.add(one.found.chatId)
    verdicts.push(settled)
    await pause()
  }
  return verdicts
}

/**
 * @param o `signed` who signed earlier in this batch, and must go on signing
 * @returns what replaces the Message's own verdict; undefined: that stands
 */
async function settleOpened(
  { found, updateId }: Numbered,
  { opened, judged, isForOtherChat }: OpenedFinding,
  o: { check: ReplayCheck; signed: ReadonlySet<number | null>; parts: SettleParts },
): Promise<Reasoned | undefined> {
  const { messageId, dateMs, position, fromId } = found
  const place = {
    chatId: found.chatId ?? 0,
    updateId: position === 'top' ? updateId : null,
    messageId,
    userId: fromId,
    dateMs,
  }
  const isOwn = judged.verdict === 'verified' && fromId === o.parts.botId()
  const hasStopped = judged.verdict === 'unsigned' && o.signed.has(fromId)
  return await checkReplay(
    o.check,
    { place, opened, judged, isForOtherChat },
    {
      verify: o.parts.verify,
      isOwnWords: isOwn && position === 'top',
      objection: () => (hasStopped ? STOPPED_SIGNING : learnedSince(found, judged, o.parts)),
    },
  )
}

/** What was learned since a Message was examined, for an earlier poll too, and forbids it. */
function learnedSince(found: FoundMessage, judged: Judged, parts: SettleParts): Reasoned | null {
  if (!delivers(judged, 'flag')) return null
  if (isByStranger(found, parts)) return OTHER_PERSON
  const { fromId, chatId } = found
  return whyNotAnyMore(judged, { fromId, chatId: chatId ?? 0, kind: 'words' }, parts)
}

const isOpened = ({ examined }: Judgeable): boolean => examined.finding.kind === 'opened'

function signersAmong(judged: Judgeable[], settled: (Reasoned | undefined)[]): number[] {
  return judged.flatMap(({ found, examined: { finding } }, index) => {
    const isVerified = finding.kind === 'opened' && finding.judged.verdict === 'verified'
    return isVerified && settled[index] === undefined && found.fromId !== null ? [found.fromId] : []
  })
}
