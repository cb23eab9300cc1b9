/** Whether what a certificate says it can do is so: found out by doing it once. */
import { encryptSessionKey, type Key, type PublicKey, type Subkey } from 'openpgp'
import { publicKeyOf } from '../crypto/public-key.ts'
import { isRecipientKey, recipientAlgorithm } from '../crypto/algorithms.ts'

/**
 * Seals a session key of zeros to a subkey, which fails where its point is not on its curve, its
 * numbers are none, or its key derivation is unknown: one person of a group with such a
 * certificate would otherwise stop every message to all others.
 * @param date at which the subkey was found to be valid
 */
export async function canBeSealedTo(
  key: PublicKey,
  subkey: Key | Subkey,
  date: Date,
): Promise<boolean> {
  const common = publicKeyOf(subkey.keyPacket.write())
  if (common !== null && isRecipientKey(common)) {
    return recipientAlgorithm(common.algorithm).isSound(common.point)
  }
  try {
    await encryptSessionKey({
      data: new Uint8Array(32),
      algorithm: 'aes256',
      encryptionKeys: key,
      encryptionKeyIDs: [subkey.getKeyID()],
      date,
      format: 'binary',
    })
    return true
  } catch {
    return false
  }
}
