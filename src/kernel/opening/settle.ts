/**
 * The verdicts of examined Messages in the order of their updates, against the memory: replayed
 * data, and changes of the memory since the Messages were examined.
 */
import { isOwnFailure } from '../../errors.ts'
import type { OpenedFile, OpenedText } from '../../openpgp/index.ts'
import { ALLOWED, denied, deniedReason, type Decision } from '../decision.ts'
import type { Guard } from '../wall/guard.ts'
import { chatsPastKey, mayStandBeforeKey } from './before-key.ts'
import { isProtectedSince } from './examine.ts'
import { finalOf } from './finding.ts'
import type { ExaminedMessage, JudgedMessage, MessageFinding, NumberedMessage } from './finding.ts'
import type { ReplayMemory } from './replay-memory.ts'
import type { ReplayCheck, Sighting } from './seen-rules.ts'
import { mayStand, type SenderParts } from './sender-rules.ts'
import type { Judged } from './signatures.ts'
import { delivers, type Reasoned, type VerifyPolicy } from './verdict.ts'

export interface SettleParts extends SenderParts {
  guard: Pick<Guard, 'mustSeal'>
  replayMemory: Pick<ReplayMemory, 'batch' | 'hasOpened'>
  /** Setting `open.verify`. */
  verify: VerifyPolicy
}

const STOPPED_SIGNING: Reasoned = { verdict: 'bad-signature', reason: 'stopped-signing' }

type OpenedFinding = Extract<MessageFinding, { kind: 'opened' }>

/** Updates before the first that was examined as readable, and whose chat is protected by now. */
export function stillStanding(
  finished: ExaminedMessage[][],
  { guard }: Pick<SettleParts, 'guard'>,
): ExaminedMessage[][] {
  const end = finished.findIndex((all) => all.some((one) => isProtectedSince(one, guard)))
  return end === -1 ? finished : finished.slice(0, end)
}

/**
 * Asks the memory against replays in order, and records delivered data and signers. After a failure
 * to record, only the updates before the first one with data to record are settled.
 * @param pause called between two Messages
 * @returns the updates that can be answered
 * @throws the failure of the store, where there is no such update
 */
export async function settle(
  prefix: NumberedMessage[][],
  parts: SettleParts,
  pause: () => Promise<void>,
): Promise<JudgedMessage[][]> {
  const { replayMemory, botId, people } = parts
  const messages = prefix.flat()
  const past = await chatsPastKey(messages, replayMemory, botId())
  const unrecorded = messages.map((one) =>
    deniedReason(mayStandBeforeKey(one, { past, signed: new Set() }, parts)),
  )
  const index = prefix.findIndex((all) => all.some(({ finding }) => finding.kind === 'opened'))
  if (index === -1) return judgedBy(prefix, unrecorded)
  try {
    const opened = messages.flatMap(({ finding }) =>
      finding.kind === 'opened' ? [finding.opened] : [],
    )
    const { verdicts, signers } = await replayMemory.batch(
      (check) => settleInOrder(messages, { check, past, pause }, parts),
      opened,
    )
    await people.rememberSigned(signers, 'words')
    return judgedBy(prefix, verdicts)
  } catch (error) {
    if (!isOwnFailure(error) || index === 0) throw error
    return judgedBy(prefix.slice(0, index), unrecorded)
  }
}

function judgedBy(
  prefix: NumberedMessage[][],
  verdicts: (Reasoned | undefined)[],
): JudgedMessage[][] {
  const settled = verdicts.values()
  return prefix.map((messages) =>
    messages.map((one) => ({ ...one, final: finalOf(one.finding, settled.next().value) })),
  )
}

