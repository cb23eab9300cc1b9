import type { Engine, OpenedText } from '../../pgp/engine.ts'
import type { PhoneConnection } from './connection.ts'
import type { PhoneIdentity } from './seal.ts'
import type { StoredMessage } from '../state.ts'

/** What a phone could establish about what it was sent. */
export type PhoneVerdict =
  /** Sealed to this phone and signed by the sender's published key. */
  | 'verified'
  /** Opened, but the signature is not the sender's, or is meant for others. */
  | 'bad'
  /** Opened; nobody signed it. */
  | 'unsigned'
  /** It came as readable words. */
  | 'readable'
  /** Sealed, and this phone cannot open it. */
  | 'unopened'

export interface ReadMessage {
  /** Empty for what could not be opened, and for service notices. */
  text: string
  verdict: PhoneVerdict
  /** Fingerprint of the certificate that verified it, else null. */
  signer: string | null
}

/** Who opens: a phone's own key, and its connection for the certificates of others. */
export interface MessageReader {
  engine: Engine
  identity: PhoneIdentity
  line: PhoneConnection
}

const UNOPENED: ReadMessage = { text: '', verdict: 'unopened', signer: null }

/** Opens and verifies the words of a message. Never throws. */
export async function readMessage(
  who: MessageReader,
  message: StoredMessage,
): Promise<ReadMessage> {
  const { armored, text, fromId } = message
  if (armored === null) return { text: text ?? '', verdict: 'readable', signer: null }
  try {
    const opened = await who.engine.open(armored, [who.identity.key, ...who.identity.former])
    if (opened.outcome !== 'opened') return UNOPENED
    const signer = who.line.keyOf(fromId)
    const verdict = await judge(who, opened, signer?.publicKey ?? null)
    const by = verdict === 'verified' ? (signer?.fingerprint ?? null) : null
    return { text: opened.text, verdict, signer: by }
  } catch {
    return UNOPENED
  }
}

async function judge(
  { engine, identity }: MessageReader,
  opened: OpenedText,
  certificate: string | null,
): Promise<PhoneVerdict> {
  if (opened.signatures.length === 0) return 'unsigned'
  if (certificate === null) return 'bad'
  const own = [identity.key, ...identity.former].map(({ fingerprint }) => fingerprint)
  const results = await engine.verify(opened.signed, certificate, Date.now())
  const good = opened.signatures.some(({ intended }, index) => {
    const meant = intended.length === 0 || own.some((one) => intended.includes(one))
    return results[index] === 'valid' && meant
  })
  return good ? 'verified' : 'bad'
}
