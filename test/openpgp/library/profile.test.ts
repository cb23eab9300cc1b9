import { config, enums } from 'openpgp'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { applyProfile } from '../../../src/openpgp/library/profile.ts'

const settings = config as unknown as Record<string, unknown>
const shipped = { ...settings }

beforeEach(() => Object.assign(settings, shipped))
afterEach(() => applyProfile())

/** Every setting that SECURITY 2.1 demands, under the library's own name. */
const DEMANDED: [string, unknown][] = [
  ['maxDecompressedMessageSize', 262_144],
  ['allowUnauthenticatedMessages', false],
  ['allowUnauthenticatedStream', false],
  ['enforceGrammar', true],
  ['ignoreMalformedPackets', false],
  ['ignoreUnsupportedPackets', true],
  ['additionalAllowedPackets', []],
  ['rejectHashAlgorithms', new Set([enums.hash.md5, enums.hash.ripemd, enums.hash.sha1])],
  ['rejectMessageHashAlgorithms', new Set([enums.hash.md5, enums.hash.ripemd, enums.hash.sha1])],
  ['rejectPublicKeyAlgorithms', new Set([enums.publicKey.elgamal, enums.publicKey.dsa])],
  ['rejectCurves', new Set([enums.curve.secp256k1])],
  ['minRSABits', 2047],
  ['allowInsecureDecryptionWithSigningKeys', false],
  ['allowInsecureVerificationWithReformattedKeys', false],
  ['allowMissingKeyFlags', false],
  ['constantTimePKCS1Decryption', false],
  ['maxArgon2MemoryExponent', 17],
  ['s2kType', enums.s2k.iterated],
  ['s2kIterationCountByte', 255],
  ['aeadProtect', false],
  ['v6Keys', false],
  ['enableParsingV5Entities', false],
  ['parseAEADEncryptedV4KeysAsLegacy', false],
  ['preferredSymmetricAlgorithm', enums.symmetric.aes256],
  ['preferredCompressionAlgorithm', enums.compression.uncompressed],
  ['maxUserIDLength', 65_536],
  ['knownNotations', []],
  ['showVersion', false],
  ['showComment', false],
  ['nonDeterministicSignaturesViaNotation', true],
  ['useEllipticFallback', true],
]

test.each(DEMANDED)('`applyProfile` overwrites the setting %s', (name, value) => {
  expect(name in settings).toBe(true)
  settings[name] = 'something else'
  applyProfile()
  expect(settings[name]).toEqual(value)
})

test('openpgp.js has no security setting that `applyProfile` does not set', () => {
  applyProfile()
  const left = Object.keys(shipped).filter((name) => !DEMANDED.some(([known]) => known === name))
  expect(left.toSorted()).toEqual(HARMLESS)
})

/** What armor says of the program, choices for what we never make, and passwords, which we never take. */
const HARMLESS = [
  'aeadChunkSizeByte',
  'commentString',
  'constantTimePKCS1DecryptionSupportedSymmetricAlgorithms',
  'passwordCollisionCheck',
  'preferredAEADAlgorithm',
  'preferredHashAlgorithm',
  's2kArgon2Params',
  'versionString',
]

test('`applyProfile` throws for a setting that openpgp.js lacks', () => {
  const { maxArgon2MemoryExponent, ...others } = shipped
  expect(maxArgon2MemoryExponent).toBeDefined()
  delete settings['maxArgon2MemoryExponent']
  try {
    expect(() => applyProfile()).toThrow('no setting maxArgon2MemoryExponent')
  } finally {
    Object.assign(settings, shipped, others)
  }
})

test('`applyProfile` throws for a setting that openpgp.js does not store', () => {
  Object.defineProperty(settings, 'minRSABits', {
    configurable: true,
    enumerable: true,
    get: () => 1023,
    set: () => {},
  })
  try {
    expect(() => applyProfile()).toThrow('did not take minRSABits')
  } finally {
    Object.defineProperty(settings, 'minRSABits', {
      configurable: true,
      enumerable: true,
      writable: true,
      value: shipped['minRSABits'],
    })
  }
})
