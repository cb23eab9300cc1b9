/** Opening: from what the header walk left to a document with unverified signatures. */
import { decryptSessionKeys, readMessage, type DecryptedSessionKey, type PrivateKey } from 'openpgp'
import { secretKeyOf } from './key-cache.ts'
import type { NotOpened, OpenedText, UnlockedKey } from '../engine.ts'
import { readDecrypted } from '../format/decrypted-message.ts'
import { openedText } from '../format/opened-text.ts'
import { TAG, framePacket } from '../format/packets.ts'
import { writePackets } from './write-packets.ts'
import { isNativeCipher, openVersion1 } from '../crypto/seipd.ts'
import type { EncryptedMessage } from '../format/encrypted-message.ts'

/** Stands in for the container while recipient packets are read, so that it is not copied. */
const NO_DATA = framePacket(TAG.seipd, Buffer.concat([Buffer.from([1]), Buffer.alloc(64)]))

/**
 * Takes what `parseMessage` left and the keys to try. Gives the document as text, or why not.
 * Everything cryptographic that fails is `damaged` with one reason: no oracle in the difference.
 */
export async function open(
  encrypted: EncryptedMessage,
  keys: UnlockedKey[],
): Promise<OpenedText | NotOpened> {
  const found = await findSessionKey(encrypted, keys)
  if (found === null) return { outcome: 'damaged', reason: 'decryption' }
  if (found === 'not-recipient') return { outcome: 'not-recipient' }
  const inner = await readDecrypted(found.packets, bunzip)
  const { dataDigest, recipients } = encrypted
  return openedText(inner, { dataDigest, openedWith: found.fingerprint, recipients })
}

interface Found {
  packets: Uint8Array
  fingerprint: string
}

async function findSessionKey(
  encrypted: EncryptedMessage,
  keys: UnlockedKey[],
): Promise<Found | 'not-recipient' | null> {
  let anySessionKey = false
  for (const key of keys) {
    const secretKey = await secretKeyOf(key)
    for (const sessionKey of await sessionKeysFor(encrypted, secretKey)) {
      anySessionKey = true
      const packets = await openContainer(
        encrypted.container,
        sessionKey,
        encrypted.recipientPackets,
        secretKey,
      )
      if (packets !== null) return { packets, fingerprint: key.fingerprint }
    }
  }
  const named = encrypted.named
  return anySessionKey || named ? null : 'not-recipient'
}

async function sessionKeysFor(
  encrypted: EncryptedMessage,
  secretKey: PrivateKey,
): Promise<DecryptedSessionKey[]> {
  const found: DecryptedSessionKey[] = []
  for (const packet of encrypted.recipientPackets) {
    try {
      const message = await readMessage({ binaryMessage: Buffer.concat([packet, NO_DATA]) })
      found.push(...(await decryptSessionKeys({ message, decryptionKeys: secretKey })))
    } catch {
      continue
    }
  }
  return found
}

async function openContainer(
  container: Uint8Array,
  sessionKey: DecryptedSessionKey,
  recipientPackets: Uint8Array[],
  secretKey: PrivateKey,
): Promise<Uint8Array | null> {
  const { algorithm, data } = sessionKey
  if (container[0] === 1 && algorithm !== null && isNativeCipher(algorithm)) {
    return openVersion1(container, { algorithm, data })
  }
  try {
    const binaryMessage = Buffer.concat([...recipientPackets, framePacket(TAG.seipd, container)])
    const message = await readMessage({ binaryMessage })
    return await writePackets((await message.decrypt([secretKey])).packets)
  } catch {
    return null
  }
}

/** bzip2, which the platform lacks; the library holds it to the profile's bound. */
async function bunzip(packet: Uint8Array): Promise<Uint8Array> {
  const message = await readMessage({ binaryMessage: packet })
  return await writePackets(message.unwrapCompressed().packets)
}
