/**
 * Opening with openpgp.js, in a thread that may be killed: whole messages, and the parts of files
 * that node:crypto and zlib lack: recipient packets, containers and compression, within bounds.
 */
import {
  CompressedDataPacket,
  PacketList,
  config,
  decryptSessionKeys,
  readMessage,
  type AnyPacket,
  type PrivateKey,
  type SessionKey,
} from 'openpgp'
import { BOUNDS } from '../bounds.ts'
import type { NotOpened, OpenedText, UnlockedKey } from '../engine.ts'
import { openedText, readDecrypted } from '../format/decrypted-message.ts'
import type { EncryptedMessage } from '../format/encrypted-message.ts'
import { hasComposite, type FoundKey } from '../format/recipient-scan.ts'
import { cipherOf } from '../format/ciphers.ts'
import { COMPRESSION } from '../format/message-grammar.ts'
import { TAG } from '../format/packets.ts'
import { framePacket } from '../format/packet-writer.ts'
import { secretKeyOf } from './key-cache.ts'
import { identityOf, openVersion1 } from './version1.ts'

/** The decrypted packets of an intact container. */
export interface FoundPackets {
  packets: Uint8Array
  fingerprint: string
  /** Identity of the encrypted data, where it is not the SHA-256 of the container. */
  identity?: string
}

/** A placeholder container for reading recipient packets without copying the real one. */
const NO_DATA = framePacket(TAG.seipd, Buffer.concat([Buffer.from([1]), Buffer.alloc(64)]))

const attachmentLimits = () => ({
  ...config,
  maxDecompressedMessageSize: BOUNDS.libraryAttachmentBytes,
})

/**
 * Opens the result of `parseMessage`. Gives the document as text, or why not.
 * Everything cryptographic that fails is `damaged` with one reason: no oracle in the difference.
 */
export async function open(
  encrypted: EncryptedMessage,
  keys: UnlockedKey[],
): Promise<OpenedText | NotOpened> {
  const { container, recipientPackets, dataDigest, recipients } = encrypted
  const found = [...(encrypted.found ?? []), ...(await unwrap(recipientPackets, keys))]
  if (found.length === 0 && !encrypted.named) return { outcome: 'not-recipient' }
  const opened = await openWhole(recipientPackets, container, found, config)
  if (opened === null) return { outcome: 'damaged', reason: 'decryption' }
  const decrypted = await readDecrypted(opened.packets, bunzip)
  return openedText(decrypted, { dataDigest, openedWith: opened.fingerprint, recipients })
}

/** Decrypts a whole message. @returns the packets inside; null for everything that fails */
async function decryptWith(
  sessionKey: Pick<FoundKey, 'algorithm' | 'data'>,
  binaryMessage: Uint8Array,
  limits: typeof config,
): Promise<Uint8Array | null> {
  try {
    const message = await readMessage({ binaryMessage, config: limits })
    // The library asks for no cipher where the container names it; its types do.
    const sessionKeys = [sessionKey as SessionKey]
    const { packets } = await message.decrypt(undefined, undefined, sessionKeys, undefined, limits)
    return await writePackets(packets)
  } catch {
    return null
  }
}

/** bzip2, which the platform lacks; the library holds it to its bound. */
async function bunzip(packet: Uint8Array, limits = config): Promise<Uint8Array> {
  const message = await readMessage({ binaryMessage: packet, config: limits })
  return await writePackets(message.unwrapCompressed().packets)
}

/** Session keys that recipient packets hold for any of our keys. */
export async function unwrap(
  recipientPackets: Uint8Array[],
  keys: UnlockedKey[],
): Promise<FoundKey[]> {
  const found: FoundKey[] = []
  for (const key of keys) {
    const { fingerprint } = key
    const decryptionKeys = await secretKeyOf(key)
    for (const packet of recipientPackets) {
      const sessionKeys = await sessionKeysIn(packet, decryptionKeys)
      found.push(...sessionKeys.map(({ algorithm, data }) => ({ algorithm, data, fingerprint })))
    }
  }
  return found
}

async function sessionKeysIn(packet: Uint8Array, decryptionKeys: PrivateKey) {
  if (hasComposite({ recipientPackets: [packet] })) {
    const { unwrapComposite } = await import('./composite-session-key.ts')
    return await unwrapComposite(packet, decryptionKeys)
  }
  try {
    const message = await readMessage({ binaryMessage: Buffer.concat([packet, NO_DATA]) })
    return await decryptSessionKeys({ message, decryptionKeys })
  } catch {
    return []
  }
}

/** Opens a container's whole body with one of these session keys; null for every failure. */
export async function openWhole(
  recipientPackets: Uint8Array[],
  container: Uint8Array,
  found: FoundKey[],
  limits = attachmentLimits(),
): Promise<FoundPackets | null> {
  for (const { algorithm, data, fingerprint } of found) {
    const key = algorithm === null ? null : { algorithm, data }
    if (container[0] === 1 && key !== null && cipherOf(key) !== null) {
      const { packets, hash } = (await openVersion1(container, key)) ?? {}
      if (packets && hash)
        return { packets, fingerprint, identity: identityOf(container, key, hash) }
      continue
    }
    const framed = framePacket(TAG.seipd, container)
    const binaryMessage = Buffer.concat([...recipientPackets, framed])
    const packets = await decryptWith({ data, algorithm }, binaryMessage, limits)
    if (packets !== null) return { packets, fingerprint }
  }
  return null
}

/**
 * Unpacks a compressed packet of an attachment.
 * @returns null for broken data, `too-large` for a document above its bound
 */
export async function unpackWhole(packet: Uint8Array): Promise<Uint8Array | 'too-large' | null> {
  try {
    return await bunzip(packet, attachmentLimits())
  } catch (error) {
    return error instanceof Error && /size exceeded/.test(error.message) ? 'too-large' : null
  }
}

/** The library has these, its types do not. */
interface Unfinished {
  stream?: { getReader(): { read(): Promise<{ done: boolean; value?: AnyPacket }> } } | null
}
interface Decompressed {
  packets: PacketList<AnyPacket>
}

const UNCOMPRESSED = Buffer.from([COMPRESSION.none])

/**
 * Gives all packets of a list that the library parsed as bytes, for our own grammar. The library
 * stops reading at a document, and the packets after it must be requested; it cannot write a
 * decompressed packet again, so that packet is framed as it is.
 */
async function writePackets(list: PacketList<AnyPacket>): Promise<Buffer> {
  const rest = (list as Unfinished).stream?.getReader()
  for (let next = await rest?.read(); next?.value !== undefined; next = await rest?.read()) {
    list.push(next.value)
  }
  const written: Uint8Array[] = []
  for (const packet of list) {
    if (packet instanceof CompressedDataPacket) {
      const inside = await writePackets((packet as unknown as Decompressed).packets)
      written.push(framePacket(TAG.compressed, Buffer.concat([UNCOMPRESSED, inside])))
    } else {
      const alone = new PacketList<AnyPacket>()
      alone.push(packet)
      written.push(alone.write())
    }
  }
  return Buffer.concat(written)
}
