/** Revocations in forms in which nothing counts that grants: over SHA-1, or with something critical. */
import { describe, expect, test } from 'vitest'
import { judge } from '../../../src/openpgp/library/certificate.ts'
import { judgeFully } from '../../../src/openpgp/library/certificate-info.ts'
import { openArmored, sealHere } from '../../support/openpgp-engine.ts'
import {
  armoredCertificate,
  boundSubkey,
  keyPacket,
  keyRevocation,
  subkeyRevocation,
  userId,
} from '../../support/openpgp-certificate.ts'
import { curve25519, ecdsa, type SigningKey } from '../../support/openpgp-key.ts'
import { HASH, notation, subpacket, type HashName } from '../../support/openpgp-signature.ts'
import { ed25519Native } from '../../support/openpgp-x25519.ts'
import { NOW_MS, MADE_MS, alice, bot, rsaKey } from '../../support/openpgp-people.ts'

const DAY_MS = 86_400_000
const primary = rsaKey(2048)
const { subkey } = alice
const older = curve25519('older', MADE_MS - DAY_MS)
const identity = [keyPacket(primary), userId(primary, 'old')]
const given = boundSubkey(primary, subkey)
const sound = boundSubkey(primary, older)
const SHA1 = { hash: 'sha1' } as const
const NOTATION = { hashed: [notation('unknown@corp.example', '1', true)] }
const statuses = async (armored: string, known?: string) => {
  const { status } = await judgeFully(armored, NOW_MS, known)
  expect(await judge(armored, NOW_MS, known)).toEqual(status)
  return status
}

describe.each([
  ['over SHA-1, without a reason', SHA1],
  ['over SHA-1, superseded', { ...SHA1, code: 1 }],
  ['over SHA-1, compromised', { ...SHA1, code: 2 }],
  ['over SHA-1, retired', { ...SHA1, code: 3 }],
  ['with a critical notation', NOTATION],
])('a subkey revoked %s', (_, how) => {
  const revoked = subkeyRevocation(primary, subkey, { atMs: NOW_MS - DAY_MS, ...how })
  const certificate = armoredCertificate(...identity, given, revoked)

  test('a copy without the revocation does not make the certificate usable again', async () => {
    const stripped = armoredCertificate(...identity, given)
    expect(await statuses(stripped, certificate)).toMatchObject({ unusable: 'revoked' })
  })

  test('a message is sealed to the sound subkey beside the revoked one, and to no other', async () => {
    const both = armoredCertificate(...identity, sound, given, revoked)
    const { unusable, encryptionKeys } = await statuses(both)
    expect([unusable, encryptionKeys[0]]).toEqual([null, older.fingerprint])
    const sealed = await sealHere(
      { text: 'hello', certificates: [both], signer: bot.unlocked, cipher: 'aes256' },
      NOW_MS,
    )
    expect(await openArmored(sealed, [alice.unlocked])).toMatchObject({ outcome: 'not-recipient' })
  })
})

test('a forged revocation over SHA-1 revokes nothing', async () => {
  const forger = { ...rsaKey(1024), fingerprint: primary.fingerprint, keyId: primary.keyId }
  const forged = subkeyRevocation(forger, subkey, { atMs: NOW_MS - DAY_MS, hash: 'sha1' })
  const certificate = armoredCertificate(...identity, given, forged)
  expect(await statuses(certificate)).toMatchObject({ unusable: null, revocations: false })
})

test('a binding over SHA-1 still binds nothing', async () => {
  const weak = boundSubkey(primary, subkey, { hash: 'sha1' })
  expect(await statuses(armoredCertificate(...identity, weak))).not.toMatchObject({
    unusable: null,
  })
})

const PRIMARIES: [string, SigningKey][] = [
  ['Ed25519', alice.primary],
  ['Ed25519 of RFC 9580', ed25519Native('revoked', MADE_MS)],
  ['P-256', ecdsa('prime256v1', '082a8648ce3d030107', MADE_MS)],
  ['RSA', primary],
]
describe.each(PRIMARIES)('a primary key of %s', (_, signer) => {
  const parts = [keyPacket(signer), userId(signer, 'old'), boundSubkey(signer, subkey)]

  test.each([
    ...(Object.keys(HASH) as HashName[]).map((hash) => [`over ${hash}`, { hash }] as const),
    ['with a critical notation', NOTATION] as const,
    ['with a critical subpacket', { hashed: [subpacket(100, Buffer.from('1'), true)] }] as const,
  ])('the key is revoked by a revocation %s', async (_form, how) => {
    const whole = keyRevocation(signer, { atMs: NOW_MS - DAY_MS, ...how })
    const ofSubkey = subkeyRevocation(signer, subkey, { atMs: NOW_MS - DAY_MS, ...how })
    const status = { unusable: 'revoked', revocations: true }
    expect(await statuses(armoredCertificate(...parts))).toMatchObject({ unusable: null })
    expect(await statuses(armoredCertificate(...parts, ofSubkey))).toMatchObject(status)
    const [first = Buffer.alloc(0), ...rest] = parts
    expect(await statuses(armoredCertificate(first, whole, ...rest))).toMatchObject(status)
  })

  test('the key is not revoked by a revocation over SHA-1 that another key made', async () => {
    const forger = { ...bot.primary, fingerprint: signer.fingerprint, keyId: signer.keyId }
    const forged = keyRevocation(forger, { atMs: NOW_MS - DAY_MS, hash: 'sha1' })
    const [first = Buffer.alloc(0), ...rest] = parts
    const certificate = armoredCertificate(first, forged, ...rest)
    expect(await statuses(certificate)).toMatchObject({ unusable: null, revocations: false })
  })
})
