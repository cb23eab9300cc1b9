/** Our own keys as they are used natively: what the library says of each, with its secrets. */
import { createPublicKey, type KeyObject } from 'node:crypto'
import { type NativePublicKey, type RecipientKey, type SigningKey } from '../crypto/algorithm.ts'
import { algorithmOf, isRecipientKey } from '../crypto/algorithms.ts'
import { fingerprintOf, readPublicKey } from '../crypto/public-key.ts'
import type { UnlockedKey } from '../engine.ts'
import { TAG, packetsOf, type Packet } from '../format/packets.ts'
import type { OwnKeyInfo } from '../library/certificate-info.ts'
import { holdsAt, type CertificateInfo } from './certificate-info.ts'
import { readCommonPackets } from './common-certificate.ts'

/** One secret key, primary or subkey, as node:crypto takes it. */
export interface OwnSecret<K extends NativePublicKey = NativePublicKey> {
  key: K
  /** Of that key, 20 bytes. */
  fingerprint: Buffer
  secret: KeyObject
}

/** Whether it opens what is sealed to it. */
export function isRecipientSecret(own: OwnSecret): own is OwnSecret<RecipientKey> {
  return isRecipientKey(own.key)
}

/**
 * Describes an unlocked key of the common shape as it is at `nowMs`, as the library does.
 * @returns null for every other, which says nothing about it
 */
export function describeCommonKey({ bytes }: UnlockedKey, nowMs: number): OwnKeyInfo | null {
  const read = readCommonPackets([...packetsOf(bytes)].map(publicPart), nowMs)
  return read && { ...read, opens: [fingerprintOf(read.info.recipientKey).toString('hex', 12)] }
}

/** Copied: what is known of a key is kept, and goes to threads, without the secrets beside it. */
function publicPart(packet: Packet): Packet {
  const { tag, body } = packet
  if (tag !== TAG.secretKey && tag !== TAG.secretSubkey) return packet
  const end = readPublicKey(body)?.read ?? 0
  const publicTag = tag === TAG.secretKey ? TAG.publicKey : TAG.publicSubkey
  return { ...packet, tag: publicTag, body: new Uint8Array(body.subarray(0, end)) }
}

const NOT_LOCKED = 0
const CHECKSUM = 2

/**
 * Takes an unlocked transferable secret key. Gives those of its keys that are of the common forms,
 * by key id (16 lower-case hexadecimal characters).
 */
export function readOwnSecrets(bytes: Uint8Array): Map<string, OwnSecret> {
  const found = new Map<string, OwnSecret>()
  for (const { tag, body } of packetsOf(bytes)) {
    if (tag !== TAG.secretKey && tag !== TAG.secretSubkey) continue
    const own = readSecret(body)
    if (own !== null) found.set(own.fingerprint.toString('hex', 12), own)
  }
  return found
}

function readSecret(body: Uint8Array): OwnSecret | null {
  const read = readPublicKey(body)
  const rest = read && body.subarray(read.read)
  if (!read || !rest || rest[0] !== NOT_LOCKED) return null
  const material = Buffer.from(rest.subarray(1))
  const secret = secretIn(material, read.key)
  material.fill(0)
  if (secret === null) return null
  const point = createPublicKey(secret).export({ format: 'raw-public' })
  if (!point.equals(read.key.point)) return null
  return { key: read.key, fingerprint: fingerprintOf(read.key), secret }
}

/** The secret behind its public part, in front of a checksum. */
function secretIn(material: Buffer, key: NativePublicKey): KeyObject | null {
  if (material.length < CHECKSUM) return null
  const secret = material.subarray(0, -CHECKSUM)
  const sum = secret.reduce((all, byte) => (all + byte) & 0xffff, 0)
  if (material.readUInt16BE(secret.length) !== sum) return null
  return algorithmOf(key).readSecret(secret)
}

/** A key of ours, as far as it is of the common forms. */
export interface NativeOwnKey {
  /** Secrets that messages may be opened with, by key id. */
  opens: ReadonlyMap<string, OwnSecret>
  /** Null when it cannot seal natively now. */
  seals: { info: CertificateInfo; signer: OwnSecret<SigningKey> } | null
  /** Whether the library takes session keys of a cipher beyond AES-128 and AES-256. */
  reads(cipher: number): boolean
}

interface Described extends NativeOwnKey {
  info: CertificateInfo | null
}

/** Known for as long as the unlocked key itself is held: a key that is given up is forgotten. */
export class NativeOwnKeys {
  readonly #describe: (key: UnlockedKey, atMs: number) => Promise<OwnKeyInfo>
  #asked = new WeakMap<UnlockedKey, Promise<Described | null>>()
  #known = new WeakMap<UnlockedKey, Described | null>()

  /** @param describe asks the library */
  constructor(describe: (key: UnlockedKey, atMs: number) => Promise<OwnKeyInfo>) {
    this.#describe = describe
  }

  /** Gives what a key can do natively now; null when nothing is known of it. */
  async of(key: UnlockedKey): Promise<NativeOwnKey | null> {
    const kept = await this.#asked.get(key)
    if (kept !== undefined && isCurrent(kept)) return kept
    const asked = this.#ask(key)
    this.#asked.set(key, asked)
    const answer = await asked
    if (this.#asked.get(key) === asked) this.#known.set(key, answer)
    return answer
  }

  /** The same where it is known already; undefined where it must be asked for. */
  now(key: UnlockedKey): NativeOwnKey | null | undefined {
    const kept = this.#known.get(key)
    return kept !== undefined && isCurrent(kept) ? kept : undefined
  }

  /** Forgets all secrets. */
  clear(): void {
    this.#asked = new WeakMap()
    this.#known = new WeakMap()
  }

  async #ask(key: UnlockedKey): Promise<Described | null> {
    try {
      const { opens, ciphers, info } = await this.#describe(key, Date.now())
      const secrets = readOwnSecrets(key.bytes)
      const opening = [...secrets].filter(([keyId]) => opens.includes(keyId))
      return {
        opens: new Map(opening),
        seals: sealingWith(info, secrets),
        reads: (cipher) => info !== null && holdsAt(info, Date.now()) && ciphers.includes(cipher),
        info,
      }
    } catch {
      return null
    }
  }
}

/** An answer about a key is computed again when something in the key begins or ends. */
function isCurrent(described: Described | null): boolean {
  return described?.info == null || holdsAt(described.info, Date.now())
}

function sealingWith(
  info: CertificateInfo | null,
  secrets: ReadonlyMap<string, OwnSecret>,
): NativeOwnKey['seals'] {
  const signingKey = info?.signingKey
  if (!info || !signingKey) return null
  for (const { key, fingerprint, secret } of secrets.values()) {
    const isIt = key.algorithm === signingKey.algorithm && key.createdS === signingKey.createdS
    if (isIt && Buffer.from(signingKey.point).equals(key.point)) {
      return { info, signer: { key: signingKey, fingerprint, secret } }
    }
  }
  return null
}
