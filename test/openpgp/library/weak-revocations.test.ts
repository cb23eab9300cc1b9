/** Revocations over SHA-1, a hash over which nothing counts that grants. */
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
import { HASH, type HashName } from '../../support/openpgp-signature.ts'
import { ed25519Native } from '../../support/openpgp-x25519.ts'
import { NOW_MS, MADE_MS, alice, bot, rsaKey } from '../../support/openpgp-people.ts'

const DAY_MS = 86_400_000
const primary = rsaKey(2048)
const { subkey } = alice
const older = curve25519('older', MADE_MS - DAY_MS)
const identity = [keyPacket(primary), userId(primary, 'old')]
const given = boundSubkey(primary, subkey)
const sound = boundSubkey(primary, older)
const revoked = (code: number) =>
  subkeyRevocation(primary, subkey, { atMs: NOW_MS - DAY_MS, code, hash: 'sha1' })
const statuses = async (armored: string, known?: string) => {
  const { status } = await judgeFully(armored, NOW_MS, known)
  expect(await judge(armored, NOW_MS, known)).toEqual(status)
  return status
}

describe.each([
  [0, 'no reason'],
  [1, 'superseded'],
  [2, 'compromised'],
  [3, 'retired'],
])('a subkey revoked over SHA-1 for %i, %s', (code) => {
  const certificate = armoredCertificate(...identity, given, revoked(code))

  test('a certificate whose only encryption subkey is revoked over SHA-1 is unusable', async () => {
    expect(await statuses(armoredCertificate(...identity, given))).toMatchObject({ unusable: null })
    const status = { unusable: 'revoked', revocations: true }
    expect(await statuses(certificate)).toMatchObject(status)
  })

  test('a copy without the revocation does not make the certificate usable again', async () => {
    const stripped = armoredCertificate(...identity, given)
    expect(await statuses(stripped, certificate)).toMatchObject({ unusable: 'revoked' })
  })

  test('a message is sealed to the sound subkey beside the revoked one, and to no other', async () => {
    const both = armoredCertificate(...identity, sound, given, revoked(code))
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

  test.each(Object.keys(HASH) as HashName[])(
    'the key is revoked by a revocation over %s',
    async (hash) => {
      const whole = keyRevocation(signer, { atMs: NOW_MS - DAY_MS, hash })
      const ofSubkey = subkeyRevocation(signer, subkey, { atMs: NOW_MS - DAY_MS, hash })
      const status = { unusable: 'revoked', revocations: true }
      expect(await statuses(armoredCertificate(...parts))).toMatchObject({ unusable: null })
      expect(await statuses(armoredCertificate(...parts, ofSubkey))).toMatchObject(status)
      const [first = Buffer.alloc(0), ...rest] = parts
      expect(await statuses(armoredCertificate(first, whole, ...rest))).toMatchObject(status)
    },
  )

  test('the key is not revoked by a revocation over SHA-1 that another key made', async () => {
    const forger = { ...bot.primary, fingerprint: signer.fingerprint, keyId: signer.keyId }
    const forged = keyRevocation(forger, { atMs: NOW_MS - DAY_MS, hash: 'sha1' })
    const [first = Buffer.alloc(0), ...rest] = parts
    const certificate = armoredCertificate(first, forged, ...rest)
    expect(await statuses(certificate)).toMatchObject({ unusable: null, revocations: false })
  })
})
