/**
 * Version 1 containers (RFC 9580, 5.13.1) with openpgp.js, as bytes: the library parses decrypted
 * packets at once, and serializes them differently. Our own grammar judges packets as sent.
 */
import { createDecipheriv, createHash, createSecretKey } from 'node:crypto'
import { PacketList, SymEncryptedIntegrityProtectedDataPacket, enums } from 'openpgp'
import { BOUNDS } from '../bounds.ts'
import { bufferOf } from '../bytes.ts'
import { cipherOf, type CipherInfo, type SymmetricKey } from '../format/ciphers.ts'

/** Replaces the library's configuration, and keeps the bytes that the library would parse. */
class KeptBytes {
  bytes: Uint8Array | null = null
}

const parse = PacketList.fromBinary.bind(PacketList)
PacketList.fromBinary = async (...given) => {
  const [bytes, , settings] = given as [unknown, unknown, unknown]
  if (!(settings instanceof KeptBytes)) return await parse(...given)
  settings.bytes = bufferOf(bytes as Uint8Array)
  return new PacketList()
}

/** The library has these, its types do not. */
interface DecryptingPacket {
  read(body: Uint8Array): Promise<void>
  decrypt(cipher: number, key: Uint8Array, settings: KeptBytes): Promise<unknown>
}

/** Modification Detection Code packet: two header bytes and a SHA-1 hash. */
const MDC_HEADER = Buffer.from([0xd3, 0x14])
const MDC_BYTES = 22

/**
 * @param container its whole body
 * @param key one that `cipherOf` knows
 * @returns null when the key is not the one, or a single bit was changed
 */
export async function openVersion1(
  container: Uint8Array,
  key: SymmetricKey,
): Promise<{ packets: Uint8Array; hash: Uint8Array } | null> {
  const cipher = cipherOf(key)
  if (cipher === null || container.length < 1 + cipher.blockBytes + 2 + MDC_BYTES) return null
  const kept = new KeptBytes()
  try {
    const packet = new SymEncryptedIntegrityProtectedDataPacket() as unknown as DecryptingPacket
    await packet.read(container)
    await packet.decrypt(
      enums.symmetric[key.algorithm as keyof typeof enums.symmetric],
      key.data,
      kept,
    )
  } catch {
    return null
  }
  // The library checks the hash, and not its header.
  const end = endOf(container, key, cipher)
  if (kept.bytes === null || !end.subarray(0, MDC_HEADER.length).equals(MDC_HEADER)) return null
  return { packets: kept.bytes, hash: end.subarray(MDC_HEADER.length) }
}

/** Decrypts the last bytes of a container, for which CFB needs the block before theirs alone. */
function endOf(
  container: Uint8Array,
  { data }: SymmetricKey,
  { blockBytes, cfb }: CipherInfo,
): Buffer {
  const ciphertext = container.subarray(1)
  const from = Math.floor((ciphertext.length - MDC_BYTES) / blockBytes) * blockBytes
  const before = ciphertext.subarray(from - blockBytes, from)
  const decipher = createDecipheriv(cfb, createSecretKey(data), before)
  return decipher.update(ciphertext.subarray(from)).subarray(-MDC_BYTES)
}

/**
 * The identity of the encrypted data. A container longer than any message is known by its session key
 * and its hash, from which the one ciphertext follows.
 */
export function identityOf(container: Uint8Array, key: SymmetricKey, hash: Uint8Array): string {
  if (container.length - 1 <= BOUNDS.messageChars) {
    return createHash('sha256').update(container).digest('hex')
  }
  return createHash('sha256').update('version 1').update(key.data).update(hash).digest('hex')
}
