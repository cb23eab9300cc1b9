/** The people of the tests: keys from seeds, the same in every run. */
import { readFileSync } from 'node:fs'
import type { UnlockedKey } from '../../src/openpgp/engine.ts'
import { ownBytes } from '../../src/openpgp/size.ts'
import {
  armoredCertificate,
  boundSubkey,
  keyPacket,
  keyRevocation,
  userId,
  type SelfSignature,
} from './openpgp-certificate.ts'
import { packet } from './openpgp-framing.ts'
import { concat } from './openpgp-bytes.ts'
import { curve25519, ed25519, rsa, type EncryptionKey, type SigningKey } from './openpgp-key.ts'

/** When the keys of the tests were made: 1 January 2026. */
export const MADE_MS = Date.UTC(2026, 0, 1)
/** When the messages of the tests are written and read: 1 February 2026. */
export const NOW_MS = Date.UTC(2026, 1, 1)

export interface TestPerson {
  name: string
  primary: SigningKey
  subkey: EncryptionKey
  /** Armored. */
  certificate: string
  /** Binary, not locked. */
  secret: Buffer
  unlocked: UnlockedKey
}

/** Makes a person of a name; the same name gives the same keys. */
export function testPerson(name: string, createdMs = MADE_MS): TestPerson {
  return personOf(name, ed25519(name, createdMs), curve25519(name, createdMs))
}

/** Somebody whose self-signature lists these ciphers, by number; none when it lists nothing. */
export function preferring(...ciphers: number[]): TestPerson {
  const name = `prefers ${ciphers.join(' ')}`
  return personOf(name, ed25519(name, MADE_MS), curve25519(name, MADE_MS), { ciphers })
}

/** A person with these keys, whose user id says what `options` say. */
export function personOf(
  name: string,
  primary: SigningKey,
  subkey: EncryptionKey,
  options: SelfSignature = {},
): TestPerson {
  const id = userId(primary, name, options)
  const binding = boundSubkey(primary, subkey)
  const secret = concat(
    packet(5, primary.secretBody),
    id,
    packet(7, subkey.secretBody),
    binding.subarray(packet(14, subkey.body).length),
  )
  return {
    name,
    primary,
    subkey,
    certificate: armoredCertificate(keyPacket(primary), id, binding),
    secret,
    unlocked: {
      fingerprint: primary.fingerprint,
      keyIds: [primary.keyId, subkey.keyId],
      fingerprints: [primary.fingerprint, subkey.fingerprint],
      bytes: new Uint8Array(secret),
      sizes: ownBytes([
        { algorithm: 'eddsaLegacy' },
        { algorithm: 'ecdh', curve: 'curve25519Legacy' },
      ]),
    },
  }
}

/** Somebody's certificate, whose primary key was revoked. */
export const revokedCertificate = (
  { primary, subkey, name }: TestPerson,
  how: Parameters<typeof keyRevocation>[1],
): string =>
  armoredCertificate(
    keyPacket(primary),
    keyRevocation(primary, how),
    userId(primary, name),
    boundSubkey(primary, subkey),
  )

let seen = 0
/** The same certificate as a text that nobody has seen, of which nothing is kept. */
export const unseen = ({ certificate }: { certificate: string }): string =>
  certificate.replace('\n\n', `\nComment: ${seen++}\n\n`)

export const bot = testPerson('bot')
export const alice = testPerson('alice')
export const mallory = testPerson('mallory')

/** Certificates that nothing can be sealed to at any time. */
export const UNSEALABLE: [what: string, certificate: string][] = [
  ['revoked', revokedCertificate(alice, { atMs: MADE_MS })],
  [
    'without an encryption subkey',
    armoredCertificate(keyPacket(alice.primary), userId(alice.primary, 'alice')),
  ],
  ['unreadable', 'hello'],
]

/** A secret RSA key of the vectors, of 1024 or 2048 bits. */
export function rsaKey(bits: 1024 | 2048, createdMs = MADE_MS): SigningKey {
  const file = new URL(`../vectors/keys/rsa-${bits}.pem`, import.meta.url)
  return rsa(readFileSync(file, 'utf8'), createdMs)
}
