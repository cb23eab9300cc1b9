/** Opening messages of the common form natively; all others are the library's. */

import type { RecipientKey } from '../crypto/algorithm.ts'
import { CIPHER_NAME, isCipher, keyBytesOf, type CipherId, openVersion1 } from '../crypto/seipd.ts'
import {
  openRecipient,
  readRecipient,
  sharedWith,
  type RecipientForm,
} from '../crypto/recipient.ts'
import type { NotOpened, Opened, UnlockedKey } from '../engine.ts'
import { openedText, readUncompressed } from '../format/decrypted-message.ts'
import type { EncryptedMessage } from '../format/encrypted-message.ts'
import { packetAt } from '../format/packets.ts'
import type { ScannedRecipients } from '../format/recipient-scan.ts'
import type { FoundKey } from '../library/open.ts'
import { isRecipientSecret, type OwnSecret } from './own-secrets.ts'
import type { NativeOwnKey, NativeOwnKeys } from './own-keys.ts'

const DAMAGED: NotOpened = { outcome: 'damaged', reason: 'decryption' }
const AES192 = 8

/** The recipient packet that names a key of ours, and that key. */
interface NamedPacket {
  form: RecipientForm
  key: UnlockedKey
}

/** The same, with what opens it. */
interface OwnRecipient {
  form: RecipientForm
  secret: OwnSecret<RecipientKey>
  openedWith: string
  own: NativeOwnKey
}

/** A message that can be opened natively. */
export interface BegunMessage {
  encrypted: EncryptedMessage
  recipient: OwnRecipient
}

/**
 * Opens what was parsed of a message, in the steps below.
 * @returns null, before anything was decrypted or after all of it held, where the form is not the
 *   common one; what fails to decrypt is damaged, and nobody else is asked
 */
export async function openNatively(
  encrypted: EncryptedMessage,
  keys: UnlockedKey[],
  own: NativeOwnKeys,
): Promise<Opened | null> {
  const named = nameIn(encrypted, keys)
  const begun = named && begin(encrypted, named, await own.of(named.key))
  return begun && finish(begun, agree(begun))
}

/** Finds the key to open a message with; null where the form is not the common one. */
export function nameIn(encrypted: EncryptedMessage, keys: UnlockedKey[]): NamedPacket | null {
  return encrypted.container[0] === 1 ? namedIn(encrypted, keys) : null
}

/** @param known of that key. @returns null where it does not open natively what is so sealed */
export function begin(
  encrypted: EncryptedMessage,
  named: NamedPacket,
  known: NativeOwnKey | null,
): BegunMessage | null {
  const recipient = ownRecipient(named, known)
  return recipient && { encrypted, recipient }
}

/** Finds what our key and the sender's point share: most of the work. */
export function agree({ recipient }: BegunMessage): Buffer | null {
  return sharedWith(recipient.form, recipient.secret)
}

/**
 * Does the rest.
 * @param shared of `agree`
 * @returns as `openNatively`
 */
export function finish(
  { encrypted, recipient }: BegunMessage,
  shared: Buffer | null,
): Opened | null {
  const { form, secret, openedWith, own } = recipient
  const sessionKey = openRecipient(form, secret, shared)
  if (sessionKey === null) return DAMAGED
  const { cipher, data } = sessionKey
  if (!takes(own, cipher) || data.length !== keyBytesOf(cipher)) return null
  const packets = openVersion1(encrypted.container, { algorithm: CIPHER_NAME[cipher], data })
  data.fill(0)
  if (packets === null) return DAMAGED
  const decrypted = readUncompressed(packets)
  const { dataDigest, recipients } = encrypted
  return decrypted && openedText(decrypted, { dataDigest, openedWith, recipients })
}

/** The packet that names a key of ours, where there is one of the common form and no other. */
async function ownRecipientOf(
  packets: ScannedRecipients,
  keys: UnlockedKey[],
  own: NativeOwnKeys,
): Promise<OwnRecipient | null> {
  const named = namedIn(packets, keys)
  return named && ownRecipient(named, await own.of(named.key))
}

function namedIn(
  { named, recipientPackets }: ScannedRecipients,
  keys: UnlockedKey[],
): NamedPacket | null {
  const [packet] = recipientPackets
  if (!named || packet === undefined || recipientPackets.length > 1) return null
  const form = readRecipient(packetAt(packet, 0).body)
  if (form === null) return null
  const isNamed = ({ keyIds }: UnlockedKey): boolean => keyIds.includes(form.keyId)
  const key = keys.find(isNamed)
  return key === undefined || key !== keys.findLast(isNamed) ? null : { form, key }
}

function ownRecipient({ form, key }: NamedPacket, own: NativeOwnKey | null): OwnRecipient | null {
  const secret = own?.opens.get(form.keyId)
  if (!own || !secret || secret.key.algorithm !== form.algorithm) return null
  if (!isRecipientSecret(secret)) return null
  if (form.cipher !== null && !takes(own, form.cipher)) return null
  return { form, secret, openedWith: key.fingerprint, own }
}

/** Whether session keys of a cipher are taken for a key of ours. */
function takes(own: NativeOwnKey, cipher: number): cipher is CipherId {
  return isCipher(cipher) && (cipher !== AES192 || own.reads(cipher))
}

/**
 * Gives the session key of an attachment that a recipient packet holds for us, or none when it does
 * not open.
 * @returns null where the form is not the common one: then the library must be asked
 */
export async function unwrapNatively(
  recipients: ScannedRecipients,
  keys: UnlockedKey[],
  own: NativeOwnKeys,
): Promise<FoundKey[] | null> {
  const found = await ownRecipientOf(recipients, keys, own)
  if (found === null) return null
  const { form, secret, openedWith } = found
  const sessionKey = openRecipient(form, secret)
  if (sessionKey === null) return []
  const { cipher, data } = sessionKey
  if (!takes(found.own, cipher) || data.length !== keyBytesOf(cipher)) return null
  return [{ algorithm: CIPHER_NAME[cipher], data, fingerprint: openedWith }]
}
