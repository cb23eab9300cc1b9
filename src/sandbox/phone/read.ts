import type { Engine, OpenedFile, OpenedText } from '../../openpgp/index.ts'
import type { PhoneConnection } from './connection.ts'
import { keysOf, type PhoneIdentity } from './keys.ts'
import type { InboxEntry } from './seen.ts'
import type { PublishedKey, StoredMessage } from '../state.ts'

/** The text of a message, and what a phone found out about it. */
export type ReadMessage = Pick<InboxEntry, 'text' | 'verdict' | 'signer'>

/** A phone's own key, and its connection, which gives the certificates of others. */
export interface MessageReader {
  engine: Engine
  identity: PhoneIdentity
  connection: PhoneConnection
}

const UNOPENED: ReadMessage = { text: '', verdict: 'unopened', signer: null }

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
  if (armored === null) return { text: text ?? '', verdict: 'readable', signer: null }
  try {
    const opened = await reader.engine.open(armored, keysOf(reader.identity))
    if (opened.outcome !== 'opened') return UNOPENED
    return { text: opened.text, ...(await verifySignatures(reader, opened, sender)) }
  } catch {
    return UNOPENED
  }
}

/** What a phone finds out of the signatures. @param sender the key that they are verified by */
export async function verifySignatures(
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
