/**
 * What only openpgp.js does of an attachment, in a thread that may be killed: recipient packets,
 * containers and compression that the platform does not have. All of it fits its bound.
 */
import { config, decryptSessionKeys, readMessage } from 'openpgp'
import { secretKeyOf } from './key-cache.ts'
import type { UnlockedKey } from '../engine.ts'
import { TAG, framePacket } from '../format/packets.ts'
import { writePackets } from './write-packets.ts'
import { BOUNDS } from '../bounds.ts'
import type { SessionKey } from '../crypto/cfb.ts'

/** A session key with the fingerprint of the own key that it was for. */
export interface FoundKey extends Omit<SessionKey, 'algorithm'> {
  /** Null where the container says it (RFC 9580, 5.1.2). */
  algorithm: string | null
  fingerprint: string
}

/** Packets that stood in a container, which was whole. */
export interface FoundPackets {
  packets: Uint8Array
  fingerprint: string
}

/** Stands in for the container while recipient packets are read. */
const NO_DATA = framePacket(TAG.seipd, Buffer.concat([Buffer.from([1]), Buffer.alloc(64)]))

const limits = () => ({ ...config, maxDecompressedMessageSize: BOUNDS.libraryAttachmentBytes })

/** Session keys that recipient packets hold for any of our keys. */
export async function unwrap(
  recipientPackets: Uint8Array[],
  keys: UnlockedKey[],
): Promise<FoundKey[]> {
  const found: FoundKey[] = []
  for (const key of keys) {
    const decryptionKeys = await secretKeyOf(key)
    for (const packet of recipientPackets) {
      try {
        const message = await readMessage({ binaryMessage: Buffer.concat([packet, NO_DATA]) })
        for (const { algorithm, data } of await decryptSessionKeys({ message, decryptionKeys })) {
          found.push({ algorithm, data, fingerprint: key.fingerprint })
        }
      } catch {
        continue
      }
    }
  }
  return found
}

/** Takes a container's whole body. Gives the packets inside; null for everything that fails. */
export async function openWhole(
  recipientPackets: Uint8Array[],
  container: Uint8Array,
  keys: UnlockedKey[],
): Promise<FoundPackets | null> {
  const binaryMessage = Buffer.concat([...recipientPackets, framePacket(TAG.seipd, container)])
  for (const key of keys) {
    try {
      const message = await readMessage({ binaryMessage, config: limits() })
      const secretKey = await secretKeyOf(key)
      const { packets } = await message.decrypt(
        [secretKey],
        undefined,
        undefined,
        undefined,
        limits(),
      )
      return { packets: await writePackets(packets), fingerprint: key.fingerprint }
    } catch {
      continue
    }
  }
  return null
}

/**
 * Unpacks a compressed packet.
 * @returns null for data that is broken, `too-large` for what is more than its bound
 */
export async function unpackWhole(packet: Uint8Array): Promise<Uint8Array | 'too-large' | null> {
  try {
    const message = await readMessage({ binaryMessage: packet, config: limits() })
    return await writePackets(message.unwrapCompressed().packets)
  } catch (error) {
    return error instanceof Error && /size exceeded/.test(error.message) ? 'too-large' : null
  }
}
