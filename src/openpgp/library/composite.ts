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
  readPublicKey(bytes: Uint8Array, config?: object): Promise<number>
}
interface Methods {
  read(bytes: Uint8Array, config?: object): Promise<unknown>
  readPublicKey(bytes: Uint8Array, config?: object): Promise<number>
  getAlgorithmInfo(): object
  encrypt(...given: unknown[]): Promise<unknown>
  decrypt(...given: unknown[]): Promise<unknown>
  validate(): Promise<unknown>
}

/** Every other form is the library's own to read, and to refuse as unsupported. */
async function readPublic(
  this: LibraryPacket,
  others: Methods['readPublicKey'],
  [bytes, config]: [Uint8Array, object?],
): Promise<number> {
  const isSecret = this instanceof SecretSubkeyPacket
  const isWhole = isSecret ? bytes.length > PUBLIC_BYTES : bytes.length === PUBLIC_BYTES
  if (bytes[0] !== 4 || bytes[5] !== COMPOSITE || !isWhole)
    return await others.call(this, bytes, config)
  const point = bytes.slice(6, PUBLIC_BYTES)
  this.version = 4
  this.algorithm = COMPOSITE
  this.created = new Date(bufferOf(bytes).readUInt32BE(1) * 1000)
  this.publicParams = { point: { write: () => point } }
  await this.computeFingerprintAndKeyID()
  return PUBLIC_BYTES
}

const isCompositePacket = ({ algorithm }: { algorithm: number | null }): boolean =>
  algorithm === COMPOSITE

/** Replaces a method for these packets alone. */
function replace<N extends keyof Methods>(
  packet: typeof PublicSubkeyPacket | typeof SecretSubkeyPacket,
  name: N,
  by: (given: Parameters<Methods[N]>) => ReturnType<Methods[N]>,
): void {
  const methods = packet.prototype as unknown as Methods
  const others = methods[name] as (...given: unknown[]) => unknown
  Object.assign(methods, {
    [name](this: LibraryPacket, ...given: Parameters<Methods[N]>): unknown {
      return isCompositePacket(this) ? by(given) : others.apply(this, given)
    },
  })
}

for (const packet of [PublicSubkeyPacket, SecretSubkeyPacket]) {
  const methods = packet.prototype as unknown as Methods
  const others = methods.readPublicKey
  methods.readPublicKey = function (this: LibraryPacket, ...given: [Uint8Array, object?]) {
    return readPublic.call(this, others, given)
  } as Methods['readPublicKey']
  replace(packet, 'getAlgorithmInfo', () => ({ algorithm: 'mlKem768X25519' }))
}

const publicMethods = PublicSubkeyPacket.prototype as unknown as Methods
publicMethods.read = publicMethods.readPublicKey

const secretMethods = SecretSubkeyPacket.prototype as unknown as Methods
const readOthers = secretMethods.read
secretMethods.read = async function (this: LibraryPacket, bytes: Uint8Array, config?: object) {
  if (bytes[5] !== COMPOSITE) return await readOthers.call(this, bytes, config)
  setSecretBody(this, bytes.subarray(await this.readPublicKey(bytes, config)))
} as Methods['read']
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
    const body = change((keyPacket as unknown as { write(): Uint8Array }).write())
    setSecretBody(keyPacket as unknown as LibraryPacket, body.slice(PUBLIC_BYTES))
  }
}
