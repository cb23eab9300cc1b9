/** What a phone receives, opened and verified. */
import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { ByteReader, FORM_BYTES, sealedForm, type RawFile } from '../../openpgp/index.ts'
import type { Engine, OpenedFile, OpenedText } from '../../openpgp/index.ts'
import type { EventBody } from '../events/event.ts'
import type { PublishedKey, StoredMessage } from '../state.ts'
import type { PhoneConnection } from './connection.ts'
import { keysOf, type PhoneIdentity } from './keys.ts'
import type { InboxEntry, SeenEvent } from './seen.ts'

/** The text of a message, and what a phone found out about it. */
export type ReadMessage = Pick<InboxEntry, 'text' | 'verdict' | 'signer'>

/** A phone's own key, and its connection, which gives the certificates of others. */
export interface MessageReader {
  engine: Engine
  identity: PhoneIdentity
  connection: PhoneConnection
}

const UNREAD = { verdict: 'unopened', signer: null } as const
const READABLE = { verdict: 'readable', signer: null } as const
const UNOPENED: ReadMessage = { ...UNREAD, text: '' }

/**
 * Opens and verifies the text of a message. Never throws.
 * @param sender the key that it is verified by; the one that is published now when not given
 */
export async function readMessage(
  reader: MessageReader,
  message: StoredMessage,
  sender: PublishedKey | null = reader.connection.publishedKeyOf(message.fromId),
): Promise<ReadMessage> {
  const { armored, text } = message
  if (armored === null) return { ...READABLE, text: text ?? '' }
  try {
    const opened = await reader.engine.open(armored, keysOf(reader.identity))
    if (opened.outcome !== 'opened') return UNOPENED
    return { text: opened.text, ...(await verifySignatures(reader, opened, sender)) }
  } catch {
    return UNOPENED
  }
}

/** What a phone finds out of the signatures. @param sender the key that they are verified by */
async function verifySignatures(
  { engine, identity, connection }: MessageReader,
  opened: OpenedText | OpenedFile,
  sender: PublishedKey | null,
): Promise<Pick<InboxEntry, 'verdict' | 'signer'>> {
  if (opened.signatures.length === 0) return { verdict: 'unsigned', signer: null }
  if (sender === null) return { verdict: 'bad', signer: null }
  const own = keysOf(identity).map(({ fingerprint }) => fingerprint)
  // people sign by the time at the service, a bot by that of its machine
  const nowMs = Math.max(Date.now(), connection.nowMs())
  const results = await engine.verify(opened.signed, sender.publicKey, nowMs)
  const good = opened.signatures.some(({ intended }, index) => {
    const meant = intended.length === 0 || own.some((one) => intended.includes(one))
    return results[index] === 'valid' && meant
  })
  return good
    ? { verdict: 'verified', signer: sender.fingerprint }
    : { verdict: 'bad', signer: null }
}

/** Something that a phone received, with the time of the sandbox's clock. */
export type ReceivedEvent = UnreadMessage | { seen: UnnumberedEvent }

/** A message that is not opened yet, as it was when received. */
export interface UnreadMessage {
  chatId: number
  message: StoredMessage
  edited: boolean
  /** The sender's key as it was published then, by which it is verified however late it is opened. */
  senderKey: PublishedKey | null
  at: number
}

/** What a phone shows, before it has its number. */
export type UnnumberedEvent = Unnumbered<SeenEvent>
type Unnumbered<E> = E extends unknown ? Omit<E, 'n'> : never

/** What a phone receives of an event of the world; null when it shows nothing of it. */
export function receivedOf(
  event: EventBody,
  { userId, connection }: { userId: number; connection: PhoneConnection },
): ReceivedEvent | null {
  const at = connection.nowMs()
  if (event.kind === 'message' || event.kind === 'edited') {
    const { chatId, messageId, fromId } = event
    const message = connection.received(chatId, messageId)
    if (fromId === userId || message === undefined) return null
    const senderKey = connection.publishedKeyOf(fromId)
    return { chatId, message: { ...message }, edited: event.kind === 'edited', senderKey, at }
  }
  if (event.kind === 'deleted') {
    return connection.isIn(event.chatId) ? { seen: { at, ...event } } : null
  }
  if (event.kind === 'typing') {
    const { botId, ...shown } = event
    return connection.isIn(event.chatId) ? { seen: { at, userId: botId, ...shown } } : null
  }
  if (event.kind === 'key') {
    return connection.hasCommonChatWith(event.userId) ? { seen: { at, ...event } } : null
  }
  if (event.kind !== 'answer' || event.userId !== userId) return null
  const { botId: _bot, userId: _user, ...shown } = event
  return { seen: { at, ...shown } }
}

/** Opens and verifies a message that was received, as the phone shows it. */
export async function openUnread(
  reader: MessageReader,
  { chatId, message, edited, senderKey, at }: UnreadMessage,
): Promise<Omit<InboxEntry, 'n'>> {
  const { id: messageId, fromId, kind } = message
  const read = await readMessage(reader, message, senderKey)
  const shown = kind !== 'user' ? kind : edited ? 'edited' : 'message'
  return { kind: shown, at, messageId, chatId, fromId, edited, ...read }
}

/** A file as a phone shows it. */
export interface ReadFile extends Pick<ReadMessage, 'verdict' | 'signer'> {
  /** Empty when it could not be opened. */
  bytes: Buffer
}

const UNOPENED_FILE: ReadFile = { ...UNREAD, bytes: Buffer.alloc(0) }

/**
 * Opens and verifies a file, of which `stored` is what the service holds. Never throws.
 * @param fromId who sent it
 */
export async function readFile(
  reader: MessageReader,
  { stored, fromId }: { stored: Uint8Array; fromId: number },
): Promise<ReadFile> {
  const form = sealedForm(stored.subarray(0, FORM_BYTES))
  if (form === null) return { bytes: Buffer.from(stored), ...READABLE }
  const { engine, identity, connection } = reader
  try {
    const opened = await engine.openFile(new ByteReader(Readable.from([stored])), {
      form,
      keys: keysOf(identity),
      room: { file: () => Promise.resolve(new MemoryFile()) },
    })
    if (opened.outcome !== 'opened') return UNOPENED_FILE
    const signed = await verifySignatures(reader, opened, connection.publishedKeyOf(fromId))
    return { bytes: await buffer(opened.file.read()), ...signed }
  } catch {
    return UNOPENED_FILE
  }
}

/** A file of a phone never rests on a disk. */
class MemoryFile implements RawFile {
  bytes = 0
  #pieces: Buffer[] = []

  async append(piece: Uint8Array): Promise<void> {
    this.#pieces.push(Buffer.from(piece))
    this.bytes += piece.length
  }

  async read(at: number, bytes: number): Promise<Buffer> {
    if (this.#pieces.length > 1) this.#pieces = [Buffer.concat(this.#pieces)]
    return this.#pieces[0]?.subarray(at, at + bytes) ?? Buffer.alloc(0)
  }

  async close(): Promise<void> {}
}
