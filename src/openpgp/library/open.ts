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
  const found = await decrypt(encrypted, keys)
  if (found === null) return { outcome: 'damaged', reason: 'decryption' }
  if (found === 'not-recipient') return { outcome: 'not-recipient' }
  const decrypted = await readDecrypted(found.packets, bunzip)
  const { dataDigest, recipients } = encrypted
  return openedText(decrypted, { dataDigest, openedWith: found.fingerprint, recipients })
}

async function decrypt(
  encrypted: EncryptedMessage,
  keys: UnlockedKey[],
): Promise<FoundPackets | 'not-recipient' | null> {
  const found = [...(encrypted.found ?? []), ...(await unwrap(encrypted.recipientPackets, keys))]
  for (const sessionKey of found) {
    const packets = await openContainer(encrypted, sessionKey)
    if (packets !== null) return { packets, fingerprint: sessionKey.fingerprint }
  }
  return found.length > 0 || encrypted.named ? null : 'not-recipient'
}

async function openContainer(
  { container, recipientPackets }: EncryptedMessage,
  { algorithm, data }: FoundKey,
): Promise<Uint8Array | null> {
  const sessionKey = algorithm === null ? null : { algorithm, data }
  if (container[0] === 1 && sessionKey !== null && cipherOf(sessionKey)?.blockBytes === 16) {
    return (await openVersion1(container, sessionKey))?.packets ?? null
  }
  return await decryptWith({ data, algorithm }, whole(recipientPackets, container))
}

/** Decrypts a whole message. @returns the packets inside; null for everything that fails */
async function decryptWith(
  by: UnlockedKey | Pick<FoundKey, 'algorithm' | 'data'>,
  binaryMessage: Uint8Array,
  limits = config,
): Promise<Uint8Array | null> {
  try {
    const message = await readMessage({ binaryMessage, config: limits })
    const keys = 'keyIds' in by ? [await secretKeyOf(by)] : undefined
    // The library asks for no cipher where the container names it; its types do.
    const sessionKeys = 'keyIds' in by ? undefined : ([by] as SessionKey[])
    const { packets } = await message.decrypt(keys, undefined, sessionKeys, undefined, limits)
    return await writePackets(packets)
  } catch {
    return null
  }
}

const whole = (recipientPackets: Uint8Array[], container: Uint8Array): Buffer =>
  Buffer.concat([...recipientPackets, framePacket(TAG.seipd, container)])

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

/**
 * Opens a container's whole body. Gives the packets inside; null for every failure.
 * @param found the session keys of its recipient packets, where they are known
 */
export async function openWhole(
  recipientPackets: Uint8Array[],
  container: Uint8Array,
  keys: UnlockedKey[],
  found?: FoundKey[],
): Promise<FoundPackets | null> {
  for (const one of found ?? (await unwrap(recipientPackets, keys))) {
    const { algorithm, data, fingerprint } = one
    if (container[0] !== 1 || algorithm === null) break
    const opened = await openVersion1(container, { algorithm, data })
    if (opened === null) continue
    const identity = identityOf(container, { algorithm, data }, opened.hash)
    return { packets: opened.packets, fingerprint, identity }
  }
  const binaryMessage = whole(recipientPackets, container)
  for (const by of [...(found ?? []), ...keys]) {
    const packets = await decryptWith(by, binaryMessage, attachmentLimits())
    if (packets !== null) return { packets, fingerprint: by.fingerprint }
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
