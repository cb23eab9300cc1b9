/**
 * Opening with openpgp.js, in a thread that may be killed: whole messages, and the parts of files
 * that node:crypto and zlib lack: recipient packets, containers and compression, within bounds.
 */
import { PublicKeyEncryptedSessionKeyPacket, enums } from 'openpgp'
import type { AnyKeyPacket, Key, KeyID, Subkey } from 'openpgp'
import { BOUNDS } from '../bounds.ts'
import type { NotOpened, OpenedText, UnlockedKey } from '../engine.ts'
import { openedText, readDecrypted } from '../format/decrypted-message.ts'
import type { EncryptedMessage } from '../format/encrypted-message.ts'
import { UNREAD_CIPHER, algorithmIn, undecryptable } from '../format/recipient-scan.ts'
import type { FoundKey } from '../format/recipient-scan.ts'
import { CIPHER_NAMES, cipherOf } from '../format/ciphers.ts'
import { COMPOSITE, packetAt } from '../format/packets.ts'
import { secretKeyOf, type WholeSecretKey } from './key-cache.ts'
import { decompress, identityOf, openContainer, openVersion1 } from './containers.ts'

/** The decrypted packets of an intact container. */
export interface FoundPackets {
  packets: Uint8Array
  fingerprint: string
  /** Identity of the encrypted data, where it is not the SHA-256 of the container. */
  identity?: string
}

/**
 * Opens the result of `parseMessage`. Gives the document as text, or why not.
 * Everything cryptographic that fails is `damaged` with one reason: no oracle in the difference. It
 * has another where a session key is found and its cipher is none that is read.
 */
export async function open(
  encrypted: EncryptedMessage,
  keys: UnlockedKey[],
): Promise<OpenedText | NotOpened> {
  const { container, recipientPackets, dataDigest, recipients } = encrypted
  const found = [...(encrypted.found ?? []), ...(await unwrap(recipientPackets, keys))]
  if (found.length === 0 && !encrypted.named) return { outcome: 'not-recipient' }
  const opened = await openWhole(container, found)
  if (opened === null) return undecryptable(found)
  const decrypted = await readDecrypted(opened.packets, (packet) =>
    bunzip(packet, BOUNDS.textBytes),
  )
  return openedText(decrypted, { dataDigest, openedWith: opened.fingerprint, recipients })
}

/** Decompresses bzip2, which the platform lacks. @param packet framed */
const bunzip = (packet: Uint8Array, max: number): Promise<Uint8Array> =>
  decompress(packetAt(packet, 0).body, max)

/** Session keys that recipient packets hold for any of our keys. */
export async function unwrap(
  recipientPackets: Uint8Array[],
  keys: UnlockedKey[],
): Promise<FoundKey[]> {
  const found: FoundKey[] = []
  for (const key of keys) {
    const { fingerprint } = key
    const own = (await secretKeyOf(key)) as WholeSecretKey
    const decryptionKeys = await own.getDecryptionKeys(undefined, null).catch(() => [])
    for (const packet of recipientPackets) {
      const sessionKeys =
        algorithmIn(packet) === COMPOSITE
          ? await (await import('./composite-session-key.ts')).unwrapComposite(packet, own)
          : await sessionKeysIn(packet, decryptionKeys)
      found.push(...sessionKeys.map((one) => ({ ...one, fingerprint })))
    }
  }
  return found
}

type SessionKeys = Pick<FoundKey, 'algorithm' | 'data'>[]

async function sessionKeysIn(
  framed: Uint8Array,
  decryptionKeys: (Key | Subkey)[],
): Promise<SessionKeys> {
  const packet = new PublicKeyEncryptedSessionKeyPacket() as unknown as SessionKeyPacket
  try {
    packet.read(packetAt(framed, 0).body)
  } catch {
    return []
  }
  const isNamedInside = packet.version === 3 && !NAMED_OUTSIDE.has(packet.publicKeyAlgorithm)
  // For version 6 the library returns the content as it is; it lists fewer ciphers than are read here.
  if (isNamedInside) packet.version = 6
  const found: SessionKeys = []
  for (const key of decryptionKeys) {
    if (!packet.publicKeyID.equals(key.getKeyID(), true)) continue
    try {
      await packet.decrypt(key.keyPacket)
      found.push(...(isNamedInside ? withCipher(packet) : [namedOutside(packet)]))
    } catch {
      // It is not for this key.
    }
  }
  return found
}
/** What the library leaves out of its types. */
interface SessionKeyPacket {
  version: number
  publicKeyAlgorithm: enums.publicKey
  publicKeyID: KeyID
  /** Named in the clear. */
  sessionKeyAlgorithm: number | null
  sessionKey: Uint8Array
  read(body: Uint8Array): void
  decrypt(key: AnyKeyPacket): Promise<void>
}

const { x25519, x448, ecdh } = enums.publicKey
const NAMED_OUTSIDE: ReadonlySet<enums.publicKey> = new Set([x25519, x448])

/**
 * A session key behind the number of its cipher. An unread cipher is reported only of ECDH, whose
 * wrap is intact then, so that its maker knows the number; with RSA it would be an oracle for padding.
 */
function withCipher({ publicKeyAlgorithm, sessionKey }: SessionKeyPacket): SessionKeys {
  const [cipher = 0] = sessionKey
  const algorithm = CIPHER_NAMES.get(cipher) ?? (publicKeyAlgorithm === ecdh ? UNREAD_CIPHER : null)
  return algorithm === null ? [] : [{ algorithm, data: sessionKey.subarray(1) }]
}

/** One whose cipher the packet names in the clear, or the container does (RFC 9580, 5.1.2). */
const namedOutside = ({ sessionKeyAlgorithm, sessionKey: data }: SessionKeyPacket) => ({
  algorithm: CIPHER_NAMES.get(sessionKeyAlgorithm ?? 0) ?? null,
  data,
})

/** Opens a container's whole body with one of these session keys; null for every failure. */
export async function openWhole(
  container: Uint8Array,
  found: FoundKey[],
): Promise<FoundPackets | null> {
  for (const { algorithm, data, fingerprint } of found) {
    const key = algorithm === null ? null : { algorithm, data }
    if (container[0] === 1 && key !== null && cipherOf(key) !== null) {
      const { packets, hash } = openVersion1(container, key) ?? {}
      if (packets && hash)
        return { packets, fingerprint, identity: identityOf(container, key, hash) }
      continue
    }
    const packets = await openContainer(container, { algorithm, data })
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
    return await bunzip(packet, BOUNDS.libraryAttachmentBytes)
  } catch (error) {
    return error instanceof Error && /size exceeded/.test(error.message) ? 'too-large' : null
  }
}
