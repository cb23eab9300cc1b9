/**
 * Subkeys of ML-KEM-768+X25519 in openpgp.js, which does not have the algorithm: they are parsed,
 * locked, unlocked and written, so that the library verifies their bindings, expiry and revocations
 * and keeps them in copies. It never encrypts to one. Import this file before parsing.
 */
import { createDecipheriv, generateKeyPairSync, hash, timingSafeEqual } from 'node:crypto'
import type { KeyObject } from 'node:crypto'
import { PublicSubkeyPacket, SecretSubkeyPacket, enums, type Key, type Subkey } from 'openpgp'
import { bufferOf, checksum } from '../bytes.ts'
import type { RecipientSecret } from '../crypto/recipient.ts'
import { COMPOSITE } from '../format/packets.ts'
import { bytesOf } from '../format/packet-writer.ts'

/** Bytes of a public part: version, date of creation, algorithm, X25519 point, ML-KEM key. */
const PUBLIC_BYTES = 6 + 32 + 1184
/** A secret encrypted with its SHA-1, by AES-256 (RFC 9580, 3.7.2.1). */
const SHA1_CHECKED = 254
const AES256: number = enums.symmetric.aes256
const KEY_BYTES = 32
const SHA1_BYTES = 20

/** Members of the library's packets, which its types lack. */
interface LibraryPacket {
  version: number
  algorithm: number
  created: Date
  publicParams: { point: { write(): Uint8Array } }
  privateParams: { secret: Uint8Array } | null
  isEncrypted: boolean
  s2kUsage: number
  s2k: { produceKey(passphrase: string, bytes: number, config: unknown): Promise<Uint8Array> }
  symmetric: number
  iv: Uint8Array
  keyMaterial: Uint8Array
  computeFingerprintAndKeyID(): Promise<void>
  readPublicKey(...given: ParseArguments): Promise<number>
  writePublicKey(): Uint8Array
}
type PacketMethod<Given extends unknown[], Result> = (
  this: LibraryPacket,
  ...given: Given
) => Result
interface Methods {
  read: PacketMethod<ParseArguments, Promise<unknown>>
  readPublicKey: PacketMethod<ParseArguments, Promise<number>>
  getAlgorithmInfo: PacketMethod<[], object>
  write: PacketMethod<[], Uint8Array>
  encrypt: PacketMethod<[passphrase: string, config: unknown], Promise<unknown>>
  decrypt: PacketMethod<[passphrase: string, config: unknown], Promise<unknown>>
  validate: PacketMethod<[], Promise<unknown>>
}

type ParseArguments = [bytes: Uint8Array, config?: object | undefined]
type PacketClass = typeof PublicSubkeyPacket | typeof SecretSubkeyPacket

const methodsOf = (packet: PacketClass): Methods => packet.prototype as unknown as Methods
const isCompositePacket = ({ algorithm }: { algorithm: number | null }): boolean =>
  algorithm === COMPOSITE

/** Replaces methods for these packets alone. */
function replace(packet: PacketClass, own: Partial<Methods>): void {
  const methods = methodsOf(packet) as unknown as Record<string, PacketMethod<unknown[], unknown>>
  for (const [name, method] of Object.entries(own as typeof methods)) {
    const others = methods[name]
    methods[name] = function (...given) {
      return (isCompositePacket(this) ? method : others)?.apply(this, given)
    }
  }
}

async function setPublic(packet: LibraryPacket, created: Date, point: Uint8Array): Promise<void> {
  const publicParams = { point: { write: () => point } }
  Object.assign(packet, { version: 4, algorithm: COMPOSITE, created, publicParams })
  await packet.computeFingerprintAndKeyID()
}

function setSecret(packet: LibraryPacket, secret: Uint8Array): void {
  Object.assign(packet, { privateParams: { secret }, isEncrypted: false, s2kUsage: 0 })
}

/** Every other form is the library's own to read, and to refuse as unsupported. */
for (const packet of [PublicSubkeyPacket, SecretSubkeyPacket]) {
  const methods = methodsOf(packet)
  const { readPublicKey: readOthers } = methods
  methods.readPublicKey = async function (bytes, config) {
    const isSecret = this instanceof SecretSubkeyPacket
    const isWhole = isSecret ? bytes.length > PUBLIC_BYTES : bytes.length === PUBLIC_BYTES
    const isOurs = bytes[0] === 4 && bytes[5] === COMPOSITE && isWhole
    if (!isOurs) return await readOthers.call(this, bytes, config)
    const created = new Date(bufferOf(bytes).readUInt32BE(1) * 1000)
    await setPublic(this, created, bytes.slice(6, PUBLIC_BYTES))
    return PUBLIC_BYTES
  }
  replace(packet, { getAlgorithmInfo: () => ({ algorithm: 'mlKem768X25519' }) })
}

