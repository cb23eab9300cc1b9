/** Session keys of attachments, natively where their recipient packet is of the common form. */
import type { Addressed } from '../format/recipient-scan.ts'
import type { FoundKey } from '../library/open-file.ts'
import type { UnlockedKey } from '../engine.ts'
import { addressedOf, takes } from './open.ts'
import type { OwnKeys } from './own-keys.ts'
import { openRecipient } from '../crypto/recipient-packet.ts'
import { CIPHERS, CIPHER_NAME } from '../crypto/session-key.ts'

/**
 * Gives the session key that a recipient packet holds for us, or none when it does not open.
 * @returns null where the form is not the common one: then the library must be asked
 */
export async function unwrapNatively(
  addressed: Addressed,
  keys: UnlockedKey[],
  own: OwnKeys,
): Promise<FoundKey[] | null> {
  const found = await addressedOf(addressed, keys, own)
  if (found === null) return null
  const { form, secret, openedWith } = found
  const sessionKey = openRecipient(form, secret)
  if (sessionKey === null) return []
  const { cipher, data } = sessionKey
  if (!takes(found.own, cipher) || data.length !== CIPHERS[cipher].keyBytes) return null
  return [{ algorithm: CIPHER_NAME[cipher], data, fingerprint: openedWith }]
}
