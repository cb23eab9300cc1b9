/** One attachment: fetched, opened where it is for us, judged, and at rest. */
import { createHash, randomUUID } from 'node:crypto'
import { filetypeinfo } from 'magic-bytes.js'
import { Freshness, isProtectedIn, maySpeak } from '../kernel/index.ts'
import { judgeFetched, judgeFile, judgeStored } from '../kernel/index.ts'
import type { FileDecision, FileParts, GivenVerdict, MediaPlace, Verdict } from '../kernel/index.ts'
import { Refusal } from '../errors.ts'
import { BOUNDS, ByteReader, FORM_BYTES, RestingWriter, sealedForm } from '../openpgp/index.ts'
import type { Engine, RestingFile, Room } from '../openpgp/index.ts'
import { refusalOf } from './media-refusal.ts'

/** A file as the bot gets it, whole and checked. */
export interface Attachment extends GivenVerdict {
  file: RestingFile
  contentType: string
  /** ETag: stable for the same content while it is cached, and permanent for decrypted content. */
  tag: string
}

export interface AttachmentParts extends FileParts {
  engine: Pick<Engine, 'openFile' | 'verify'>
  room: Room
  /** Called with the fingerprint of the own key that decrypted one, before it is judged. */
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
  const freshness = new Freshness(parts.fresh, parts.time)
  await freshness.renew()
  const speaker = maySpeak({ chatId: place.chatId, fromId: place.userId }, parts)
  if (!speaker.allowed) throw refusalOf(speaker.reason.verdict, speaker.reason.reason)
  await using reader = new ByteReader(await parts.stored(place.mediaId, signal))
  const form = sealedForm(await reader.peek(FORM_BYTES))
  if (form === null) return await takePlain(reader, { place, freshness }, parts)
  if (!(await isProtectedIn([place.chatId], parts.time.monotonicMs(), parts))) {
    return await keep(reader, parts.room, null)
  }
  const { engine, keyring, room } = parts
  const opened = await engine.openFile(reader, { form, keys: keyring.unlocked, room })
  if (opened.outcome === 'not-encrypted') throw refusalOf('damaged', 'not-encrypted')
  if (opened.outcome !== 'opened') throw refusalOf(opened.outcome, opened.reason)
  parts.onOpened(opened.openedWith)
  try {
    const given = givenBy(await judgeFile(opened, { place, signal, freshness }, parts))
    const text = `tag ${opened.dataDigest}`
    const tag = createHash('sha256').update(text).digest('base64url').slice(0, 22)
    return await attachment(opened.file, { tag, ...given })
  } catch (error) {
    await opened.file.close()
    throw error
  }
}

/** Fetches an attachment as it is stored, for a sidecar that opens nothing. */
export async function fetchAttachment(
  mediaId: string,
  signal: AbortSignal,
  parts: Pick<AttachmentParts, 'stored' | 'room'>,
): Promise<Attachment> {
  await using reader = new ByteReader(await parts.stored(mediaId, signal))
  return await keep(reader, parts.room, null)
}

async function takePlain(
  reader: ByteReader,
  { place, freshness }: { place: MediaPlace; freshness: Freshness },
  parts: AttachmentParts,
): Promise<Attachment> {
  const before = givenBy(await judgeStored(place, parts))
  const taken = await keep(reader, parts.room, before.verdict)
  try {
    await freshness.renew()
    return { ...taken, ...givenBy(judgeFetched(before, place, parts)) }
  } catch (error) {
    await taken.file.close()
    throw error
  }
}

/** @throws Refusal for one that is refused */
function givenBy(decision: FileDecision): GivenVerdict {
  if ('given' in decision) return decision.given
  const { verdict, reason, transientError } = decision.refused
  throw refusalOf(verdict, reason, transientError)
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

async function attachment(
  file: RestingFile,
  about: Omit<Attachment, 'file' | 'contentType'>,
): Promise<Attachment> {
  const head: Buffer[] = []
  for await (const piece of file.read(0, Math.min(TYPE_BYTES, file.bytes))) head.push(piece)
  return { file, contentType: contentTypeOf(Buffer.concat(head)), ...about }
}

/** How many bytes of a file show its type. */
const TYPE_BYTES = 512
const UNKNOWN = 'application/octet-stream'
/** Types that no browser executes, for any content; SVG is a document with scripts. */
const GIVEN = /^(?:(?:image|audio|video)\/(?!svg)[a-z0-9.+-]+|application\/(?:pdf|zip|ogg))$/

/**
 * The media type of a file by its first bytes. Only a type that is harmless in a browser is named;
 * all others are `application/octet-stream`.
 */
export function contentTypeOf(head: Uint8Array): string {
  const [first] = filetypeinfo(head.subarray(0, TYPE_BYTES))
  const type = first?.mime ?? UNKNOWN
  return GIVEN.test(type) ? type : UNKNOWN
}
