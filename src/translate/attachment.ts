/** One attachment: fetched, opened where it is for us, judged, and at rest. */
import type { MediaPlace } from '../kernel/index.ts'
import { createHash, randomUUID } from 'node:crypto'
import type { NamedMedia, OpenedBefore } from '../kernel/opening/named-media.ts'
import type { Modes } from '../lookups/modes.ts'
import type { ReplayMemory } from '../kernel/opening/replay-memory.ts'
import { Refusal } from '../errors.ts'
import { SYSTEM_TIME, monotonicNow } from '../util/clock.ts'
import { TYPE_BYTES, contentTypeOf } from '../media/content-type.ts'
import {
  BOUNDS,
  ByteReader,
  FORM_BYTES,
  RestingWriter,
  sealedForm,
  type OpenedFile,
  type RestingFile,
  type Room,
} from '../openpgp/index.ts'
import { judgeAudience, type AudienceParts } from '../kernel/opening/audience.ts'
import { OTHER_PERSON, isByStranger } from '../kernel/opening/examine.ts'
import { Freshness } from '../kernel/wall/freshness.ts'
import type { Guard } from '../kernel/wall/guard.ts'
import { refusalOf } from './media-refusal.ts'
import { checkReplay } from '../kernel/opening/replays.ts'
import {
  judgeSignatures,
  whyNotAnyMore,
  type Claimed,
  type SignatureParts,
} from '../kernel/opening/signatures.ts'
import {
  type Reasoned,
  type Verdict,
  type VerifyPolicy,
  delivers,
} from '../kernel/opening/verdict.ts'

/** A file as the bot gets it, whole and checked. */
export interface Attachment {
  file: RestingFile
  contentType: string
  /** The same for the same content as long as it is kept, and of what was opened for ever. */
  tag: string
  /** Null for what is given as it is stored. */
  verdict: Verdict | null
  /** Fingerprint of the certificate that verified it. */
  signer?: string | undefined
  /** When it was signed, ms since the epoch. */
  signedAtMs?: number | undefined
}

export interface AttachmentParts extends SignatureParts, Omit<AudienceParts, keyof SignatureParts> {
  /** Brings what is remembered up to what any sidecar has seen (`Store.fresh`). */
  fresh: () => Promise<void>
  modes: Modes
  guard: Guard
  replayMemory: ReplayMemory
  named: NamedMedia
  room: Room
  /** Setting `open.verify`. */
  verify: VerifyPolicy
  /** Called with the fingerprint of the own key that opened one, whatever became of it then. */
  onOpened: (fingerprint: string) => void
  /** The bytes of a stored attachment. @throws ServiceError, NoResponseError, Refusal */
  stored: (mediaId: string, signal: AbortSignal) => Promise<AsyncIterable<Uint8Array>>
}

/**
 * Fetches an attachment of a known place: opened where it is an encrypted message and the chat is
 * protected, else as it is stored.
 * @throws Refusal with the codes of media; ServiceError and NoResponseError from the service
 */
export async function openAttachment(
  place: MediaPlace,
  signal: AbortSignal,
  parts: AttachmentParts,
): Promise<Attachment> {
  const { chatId, userId: fromId } = place
  const freshness = new Freshness(parts.fresh, SYSTEM_TIME)
  await freshness.renew()
  if (isByStranger({ chatId, fromId, pressedById: null }, parts)) {
    throw refusalOf(OTHER_PERSON.verdict, OTHER_PERSON.reason)
  }
  const reader = new ByteReader(await parts.stored(place.mediaId, signal))
  try {
    const form = sealedForm(await reader.peek(FORM_BYTES))
    if (form === null) return await takePlain(reader, { place, freshness, parts })
    if (!(await isProtected(place, monotonicNow(), parts)))
      return await keep(reader, parts.room, null)
    const { engine, keyring, room } = parts
    const opened = await engine.openFile(reader, { form, keys: keyring.unlocked, room })
    if (opened.outcome === 'not-encrypted') throw refusalOf('damaged', 'not-encrypted')
    if (opened.outcome !== 'opened') throw refusalOf(opened.outcome, opened.reason)
    parts.onOpened(opened.openedWith)
    return await judge(opened, { place, signal, freshness, parts }).catch(
      async (error: unknown) => {
        await opened.file.close()
        throw error
      },
    )
  } finally {
    await reader.leave()
  }
}

/** Fetches an attachment as it is stored, whatever it is: for a sidecar that opens nothing. */
export async function fetchAttachment(
  mediaId: string,
  signal: AbortSignal,
  parts: Pick<AttachmentParts, 'stored' | 'room'>,
): Promise<Attachment> {
  const reader = new ByteReader(await parts.stored(mediaId, signal))
  try {
    return await keep(reader, parts.room, null)
  } finally {
    await reader.leave()
  }
}

/**
 * Whether an attachment that was opened before may still be given: nothing that was learned since
 * forbids it. One that may not must be fetched and judged anew.
 * @throws Refusal `postern_store_unwritable`
 */
export async function mayStillGive(
  kept: Attachment,
  place: MediaPlace,
  parts: Omit<AttachmentParts, 'onOpened'>,
): Promise<boolean> {
  await parts.fresh()
  if (kept.verdict === null && parts.guard.mustSeal(place.chatId)) return false
  // what a revocation leaves of a signature depends on the reasons and dates of both
  if (kept.signer !== undefined && parts.directory.isRevoked(kept.signer)) return false
  return learnedSince(kept, { ...place, wasUnsigned: true }, parts) === null
}

