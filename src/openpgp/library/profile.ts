/**
 * The OpenPGP profile: every bound and policy, set once for the whole library before anything is
 * parsed, and read back, because openpgp.js accepts a misspelt name silently.
 */
import './brainpool.ts'
import './composite.ts'
import { config, enums, UserIDPacket } from 'openpgp'
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
  maxUserIDLength: BOUNDS.certificateChars,
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

/**
 * User ids keep their bytes, which their owner signed: the library would write others where they are no
 * UTF-8.
 */
const bytesOf = new WeakMap<UserIDPacket, Uint8Array>()
const { read, write } = UserIDPacket.prototype as unknown as UserIdBytes
const own: UserIdBytes = {
  read(bytes, ...settings) {
    bytesOf.set(this, bytes.slice())
    read.call(this, bytes, ...settings)
  },
  write() {
    return bytesOf.get(this) ?? write.call(this)
  },
}
Object.assign(UserIDPacket.prototype, own)

/** What the library leaves out of its types. */
interface UserIdBytes {
  read: (this: UserIDPacket, bytes: Uint8Array, ...settings: unknown[]) => void
  write: (this: UserIDPacket) => Uint8Array
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
