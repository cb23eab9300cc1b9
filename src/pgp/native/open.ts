/** Opening messages of the common form natively; all others are the library's. */
import type { NotOpened, Opened, UnlockedKey } from '../engine.ts'
import { readPlain } from '../inner.ts'
import { openedText } from '../opened-text.ts'
import { packetsOf } from '../packets.ts'
import { openVersion1 } from '../seipd.ts'
import type { Addressed as RecipientPackets } from '../addressees.ts'
import type { Walked } from '../walk.ts'
import type { OwnKeys } from './own-keys.ts'
import { isSealingSecret, type OwnSecret } from './own-secrets.ts'
import type { SealingKey } from './curve-key.ts'
import { openRecipient, readRecipient, type RecipientForm } from './recipient-packet.ts'
import { CIPHERS, CIPHER_NAME, isCipher, type CipherId } from './session-key.ts'

const DAMAGED: NotOpened = { outcome: 'damaged', reason: 'decryption' }
const AES192 = 8

/** One recipient packet that names a key of ours, and that key. */
interface Addressed {
  form: RecipientForm
  secret: OwnSecret<SealingKey>
  openedWith: string
  takes: (cipher: number) => cipher is CipherId
}

/**
 * Opens what the header walk left of a message.
 * @returns null, before anything was decrypted or after all of it held, where the form is not the
 *   common one; what fails to decrypt is damaged, and nobody else is asked
 */
export async function openNatively(
  walked: Walked,
  keys: UnlockedKey[],
  own: OwnKeys,
): Promise<Opened | null> {
  if (walked.container[0] !== 1) return null
  const addressed = await addressedOf(walked, keys, own)
  if (addressed === null) return null
  const { form, secret, openedWith, takes } = addressed
  const sessionKey = openRecipient(form, secret)
  if (sessionKey === null) return DAMAGED
  const { cipher, data } = sessionKey
  if (!takes(cipher) || data.length !== CIPHERS[cipher].keyBytes) return null
  const packets = openVersion1(walked.container, { algorithm: CIPHER_NAME[cipher], data })
  data.fill(0)
  if (packets === null) return DAMAGED
  const inner = readPlain(packets)
  return inner && openedText(inner, { dataDigest: walked.dataDigest, openedWith })
}

/** The packet that names a key of ours, where there is one of the common form and no other. */
export async function addressedOf(
  { named, recipientPackets }: RecipientPackets,
  keys: UnlockedKey[],
  own: OwnKeys,
): Promise<Addressed | null> {
  const [packet, ...others] = recipientPackets
  if (!named || packet === undefined || others.length > 0) return null
  const form = formOf(packet)
  if (form === null) return null
  const [key, ...more] = keys.filter(({ keyIds }) => keyIds.includes(form.keyId))
  if (key === undefined || more.length > 0) return null
  const known = await own.of(key)
  const secret = known?.opens.get(form.keyId)
  if (!known || !secret || secret.key.algorithm !== form.algorithm) return null
  if (!isSealingSecret(secret)) return null
  const takes = (cipher: number): cipher is CipherId =>
    isCipher(cipher) && (cipher !== AES192 || known.reads(cipher))
  if (form.cipher !== null && !takes(form.cipher)) return null
  return { form, secret, openedWith: key.fingerprint, takes }
}

function formOf(packet: Uint8Array): RecipientForm | null {
  for (const { body } of packetsOf(packet)) return readRecipient(body)
  return null
}