/** One decision about an attachment. */
interface Decision {
  place: MediaPlace
  freshness: Freshness
  parts: AttachmentParts
}

/** What is not sealed is given in a readable chat alone: anybody could have put it there. */
async function takePlain(
  reader: ByteReader,
  { place, freshness, parts }: Decision,
): Promise<Attachment> {
  const verdict = 'plaintext-in-protected'
  const refuse = (): void => {
    if (!delivers({ verdict }, parts.verify)) throw refusalOf(verdict)
  }
  const wasProtected = await isProtected(place, 0, parts)
  if (wasProtected) refuse()
  const taken = await keep(reader, parts.room, wasProtected ? verdict : null)
  try {
    await freshness.renew()
    if (wasProtected || !parts.guard.mustSeal(place.chatId)) return taken
    refuse()
    return { ...taken, verdict }
  } catch (error) {
    await taken.file.close()
    throw error
  }
}

/**
 * @param sinceMs how old the service's word for open may be
 * @throws ServiceError, NoResponseError when the mode cannot be learned: then nothing is given
 */
async function isProtected(
  { chatId }: MediaPlace,
  sinceMs: number,
  parts: AttachmentParts,
): Promise<boolean> {
  if (parts.guard.mustSeal(chatId)) return true
  const { mode } = await parts.modes.get(chatId, sinceMs)
  return mode === 'protected' || parts.guard.mustSeal(chatId)
}

async function keep(reader: ByteReader, room: Room, verdict: Verdict | null): Promise<Attachment> {
  const raw = await room.file()
  try {
    const writer = new RestingWriter(raw)
    for (let some = await reader.some(); some !== null; some = await reader.some()) {
      if (reader.position > BOUNDS.attachmentBytes) throw new Refusal('postern_media_too_large')
      await writer.write(some)
    }
    return await attachment(await writer.finish(), { tag: randomUUID(), verdict })
  } catch (error) {
    await raw.close()
    throw error
  }
}

async function judge(
  opened: OpenedFile,
  { place, signal, freshness, parts }: Decision & { signal: AbortSignal },
): Promise<Attachment> {
  const { named, verify } = parts
  const { dataDigest } = opened
  await freshness.renew()
  const before = await named.openedBefore(place, dataDigest)
  if (before === 'other') throw refusalOf('replayed', 'other-data-before')
  const receivedAtMs = monotonicNow()
  const found = { chatId: place.chatId, fromId: place.userId, dateMs: null, receivedAtMs, signal }
  const claimed = { kind: 'file' as const, ...found, ...known(before) }
  const bySignatures = await judgeSignatures(opened, claimed, parts)
  const { judged, isForOtherChat } = await judgeAudience(bySignatures, opened, found, parts)
  const unnumbered = { updateId: null, messageId: null, dateMs: null }
  const sighting = { place: { ...place, ...unnumbered }, opened, judged, isForOtherChat }
  await freshness.renew()
  const objection = (): Reasoned | null =>
    learnedSince(judged, { ...place, ...known(before) }, parts)
  const settled = await parts.replayMemory.batch((check) =>
    checkReplay(check, sighting, { verify, objection }),
  )
  const final = settled ?? judged
  const { verdict, reason } = final
  if (!delivers(final, verify)) {
    throw refusalOf(verdict, reason, settled === undefined ? judged.passing : undefined)
  }
  const { userId } = place
  if (verdict === 'verified' && userId !== null) await parts.people.rememberSigned([userId], 'file')
  if (before === 'none') {
    const as = verdict === 'unsigned' ? ([verdict] as const) : ([] as const)
    const isKept = await named.opened(place, dataDigest, ...as)
    if (!isKept) throw refusalOf('replayed', 'other-data-before')
  }
  const tag = createHash('sha256').update(`tag ${dataDigest}`).digest('base64url').slice(0, 22)
  const { signer, signedAtMs } = judged
  return await attachment(opened.file, { tag, verdict, signer, signedAtMs })
}

/** What was judged once under an id keeps its verdict for the same bytes. */
const known = (before: OpenedBefore): Pick<Claimed, 'isKnown' | 'wasUnsigned'> => ({
  isKnown: before === 'same' || before === 'unsigned',
  wasUnsigned: before === 'unsigned',
})

/** What was learned since it was judged, and forbids it. */
function learnedSince(
  judged: Pick<Attachment, 'verdict' | 'signer'>,
  { chatId, userId: fromId, wasUnsigned }: MediaPlace & Pick<Claimed, 'wasUnsigned'>,
  parts: Omit<AttachmentParts, 'onOpened'>,
): Reasoned | null {
  if (isByStranger({ chatId, fromId, pressedById: null }, parts)) return OTHER_PERSON
  return whyNotAnyMore(judged, { fromId, chatId, kind: 'file', wasUnsigned }, parts)
}

async function attachment(
  file: RestingFile,
  about: Omit<Attachment, 'file' | 'contentType'>,
): Promise<Attachment> {
  const head: Buffer[] = []
  for await (const piece of file.read(0, Math.min(TYPE_BYTES, file.bytes))) head.push(piece)
  return { file, contentType: contentTypeOf(Buffer.concat(head)), ...about }
}
