/**
 * The OpenPGP profile: every bound and policy, set once for the whole library before anything is
 * parsed, and read back, because openpgp.js accepts a misspelt name silently.
 */
import './brainpool.ts'
import './composite.ts'
import { config, enums, SignaturePacket } from 'openpgp'
import { BOUNDS } from '../bounds.ts'

const PROFILE = {
  preferredSymmetricAlgorithm: enums.symmetric.aes256,
  preferredCompressionAlgorithm: enums.compression.uncompressed,
  aeadProtect: false,
  v6Keys: false,
  enableParsingV5Entities: false,
  parseAEADEncryptedV4KeysAsLegacy: false,
  allowUnauthenticatedMessages: false,
  allowUnauthenticatedStream: false,
  allowInsecureDecryptionWithSigningKeys: false,
  allowInsecureVerificationWithReformattedKeys: false,
  allowMissingKeyFlags: false,
  enforceGrammar: true,
  ignoreMalformedPackets: false,
  ignoreUnsupportedPackets: true,
  additionalAllowedPackets: [],
  constantTimePKCS1Decryption: false,
  maxDecompressedMessageSize: BOUNDS.textBytes,
  maxArgon2MemoryExponent: 17,
  maxUserIDLength: 1024,
  minRSABits: 2047,
  s2kType: enums.s2k.iterated,
  s2kIterationCountByte: 255,
  knownNotations: [],
  showVersion: false,
  showComment: false,
  nonDeterministicSignaturesViaNotation: true,
  useEllipticFallback: true,
  rejectHashAlgorithms: new Set([enums.hash.md5, enums.hash.ripemd, enums.hash.sha1]),
  rejectMessageHashAlgorithms: new Set([enums.hash.md5, enums.hash.ripemd, enums.hash.sha1]),
  rejectPublicKeyAlgorithms: new Set([enums.publicKey.elgamal, enums.publicKey.dsa]),
  rejectCurves: new Set([enums.curve.secp256k1]),
} as const

const { keyRevocation, subkeyRevocation, certRevocation } = enums.signature
const REVOCATIONS: ReadonlySet<enums.signature> = new Set([
  keyRevocation,
  subkeyRevocation,
  certRevocation,
])

/** A signature packet by what the library leaves out of its types. */
interface Hashing {
  toHash(type: enums.signature, data: object, detached?: boolean): Uint8Array
  hash(type: enums.signature, data: object, bytes: Uint8Array): Promise<Uint8Array>
}
const EDDSA: ReadonlySet<unknown> = new Set([
  enums.publicKey.eddsaLegacy,
  enums.publicKey.ed25519,
  enums.publicKey.ed448,
])

/**
 * A revocation counts under any hash, and with any critical subpacket, wherever the library verifies
 * one: a form that is too weak or too new for a statement that grants is no reason to seal to a key
 * that its owner gave up.
 */
// oxlint-disable-next-line typescript/unbound-method -- called with its packet below
const verify = SignaturePacket.prototype.verify
SignaturePacket.prototype.verify = async function (key, type, data, date, detached, own = config) {
  if (!REVOCATIONS.has(type)) return await verify.call(this, key, type, data, date, detached, own)
  const hashing = this as unknown as Hashing
  // the library judges the length by the hash's number, and verifies the digest
  const digest = EDDSA.has(key.algorithm) && {
    hashed: { value: hashing.hash(type, data, hashing.toHash(type, data, detached)) },
    hashAlgorithm: { value: enums.hash.sha512 },
  }
  const heeded = { unknownSubpackets: { value: [] }, rawNotations: { value: [] }, ...digest }
  const revocation = Object.create(this, heeded) as SignaturePacket
  const settings = { ...own, rejectHashAlgorithms: new Set<enums.hash>() }
  return await verify.call(revocation, key, type, data, date, detached, settings)
}

/**
 * Sets the profile on the library's one global configuration.
 * @throws Error when the library does not know a name, or does not keep its value
 */
export function applyProfile(): void {
  const target = config as unknown as Record<string, unknown>
  for (const [name, value] of Object.entries(PROFILE)) {
    if (!(name in target)) throw new Error(`openpgp.js has no setting ${name}`)
    target[name] = value
  }
  for (const [name, value] of Object.entries(PROFILE)) {
    if (target[name] !== value) throw new Error(`openpgp.js did not take ${name}`)
  }
}
