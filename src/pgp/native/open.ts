/** Opening messages of the common form natively; all others are the library's. */
import type { NotOpened, Opened, UnlockedKey } from '../engine.ts'
import { readPlain } from '../format/decrypted-message.ts'
import { openedText } from '../format/opened-text.ts'
import { packetAt } from '../format/packets.ts'
import { openVersion1 } from '../crypto/seipd.ts'
import type { Addressed as RecipientPackets } from '../format/recipient-scan.ts'
import type { Walked } from '../format/encrypted-message.ts'
import type { OwnKey, OwnKeys } from './own-keys.ts'
import { isSealingSecret, type OwnSecret } from './own-secrets.ts'
import type { SealingKey } from '../crypto/public-key.ts'
import {
  openRecipient,
  readRecipient,
  sharedWith,
  type RecipientForm,
} from '../crypto/recipient-packet.ts'
import { CIPHERS, CIPHER_NAME, isCipher, type CipherId } from '../crypto/session-key.ts'

const DAMAGED: NotOpened = { outcome: 'damaged', reason: 'decryption' }
const AES192 = 8

/** The recipient packet that names a key of ours, and that key. */
interface Named {
  form: RecipientForm
  key: UnlockedKey
}

/** The same, with what opens it. */
interface Addressed {
  form: RecipientForm
  secret: OwnSecret<SealingKey>
  openedWith: string
  own: OwnKey
}

/** A message that can be opened natively. */
export interface Begun {
  walked: Walked
  addressed: Addressed
}

/**
 * Opens what the header walk left of a message, in the steps below.
 * @returns null, before anything was decrypted or after all of it held, where the form is not the
 *   common one; what fails to decrypt is damaged, and nobody else is asked
 */
export async function openNatively(
  walked: Walked,
  keys: UnlockedKey[],
  own: OwnKeys,
): Promise<Opened | null> {
  const named = nameIn(walked, keys)
  const begun = named && begin(walked, named, await own.of(named.key))
  return begun && finish(begun, agree(begun))
}

/** Finds the key to open a message with; null where the form is not the common one. */
export function nameIn(walked: Walked, keys: UnlockedKey[]): Named | null {
  return walked.container[0] === 1 ? namedIn(walked, keys) : null
}

/** @param known of that key. @returns null where it does not open natively what is so sealed */
export function begin(walked: Walked, named: Named, known: OwnKey | null): Begun | null {
  const addressed = addressedTo(named, known)
  return addressed && { walked, addressed }
}

/** Finds what our key and the sender's point share: most of the work. */
export function agree({ addressed }: Begun): Buffer | null {
  return sharedWith(addressed.form, addressed.secret)
}

/**
 * Does the rest.
 * @param shared of `agree`
 * @returns as `openNatively`
 */
export function finish({ walked, addressed }: Begun, shared: Buffer | null): Opened | null {
  const { form, secret, openedWith, own } = addressed
  const sessionKey = openRecipient(form, secret, shared)
  if (sessionKey === null) return DAMAGED
  const { cipher, data } = sessionKey
  if (!takes(own, cipher) || data.length !== CIPHERS[cipher].keyBytes) return null
  const packets = openVersion1(walked.container, { algorithm: CIPHER_NAME[cipher], data })
  data.fill(0)
  if (packets === null) return DAMAGED
  const inner = readPlain(packets)
  const { dataDigest, recipients } = walked
  return inner && openedText(inner, { dataDigest, openedWith, recipients })
}

/** The packet that names a key of ours, where there is one of the common form and no other. */
export async function addressedOf(
  packets: RecipientPackets,
  keys: UnlockedKey[],
  own: OwnKeys,
): Promise<Addressed | null> {
  const named = namedIn(packets, keys)
  return named && addressedTo(named, await own.of(named.key))
}

function namedIn({ named, recipientPackets }: RecipientPackets, keys: UnlockedKey[]): Named | null {
  const [packet] = recipientPackets
  if (!named || packet === undefined || recipientPackets.length > 1) return null
  const form = readRecipient(packetAt(packet, 0).body)
  if (form === null) return null
  const isNamed = ({ keyIds }: UnlockedKey): boolean => keyIds.includes(form.keyId)
  const key = keys.find(isNamed)
  return key === undefined || key !== keys.findLast(isNamed) ? null : { form, key }
}

function addressedTo({ form, key }: Named, own: OwnKey | null): Addressed | null {
  const secret = own?.opens.get(form.keyId)
  if (!own || !secret || secret.key.algorithm !== form.algorithm) return null
  if (!isSealingSecret(secret)) return null
  if (form.cipher !== null && !takes(own, form.cipher)) return null
  return { form, secret, openedWith: key.fingerprint, own }
}

/** Whether session keys of a cipher are taken for a key of ours. */
export function takes(own: OwnKey, cipher: number): cipher is CipherId {
  return isCipher(cipher) && (cipher !== AES192 || own.reads(cipher))
}