async function settleInOrder(
  messages: NumberedMessage[],
  o: { check: ReplayCheck; past: Set<number | null>; pause: () => Promise<void> },
  parts: SettleParts,
): Promise<{ verdicts: (Reasoned | undefined)[]; signers: number[] }> {
  const { check, pause } = o
  // it may run again
  const past = new Set(o.past)
  const verdicts: (Reasoned | undefined)[] = []
  const signed = new Set<number | null>()
  for (const one of messages) {
    const { finding, found } = one
    if (finding.kind === 'opened') {
      const settled = await settleOpened(one, finding, { check, signed, parts })
      verdicts.push(settled)
      const final = settled ?? finding.judged
      if (final.verdict === 'verified') signed.add(found.fromId)
      if (found.fromId !== parts.botId() && delivers(final, 'flag')) past.add(found.chatId)
    } else verdicts.push(deniedReason(mayStandBeforeKey(one, { past, signed }, parts)))
    await pause()
  }
  return { verdicts, signers: [...signed].filter((userId) => userId !== null) }
}

/** @param o `signed` who signed earlier in this batch, and must go on signing @returns as `checkReplay` */
async function settleOpened(
  { found, updateId }: NumberedMessage,
  { opened, judged, isForOtherChat }: OpenedFinding,
  { check, signed, parts }: { check: ReplayCheck; signed: Set<number | null>; parts: SettleParts },
): Promise<Reasoned | undefined> {
  const { messageId, dateMs, position, fromId, pressedById } = found
  const chatId = found.chatId ?? 0
  const isTop = position === 'top'
  const place = { chatId, updateId: isTop ? updateId : null, messageId, userId: fromId, dateMs }
  const isOwnWords = isTop && judged.verdict === 'verified' && fromId === parts.botId()
  const stands = (): Decision<Reasoned> => {
    if (judged.verdict === 'unsigned' && signed.has(fromId)) return denied(STOPPED_SIGNING)
    if (!delivers(judged, 'flag')) return ALLOWED
    return mayStand(judged, { chatId, fromId, pressedById, kind: 'words' }, parts)
  }
  return await checkReplay(
    check,
    { place, opened, judged, isForOtherChat },
    { verify: parts.verify, isOwnWords, stands },
  )
}

/** An opened message or file, with its own verdict. */
export interface JudgedSighting {
  place: Omit<Sighting, 'dataDigest' | 'signatureDigest'>
  opened: Pick<OpenedText | OpenedFile, 'dataDigest' | 'signatures'>
  judged: Judged
  isForOtherChat: boolean
}

export interface ReplayRules {
  /** Setting `open.verify`. */
  verify: VerifyPolicy
  /** The bot's own message, which the service brings as a new one. */
  isOwnWords?: boolean
  /** Whether its verdict is still right by newer knowledge; called where the memory allows it. */
  stands: () => Decision<Reasoned>
}

/**
 * Checks a Message against the memory against replays, and records it when it is deliverable.
 * @returns the replacement of its own verdict; undefined: its own is final
 */
export async function checkReplay(
  check: ReplayCheck,
  { place, opened, judged, isForOtherChat }: JudgedSighting,
  { verify, isOwnWords = false, stands }: ReplayRules,
): Promise<Reasoned | undefined> {
  const { dataDigest, signatures } = opened
  const sighting = { ...place, dataDigest, signatureDigest: judged.signatureDigest ?? null }
  const claims = signatures.map(({ digest }) => digest)
  const recognized = await check.recognize(sighting, claims)
  if (recognized === 'replayed') return { verdict: 'replayed' }
  // A request for a person's word is not given as a file either, where replays are.
  if (recognized === 'words') return { verdict: verify === 'off' ? 'not-recipient' : 'replayed' }
  if (isOwnWords) return { verdict: 'replayed', reason: 'own-words' }
  if (recognized === 'confirmed') return { verdict: 'replayed', reason: 'confirmed-before' }
  if (recognized === 'new' && isForOtherChat) {
    return { verdict: 'replayed', reason: 'other-audience' }
  }
  const decision = stands()
  if (!decision.allowed) return decision.reason
  if (delivers(judged, verify)) await check.remember(sighting, recognized)
  return undefined
}
