import type { Engine, OpenedFile, OpenedText } from '../../openpgp/index.ts'
import type { PhoneConnection } from './connection.ts'
import type { PhoneIdentity } from './seal.ts'
import type { InboxEntry, PhoneVerdict } from './seen.ts'
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
    const opened = await reader.engine.open(armored, [
      reader.identity.key,
      ...reader.identity.former,
    ])
    if (opened.outcome !== 'opened') return UNOPENED
    const verdict = await verifySignatures(reader, opened, sender?.publicKey ?? null)
    const by = verdict === 'verified' ? (sender?.fingerprint ?? null) : null
    return { text: opened.text, verdict, signer: by }
  } catch {
    return UNOPENED
  }
}

/** @param certificate of the sender, or null */
export async function verifySignatures(
  { engine, identity, connection }: MessageReader,
  opened: OpenedText | OpenedFile,
  certificate: string | null,
): Promise<PhoneVerdict> {
  if (opened.signatures.length === 0) return 'unsigned'
  if (certificate === null) return 'bad'
  const own = [identity.key, ...identity.former].map(({ fingerprint }) => fingerprint)
  // people sign by the time at the service, a bot by that of its machine
  const nowMs = Math.max(Date.now(), connection.nowMs())
  const results = await engine.verify(opened.signed, certificate, nowMs)
  const good = opened.signatures.some(({ intended }, index) => {
    const meant = intended.length === 0 || own.some((one) => intended.includes(one))
    return results[index] === 'valid' && meant
  })
  return good ? 'verified' : 'bad'
}
