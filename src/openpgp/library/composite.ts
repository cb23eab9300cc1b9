/**
 * Subkeys of ML-KEM-768+X25519 in openpgp.js, which does not have the algorithm: they are parsed
 * and written, so that the library verifies their bindings, expiry and revocations and keeps them in
 * copies. It never encrypts to one, and the secret part stays as it is in the packet; native code
 * does both. Import this file before parsing.
 */
import {
  PublicSubkeyPacket,
  SecretSubkeyPacket,
  type Key,
  type PrivateKey,
  type PublicKey,
  type Subkey,
} from 'openpgp'
import { bufferOf } from '../bytes.ts'
import type { CipherId } from '../format/ciphers.ts'
import { COMPOSITE } from '../format/packets.ts'

/** Bytes of a public part: version, date of creation, algorithm, X25519 point, ML-KEM key. */
const PUBLIC_BYTES = 6 + 32 + 1184
const MAY_ENCRYPT = 0x0c

/** Members of the library's packets, which its types lack. */
interface LibraryPacket {
  version: number
  algorithm: number
  created: Date
  publicParams: Record<string, { write(): Uint8Array }>
  isEncrypted: boolean
  unparseableKeyMaterial: Uint8Array
  computeFingerprintAndKeyID(): Promise<void>
  readPublicKey: Methods['readPublicKey']
}
interface Methods {
  read: (this: LibraryPacket, ...given: ParseArguments) => Promise<unknown>
  readPublicKey: (this: LibraryPacket, ...given: ParseArguments) => Promise<number>
  getAlgorithmInfo: (this: LibraryPacket) => object
  encrypt: (this: LibraryPacket, ...given: unknown[]) => Promise<unknown>
  decrypt: (this: LibraryPacket, ...given: unknown[]) => Promise<unknown>
  validate: (this: LibraryPacket) => Promise<unknown>
}

type ParseArguments = [bytes: Uint8Array, config?: object | undefined]

/** Every other form is the library's own to read, and to refuse as unsupported. */
async function readPublic(
  packet: LibraryPacket,
  [bytes, config]: ParseArguments,
  others: Methods['readPublicKey'],
): Promise<number> {
  const isSecret = packet instanceof SecretSubkeyPacket
  const isWhole = isSecret ? bytes.length > PUBLIC_BYTES : bytes.length === PUBLIC_BYTES
  const isOurs = bytes[0] === 4 && bytes[5] === COMPOSITE && isWhole
  if (!isOurs) return await others.call(packet, bytes, config)
  const point = bytes.slice(6, PUBLIC_BYTES)
  packet.version = 4
  packet.algorithm = COMPOSITE
  packet.created = new Date(bufferOf(bytes).readUInt32BE(1) * 1000)
  packet.publicParams = { point: { write: () => point } }
  await packet.computeFingerprintAndKeyID()
  return PUBLIC_BYTES
}

const isCompositePacket = ({ algorithm }: { algorithm: number | null }): boolean =>
  algorithm === COMPOSITE

/** Replaces the result of a method for these packets alone. */
function replace(
  packet: typeof PublicSubkeyPacket | typeof SecretSubkeyPacket,
  name: keyof Methods,
  by: () => object,
): void {
  const methods = packet.prototype as unknown as Methods
  const others = methods[name] as (...given: unknown[]) => unknown
  Object.assign(methods, {
    [name](this: LibraryPacket, ...given: unknown[]): unknown {
      return isCompositePacket(this) ? by() : others.apply(this, given)
    },
  })
}

for (const packet of [PublicSubkeyPacket, SecretSubkeyPacket]) {
  const methods = packet.prototype as unknown as Methods
  const others = methods.readPublicKey
  methods.readPublicKey = function (...given) {
    return readPublic(this, given, others)
  }
  replace(packet, 'getAlgorithmInfo', () => ({ algorithm: 'mlKem768X25519' }))
}

const publicMethods = PublicSubkeyPacket.prototype as unknown as Methods
publicMethods.read = publicMethods.readPublicKey

const secretMethods = SecretSubkeyPacket.prototype as unknown as Methods
const readOthers = secretMethods.read
secretMethods.read = async function (bytes, config) {
  if (bytes[5] !== COMPOSITE) return await readOthers.call(this, bytes, config)
  return setSecretBody(this, bytes.subarray(await this.readPublicKey(bytes, config)))
}
replace(SecretSubkeyPacket, 'encrypt', () => Promise.resolve())
replace(SecretSubkeyPacket, 'decrypt', () => Promise.resolve())
replace(SecretSubkeyPacket, 'validate', () => Promise.resolve())

function setSecretBody(packet: LibraryPacket, secret: Uint8Array): void {
  packet.unparseableKeyMaterial = secret
  packet.isEncrypted = true
}

/** Whether a subkey is of ML-KEM-768+X25519. */
export const isComposite = ({ keyPacket }: Key | Subkey): boolean => isCompositePacket(keyPacket)

/** The composite subkeys that can be encrypted to at a date, the newest first. */
export async function usableComposites(key: PublicKey, date: Date): Promise<Subkey[]> {
  const found = key.subkeys.filter(isComposite)
  if (found.length === 0) return []
  try {
    await key.verifyPrimaryKey(date)
  } catch {
    return []
  }
  const bindings = await Promise.all(found.map((one) => one.verify(date).catch(() => null)))
  return found
    .filter((_, index) => ((bindings[index]?.keyFlags?.[0] ?? 0) & MAY_ENCRYPT) !== 0)
    .sort((a, b) => b.getCreationTime().getTime() - a.getCreationTime().getTime())
}

/**
 * Puts other secret parts into the composite subkeys of a key.
 * @param change gives the body of a secret key packet for another one
 */
export function changeSecrets(key: PrivateKey, change: (body: Uint8Array) => Uint8Array): void {
  for (const { keyPacket } of key.subkeys.filter(isComposite)) {
    const body = change(keyPacket.write())
    setSecretBody(keyPacket as unknown as LibraryPacket, body.slice(PUBLIC_BYTES))
  }
}

/**
 * Recipient packets for those of some certificates that have a usable composite subkey.
 * @returns the other certificates too, which the library seals to
 */
export async function packetsForComposites(
  keys: readonly PublicKey[],
  sessionKey: { data: Buffer; cipher: CipherId; isAnonymous: boolean },
): Promise<{ packets: Uint8Array[]; others: PublicKey[] }> {
  const { wrapForComposite } = await import('../native/composite.ts')
  const packets: Uint8Array[] = []
  const others: PublicKey[] = []
  for (const key of keys) {
    const [composite] = await usableComposites(key, new Date())
    if (composite === undefined) others.push(key)
    else packets.push(wrapForComposite(composite.keyPacket.write(), sessionKey))
  }
  return { packets, others }
}
