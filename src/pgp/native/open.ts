/** Opening messages of the common form natively; all others are the library's. */
import type { NotOpened, Opened, UnlockedKey } from '../engine.ts'
import { readPlain } from '../inner.ts'
import { openedText } from '../opened-text.ts'
import { packetAt } from '../packets.ts'
import { openVersion1 } from '../seipd.ts'
import type { Addressed as RecipientPackets } from '../addressees.ts'
import type { Walked } from '../walk.ts'
import type { OwnKey, OwnKeys } from './own-keys.ts'
import { isSealingSecret, type OwnSecret } from './own-secrets.ts'
import type { SealingKey } from './curve-key.ts'
import { openRecipient, readRecipient, sharedWith, type RecipientForm } from './recipient-packet.ts'
import { CIPHERS, CIPHER_NAME, isCipher, type CipherId } from './session-key.ts'

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
  takes: (cipher: number) => cipher is CipherId
}

/** A message that can be opened natively. */
export interface Begun extends Addressed {
  walked: Walked
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
  return addressed && { ...addressed, walked }
}

/** Finds what our key and the sender's point share: most of the work. */
export function agree({ form, secret }: Begun): Buffer | null {
  return sharedWith(form, secret)
}

/**
 * Does the rest.
 * @param shared of `agree`
 * @returns as `openNatively`
 */
export function finish(
  { walked, form, secret, openedWith, takes }: Begun,
  shared: Buffer | null,
): Opened | null {
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
  packets: RecipientPackets,
  keys: UnlockedKey[],
  own: OwnKeys,
): Promise<Addressed | null> {
  const named = namedIn(packets, keys)
  return named && addressedTo(named, await own.of(named.key))
}

function namedIn({ named, recipientPackets }: RecipientPackets, keys: UnlockedKey[]): Named | null {
  const [packet, ...others] = recipientPackets
  if (!named || packet === undefined || others.length > 0) return null
  const form = readRecipient(packetAt(packet, 0).body)
  if (form === null) return null
  const [key, ...more] = keys.filter(({ keyIds }) => keyIds.includes(form.keyId))
  return key === undefined || more.length > 0 ? null : { form, key }
}

function addressedTo({ form, key }: Named, known: OwnKey | null): Addressed | null {
  const secret = known?.opens.get(form.keyId)
  if (!known || !secret || secret.key.algorithm !== form.algorithm) return null
  if (!isSealingSecret(secret)) return null
  const takes = (cipher: number): cipher is CipherId =>
    isCipher(cipher) && (cipher !== AES192 || known.reads(cipher))
  if (form.cipher !== null && !takes(form.cipher)) return null
  return { form, secret, openedWith: key.fingerprint, takes }
}