methodsOf(PublicSubkeyPacket).read = methodsOf(PublicSubkeyPacket).readPublicKey

const secretMethods = methodsOf(SecretSubkeyPacket)
const { read: readLocked, write: writeLocked, encrypt } = secretMethods
secretMethods.read = async function (bytes, config) {
  const isUnlocked = bytes[5] === COMPOSITE && bytes[PUBLIC_BYTES] === 0
  if (!isUnlocked) return await readLocked.call(this, bytes, config)
  const secret = bytes.slice((await this.readPublicKey(bytes, config)) + 1, -2)
  if (!bytesOf(checksum(secret), 2).equals(bytes.subarray(-2))) throw new Error('checksum')
  return setSecret(this, secret)
}
replace(SecretSubkeyPacket, {
  write() {
    if (this.privateParams === null) return writeLocked.call(this)
    const { secret } = this.privateParams
    const sum = bytesOf(checksum(secret), 2)
    return Buffer.concat([this.writePublicKey(), Buffer.of(0), secret, sum])
  },

  async encrypt(...given) {
    await secretMethods.validate.call(this)
    // The library encrypts secrets of this algorithm as they are.
    this.algorithm = enums.publicKey.x25519
    try {
      await encrypt.apply(this, given)
    } finally {
      this.algorithm = COMPOSITE
    }
  },

  async decrypt(passphrase, config) {
    const { s2kUsage, symmetric, s2k, iv, keyMaterial } = this
    if (s2kUsage !== SHA1_CHECKED || symmetric !== AES256) throw new Error('lock')
    const key = await s2k.produceKey(passphrase, KEY_BYTES, config)
    const opened = createDecipheriv('aes-256-cfb', key, iv).update(keyMaterial)
    const secret = opened.subarray(0, -SHA1_BYTES)
    if (!timingSafeEqual(hash('sha1', secret, 'buffer'), opened.subarray(-SHA1_BYTES))) {
      throw new Error('Incorrect key passphrase')
    }
    setSecret(this, secret)
  },

  async validate() {
    if ((await secretIn(this)) === null) throw new Error('Key is invalid')
  },
})

/** Gives a key of node:crypto; null where the secret is not that of the public key. */
async function secretIn(packet: LibraryPacket): Promise<KeyObject | null> {
  const { ML_KEM_768_X25519: kem } = await import('../crypto/ml-kem.ts')
  const secret = kem.readSecret(Buffer.from(packet.privateParams?.secret ?? []))
  return secret && kem.publicOf(secret).equals(packet.publicParams.point.write()) ? secret : null
}

/** The secret of an unlocked composite subkey; null as `secretIn`. */
export async function recipientSecretOf({ keyPacket }: Subkey): Promise<RecipientSecret | null> {
  const packet = keyPacket as unknown as LibraryPacket
  const secret = await secretIn(packet)
  const key = { algorithm: COMPOSITE, point: packet.publicParams.point.write() } as const
  const fingerprint = Buffer.from(keyPacket.getFingerprint(), 'hex')
  return secret && { key, fingerprint, secret }
}

/** Makes a subkey, not locked (draft-ietf-openpgp-pqc, 4.2.2). */
export async function makeComposite(created: Date): Promise<SecretSubkeyPacket> {
  const [curve, kem] = [generateKeyPairSync('x25519'), generateKeyPairSync('ml-kem-768')]
  const points = [curve, kem].map(({ publicKey }) => publicKey.export({ format: 'raw-public' }))
  const scalar = curve.privateKey.export({ format: 'raw-private' })
  const seed = kem.privateKey.export({ format: 'raw-seed' })
  const made = new SecretSubkeyPacket()
  const packet = made as unknown as LibraryPacket
  setSecret(packet, Buffer.concat([scalar, seed]))
  await setPublic(packet, created, Buffer.concat(points))
  for (const copy of [scalar, seed]) copy.fill(0)
  return made
}

/** Whether a subkey is of ML-KEM-768+X25519. */
export const isComposite = ({ keyPacket }: Key | Subkey): boolean => isCompositePacket(keyPacket)
