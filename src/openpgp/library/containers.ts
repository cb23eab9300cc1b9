/**
 * Containers (RFC 9580, 5.13) and compressed data (5.6) opened as bytes: openpgp.js parses packets at
 * once, and serializes them differently. Our own grammar judges packets as sent.
 */
import { createDecipheriv, createSecretKey, hash as digestOf, timingSafeEqual } from 'node:crypto'
import {
  CompressedDataPacket,
  PacketList,
  SymEncryptedIntegrityProtectedDataPacket,
  enums,
} from 'openpgp'
import { BOUNDS } from '../bounds.ts'
import { bufferOf } from '../bytes.ts'
import { cipherOf, type SymmetricKey } from '../format/ciphers.ts'
import type { FoundKey } from '../format/recipient-scan.ts'

/** Replaces the library's configuration, and keeps the bytes that the library would parse. */
class KeptBytes {
  bytes: Uint8Array | null = null
  readonly maxDecompressedMessageSize: number

  constructor(maxDecompressedMessageSize = Infinity) {
    this.maxDecompressedMessageSize = maxDecompressedMessageSize
  }
}

const parse = PacketList.fromBinary.bind(PacketList)
PacketList.fromBinary = async (...given) => {
  const [bytes, , settings] = given as [unknown, unknown, unknown]
  if (!(settings instanceof KeptBytes)) return await parse(...given)
  settings.bytes =
    bytes instanceof Uint8Array
      ? bufferOf(bytes)
      : await (bytes as ArrayStream).readToEnd((pieces) => Buffer.concat(pieces))
  return new PacketList()
}

/** Bytes that the library still decrypts. */
interface ArrayStream {
  readToEnd(join: (pieces: Uint8Array[]) => Buffer): Promise<Buffer>
}

/** The library has these, its types do not. */
interface OpeningPacket {
  read(body: Uint8Array, settings?: KeptBytes): Promise<void>
  /** Of a container of version 2, which names it. */
  cipherAlgorithm: number | null
  decrypt(cipher: number | undefined, key: Uint8Array, settings: KeptBytes): Promise<unknown>
}

/**
 * Decompresses the body of a compressed packet.
 * @throws Error for data that is broken, or larger than `max`
 */
export async function decompress(body: Uint8Array, max: number): Promise<Uint8Array> {
  const kept = new KeptBytes(max)
  await (new CompressedDataPacket() as unknown as OpeningPacket).read(body, kept)
  return kept.bytes ?? Buffer.alloc(0)
}

/**
 * Opens a container's whole body with openpgp.js, of any form that it has.
 * @returns null when the key is not the one, or a single bit was changed
 */
export async function openContainer(
  container: Uint8Array,
  { algorithm, data }: Pick<FoundKey, 'algorithm' | 'data'>,
): Promise<Uint8Array | null> {
  const kept = new KeptBytes()
  try {
    const packet = new SymEncryptedIntegrityProtectedDataPacket() as unknown as OpeningPacket
    await packet.read(container)
    const named = enums.symmetric[algorithm as keyof typeof enums.symmetric]
    await packet.decrypt(packet.cipherAlgorithm ?? named, data, kept)
  } catch {
    return null
  }
  return kept.bytes
}

/** Modification Detection Code packet: two header bytes and a SHA-1 hash. */
const MDC_HEADER = Buffer.from([0xd3, 0x14])
const MDC_BYTES = 22
/** The random block is followed by its last two bytes again. */
const REPEATED = 2

/**
 * The same for version 1 and a cipher of node:crypto; openpgp.js does not check the header of the hash.
 * @returns null when the key is not the one, or a single bit was changed
 */
export function openVersion1(
  container: Uint8Array,
  key: SymmetricKey,
): { packets: Uint8Array; hash: Uint8Array } | null {
  const cipher = cipherOf(key)
  const prefix = (cipher?.blockBytes ?? 0) + REPEATED
  if (cipher === null || container.length < 1 + prefix + MDC_BYTES) return null
  const vector = Buffer.alloc(cipher.blockBytes)
  const decipher = createDecipheriv(cipher.cfb, createSecretKey(key.data), vector)
  const plain = decipher.update(container.subarray(1))
  const hashed = plain.subarray(0, MDC_HEADER.length - MDC_BYTES)
  const hash = plain.subarray(hashed.length)
  if (!timingSafeEqual(digestOf('sha1', hashed, 'buffer'), hash)) return null
  const packets = hashed.subarray(prefix, -MDC_HEADER.length)
  return hashed.subarray(-MDC_HEADER.length).equals(MDC_HEADER) ? { packets, hash } : null
}

/**
 * The identity of the encrypted data. A container longer than any message is known by its session key
 * and its hash, from which the one ciphertext follows.
 */
export function identityOf(container: Uint8Array, key: SymmetricKey, hash: Uint8Array): string {
  if (container.length - 1 <= BOUNDS.messageChars) return digestOf('sha256', container, 'hex')
  return digestOf('sha256', Buffer.concat([Buffer.from('version 1'), key.data, hash]), 'hex')
}
