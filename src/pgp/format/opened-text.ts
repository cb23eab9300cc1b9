/** What is given of a message once it was decrypted: its text, with signatures still unverified. */
import { isUtf8 } from 'node:buffer'
import type { NotOpened, OpenedText } from '../engine.ts'
import type { Decrypted } from './decrypted-message.ts'
import { bufferOf } from '../bytes.ts'

/**
 * Takes what stands inside a message, and what is known of its outside. What is no UTF-8 is damaged: a replaced character would be words that
 * the person did not write.
 */
export function openedText(
  inner: Decrypted,
  about: Pick<OpenedText, 'dataDigest' | 'openedWith' | 'recipients'>,
): OpenedText | NotOpened {
  if (inner.outcome !== 'document') return inner
  const text = decodeText(inner.document)
  if (text === null) return { outcome: 'damaged', reason: 'encoding' }
  return {
    outcome: 'opened',
    text,
    ...about,
    signatures: inner.claims.map(({ issuerKeyId, createdMs, intended, digest }) => ({
      issuerKeyId,
      createdMs,
      intended,
      digest,
    })),
    signed: { document: inner.document, signatures: inner.signaturePackets },
  }
}

function decodeText(document: Uint8Array): string | null {
  return isUtf8(document) ? bufferOf(document).toString('utf8') : null
}
