/** One attachment: fetched, opened where it is for us, judged, and at rest. */
import { createHash, randomUUID } from 'node:crypto'
import type { MediaPlace, NamedMedia } from '../chats/named-media.ts'
import type { Modes } from '../chats/modes.ts'
import type { Seen } from '../chats/seen.ts'
import { Refusal } from '../errors.ts'
import { moment } from '../fresh-cache.ts'
import { TYPE_OCTETS, contentTypeOf } from '../media/content-type.ts'
import { FORM_BYTES, sealedForm } from '../pgp/format/encrypted-message.ts'
import { ByteReader } from '../pgp/format/byte-reader.ts'
import type { Room } from '../pgp/stream/raw-file.ts'
import { RestingWriter, type RestingFile } from '../pgp/stream/resting.ts'
import type { OpenedFile } from '../pgp/engine.ts'
import { BOUNDS } from '../pgp/bounds.ts'
import type { Guard } from './guard.ts'
import { refusalOf } from './media-refusal.ts'
import { judgeSignatures, type Judged, type SignatureParts } from './signatures.ts'
import { delivers, type Verdict, type VerifyPolicy } from './verdict.ts'

/** A file as the bot gets it, whole and checked. */
export interface Attachment {
  file: RestingFile
  contentType: string
  /** The same for the same content as long as it is kept, and of what was opened for ever. */
  tag: string
  /** Null for what is given as it is stored. */
  verdict: Verdict | null
  /** Fingerprint of the certificate that verified it. */
  signer?: string
}

export interface AttachmentParts extends SignatureParts {
  modes: Modes
  guard: Guard
  seen: Seen
  named: NamedMedia
  room: Room
  /** Setting `open.verify`. */
  verify: VerifyPolicy
  /** Told the fingerprint of the own key that opened one, whatever came of it then. */
  opened: (fingerprint: string) => void
  /** The octets of a stored attachment. @throws ServiceSaid, Unanswered, Refusal */
  stored: (mediaId: string, signal: AbortSignal) => Promise<AsyncIterable<Uint8Array>>
}

/**
 * Fetches an attachment of a known place: opened where it is an encrypted message and the chat is
 * protected, else as it is stored.
 * @throws Refusal with the codes of media; ServiceSaid and Unanswered from the service
 */
export async function openAttachment(
  place: MediaPlace,
  signal: AbortSignal,
  parts: AttachmentParts,
): Promise<Attachment> {
  const reader = new ByteReader(await parts.stored(place.mediaId, signal))
  try {
    const form = sealedForm(await reader.peek(FORM_BYTES))
    if (form === null) return await takePlain(reader, place, parts)
    if (!(await isProtected(place, parts))) return await keep(reader, parts.room, null)
    const { engine, keyring, room } = parts
    const opened = await engine.openFile(reader, { form, keys: keyring.unlocked, room })
    if (opened.outcome === 'not-encrypted') throw refusalOf('damaged', 'not-encrypted')
    if (opened.outcome !== 'opened') throw refusalOf(opened.outcome, opened.reason)
    parts.opened(opened.openedWith)
    return await judge(opened, { place, signal, parts }).catch(async (error: unknown) => {
      await opened.file.close()
      throw error
    })
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

/** What is not sealed: only who demands signatures cares what the chat is. */
async function takePlain(
  reader: ByteReader,
  place: MediaPlace,
  parts: AttachmentParts,
): Promise<Attachment> {
  const verdict = 'plaintext-in-protected'
  if (parts.verify === 'require' && (await isProtected(place, parts))) throw refusalOf(verdict)
  const sealsThere = parts.guard.mustSeal(place.chatId)
  return await keep(reader, parts.room, sealsThere ? verdict : null)
}

/** @throws ServiceSaid, Unanswered when the mode cannot be learned: then nothing is opened */
async function isProtected({ chatId }: MediaPlace, parts: AttachmentParts): Promise<boolean> {
  if (parts.guard.mustSeal(chatId)) return true
  const { mode } = await parts.modes.get(chatId, moment())
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
  { place, signal, parts }: { place: MediaPlace; signal: AbortSignal; parts: AttachmentParts },
): Promise<Attachment> {
  const { named, verify } = parts
  const { dataDigest } = opened
  const before = await named.openedBefore(place, dataDigest)
  if (before === 'other') throw refusalOf('replayed', 'other-data-before')
  const { chatId, userId: fromId } = place
  const isKnown = before === 'same'
  const claimed = { kind: 'file' as const, chatId, fromId, receivedAtMs: moment(), signal, isKnown }
  const judged = await judgeSignatures(opened, claimed, parts)
  const verdict = await settle(opened, judged, { place, parts })
  if (!delivers(verdict, verify)) {
    throw verdict === judged.verdict
      ? refusalOf(verdict, judged.reason, judged.passing)
      : refusalOf(verdict)
  }
  if (verdict === 'verified' && fromId !== null) await parts.people.rememberSigned([fromId], 'file')
  if (before === 'none') await named.opened(place, dataDigest)
  const tag = createHash('sha256').update(`tag ${dataDigest}`).digest('base64url').slice(0, 22)
  const { signer } = judged
  return await attachment(opened.file, { tag, verdict, ...(signer && { signer }) })
}

/** Asks the memory against replays, and records what is delivered. */
async function settle(
  { dataDigest, signatures }: OpenedFile,
  judged: Judged,
  { place, parts }: { place: MediaPlace; parts: AttachmentParts },
): Promise<Verdict> {
  const { mediaId, chatId, userId } = place
  const sighting = { chatId, userId, mediaId, messageId: null, dataDigest }
  return await parts.seen.batch(async (check) => {
    const claims = signatures.map(({ digest }) => digest)
    if (await check.isReplay(sighting, claims)) return 'replayed'
    if (delivers(judged.verdict, parts.verify)) {
      const { signatureDigest = null } = judged
      await check.remember({ ...sighting, signatureDigest })
    }
    return judged.verdict
  })
}

async function attachment(
  file: RestingFile,
  about: Pick<Attachment, 'tag' | 'verdict' | 'signer'>,
): Promise<Attachment> {
  const head: Buffer[] = []
  for await (const piece of file.read(0, Math.min(TYPE_OCTETS, file.bytes))) head.push(piece)
  return { file, contentType: contentTypeOf(Buffer.concat(head)), ...about }
}
