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
import { openRecipient, readRecipient, sharedWith, type RecipientForm } from './recipient-packet.ts'
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

/** A message that can be opened natively, and how far that has come. */
export interface Begun extends Addressed {
  walked: Walked
  /** Of our key and the sender's point; null where nothing may be shared with that. */
  shared: Buffer | null
}

/**
 * Opens what the header walk left of a message, in the three steps below.
 * @returns null, before anything was decrypted or after all of it held, where the form is not the
 *   common one; what fails to decrypt is damaged, and nobody else is asked
 */
export async function openNatively(
  walked: Walked,
  keys: UnlockedKey[],
  own: OwnKeys,
): Promise<Opened | null> {
  const begun = await begin(walked, keys, own)
  if (begun === null) return null
  agree(begun)
  return finish(begun)
}

/** Finds the key to open a message with; null where the form is not the common one. */
export async function begin(
  walked: Walked,
  keys: UnlockedKey[],
  own: OwnKeys,
): Promise<Begun | null> {
  if (walked.container[0] !== 1) return null
  const addressed = await addressedOf(walked, keys, own)
  return addressed && { ...addressed, walked, shared: null }
}

/** Finds what our key and the sender's point share: most of the work. */
export function agree(begun: Begun): void {
  begun.shared = sharedWith(begun.form, begun.secret)
}

/** Does the rest. @returns as `openNatively` */
export function finish({ walked, form, secret, openedWith, takes, shared }: Begun): Opened | null {
  const sessionKey = openRecipient(form, secret, shared)
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
