import { expect, test } from 'vitest'
import { judge } from '../../../src/openpgp/library/certificate.ts'
import { BOUNDS } from '../../../src/openpgp/bounds.ts'
import { packet } from '../../support/openpgp-framing.ts'
import { concat, seeded, mpi } from '../../support/openpgp-bytes.ts'
import { curve25519, ed25519, identify, seconds } from '../../support/openpgp-key.ts'
import { MADE_MS, NOW_MS, alice, mallory, testPerson } from '../../support/openpgp-people.ts'
import {
  armoredCertificate,
  bogusBindings,
  bogusCertifications,
  boundSubkey,
  keyPacket,
  subkeyPacket,
  userId,
  directKey,
  keyRevocation,
  subkeyRevocation,
} from '../../support/openpgp-certificate.ts'
import { expiresAfter, keyExpiresAfter } from '../../support/openpgp-signature.ts'
import { generated, paperRsa } from '../../support/openpgp-generated.ts'
import '../../support/openpgp-engine.ts'

const { primary, subkey } = alice
const key = keyPacket(primary)
const certificateOf = (...parts: Buffer[]): string => armoredCertificate(key, ...parts)
const id = userId(primary, 'alice')
const binding = boundSubkey(primary, subkey)
test('the status of a usable certificate has its computed fingerprint, keys, sizes and dates', async () => {
  expect(await judge(alice.certificate, NOW_MS)).toEqual({
    fingerprint: primary.fingerprint,
    unusable: null,
    notBeforeMs: MADE_MS,
    expiresMs: Infinity,
    revocations: false,
    encryptionKeys: [subkey.fingerprint],
    recipientBytes: { aes256: 96, aes128: 80 },
    algorithm: 'Curve25519',
    armored: alice.certificate,
  })
})

test('`encryptionKeys` lists all encryption subkeys, the one for sealing first', async () => {
  const second = curve25519('second', MADE_MS + 1000)
  const laterBound = boundSubkey(primary, second, { atMs: MADE_MS + 2000 })
  const { encryptionKeys } = await judge(certificateOf(id, binding, laterBound), NOW_MS)
  expect(encryptionKeys).toEqual([second.fingerprint, subkey.fingerprint])
})

test.each([
  ['of no characters (C4)', '', 'unparseable'],
  ['that is armored noise (C4)', armoredCertificate(seeded('noise', 500)), 'unparseable'],
  ['without a primary key (C4)', armoredCertificate(id, binding), 'unparseable'],
  ['with a truncated key packet (C4)', armoredCertificate(key.subarray(0, -1)), 'unparseable'],
  ['with an empty key packet (C4)', armoredCertificate(packet(6, Buffer.alloc(0))), 'version'],
  ['of five megabytes (C4)', 'A'.repeat(5_000_000), 'too-large'],
  ['of version 5', armoredCertificate(packet(6, concat(5, primary.body.subarray(1)))), 'version'],
  [
    'with a user id that another key signed',
    certificateOf(
      packet(13, Buffer.from('alice')),
      userId(mallory.primary, 'alice').subarray(7),
      binding,
    ),
    'no-user-id',
  ],
  [
    'with an undated self-signature',
    certificateOf(userId(primary, 'alice', { undated: true }), binding),
    'unparseable',
  ],
])('a certificate %s is unusable', async (_, certificate, unusable) => {
  const status = await judge(certificate, NOW_MS)
  expect(status).toMatchObject({ unusable, armored: certificate })
})

test('15 bogus self-signatures and 15 bogus bindings are ignored beside valid ones (C4)', async () => {
  const signatures = bogusCertifications(primary, 'alice', 15)
  const bindings = bogusBindings(primary, subkey, 15)
  const certificate = certificateOf(id, signatures, binding, bindings)
  expect(await judge(certificate, NOW_MS)).toMatchObject({ unusable: null })
  const name = packet(13, Buffer.from('alice'))
  const without = certificateOf(name, signatures, subkeyPacket(subkey), bindings)
  expect(await judge(without, NOW_MS)).toMatchObject({ unusable: 'no-user-id' })
})

const DAY_S = 86_400
const DAY_MS = DAY_S * 1000
const lasting = (days: number): { hashed: Buffer[] } => ({
  hashed: [keyExpiresAfter(days * DAY_S)],
})
const yesterday = { atMs: NOW_MS - DAY_MS }

test.each([
  [
    'the self-signature of its user id',
    certificateOf(userId(primary, 'alice', lasting(60)), binding),
    60,
  ],
  ['its subkey binding', certificateOf(id, boundSubkey(primary, subkey, lasting(50))), 50],
  ['a direct-key signature', certificateOf(directKey(primary, lasting(40)), id, binding), 40],
  [
    'the earlier of its self-signature and binding',
    certificateOf(userId(primary, 'alice', lasting(60)), boundSubkey(primary, subkey, lasting(50))),
    50,
  ],
  [
    'the expiry of the self-signature itself',
    certificateOf(userId(primary, 'alice', { hashed: [expiresAfter(45 * DAY_S)] }), binding),
    45,
  ],
])('a certificate expires by %s', async (_, certificate, days) => {
  const expiresMs = MADE_MS + days * DAY_MS
  expect(await judge(certificate, NOW_MS)).toMatchObject({ unusable: null, expiresMs })
  expect(await judge(certificate, expiresMs - 1000)).toMatchObject({ unusable: null })
  expect(await judge(certificate, expiresMs)).toMatchObject({ unusable: 'expired', notBeforeMs: 0 })
  expect(await judge(certificate, expiresMs + DAY_MS)).toMatchObject({ unusable: 'expired' })
})

test('a newer self-signature extends an expired key', async () => {
  const renewed = userId(primary, 'alice', { atMs: NOW_MS - DAY_MS, ...lasting(365) })
  const certificate = certificateOf(userId(primary, 'alice', lasting(20)), renewed, binding)
  expect(await judge(certificate, NOW_MS)).toMatchObject({
    unusable: null,
    expiresMs: MADE_MS + 365 * DAY_MS,
  })
})

test.each([
  [5, null],
  [299, null],
  [300, null],
  [301, 'not-yet-valid'],
  [3600, 'not-yet-valid'],
] as const)(
  'a certificate that is dated %i s ahead has the `unusable` value %s (C1)',
  async (aheadS, unusable) => {
    const madeMs = NOW_MS + aheadS * 1000
    const { certificate } = testPerson('fast', madeMs)
    const notBeforeMs = madeMs - BOUNDS.clockToleranceMs
    expect(await judge(certificate, NOW_MS)).toMatchObject({ unusable, notBeforeMs })
    expect(await judge(certificate, notBeforeMs)).toMatchObject({ unusable: null, notBeforeMs })
  },
)

test.each([
  ['self-signature', (atMs: number) => certificateOf(userId(primary, 'alice', { atMs }), binding)],
  ['binding', (atMs: number) => certificateOf(id, boundSubkey(primary, subkey, { atMs }))],
  ['subkey', (atMs: number) => certificateOf(id, boundSubkey(primary, curve25519('late', atMs)))],
])('a certificate whose %s is dated an hour ahead is not yet valid until then', async (_, make) => {
  const atMs = NOW_MS + 3_600_000
  const notBeforeMs = atMs - BOUNDS.clockToleranceMs
  const certificate = make(atMs)
  expect(await judge(certificate, NOW_MS)).toMatchObject({ unusable: 'not-yet-valid', notBeforeMs })
  expect(await judge(certificate, notBeforeMs)).toMatchObject({ unusable: null })
})

test.each([0, 1, 2, 3])(
  'a key revocation that is dated ahead, with reason %i, revokes at once',
  async (code) => {
    const revocation = keyRevocation(primary, { atMs: NOW_MS + DAY_MS, code })
    const certificate = certificateOf(revocation, id, binding)
    expect(await judge(certificate, NOW_MS)).toMatchObject({
      unusable: 'revoked',
      revocations: true,
    })
  },
)

test('a subkey that is retired as of tomorrow is usable until then', async () => {
  const tomorrow = { atMs: NOW_MS + DAY_MS, code: 3 }
  const packets = concat(binding, subkeyRevocation(primary, subkey, tomorrow))
  const certificate = certificateOf(id, packets)
  expect(await judge(certificate, NOW_MS)).toMatchObject({
    unusable: null,
    expiresMs: tomorrow.atMs,
    revocations: true,
  })
  expect(await judge(certificate, tomorrow.atMs)).toMatchObject({ unusable: 'revoked' })
})

test.each([NOW_MS - DAY_MS, NOW_MS])('a forged subkey revocation is ignored', async (atMs) => {
  const forged = { ...mallory.primary, fingerprint: primary.fingerprint }
  const packets = concat(binding, subkeyRevocation(forged, subkey, { atMs }))
  expect(await judge(certificateOf(id, packets), NOW_MS)).toMatchObject({
    unusable: null,
    revocations: false,
    expiresMs: Infinity,
  })
})

test('a certificate that is expired and revoked is reported as `revoked`', async () => {
  const fresh = ed25519('both', MADE_MS)
  const certificate = armoredCertificate(
    keyPacket(fresh),
    keyRevocation(fresh, yesterday),
    userId(fresh, 'both', lasting(1)),
    boundSubkey(fresh, subkey),
  )
  expect(await judge(certificate, NOW_MS)).toMatchObject({ unusable: 'revoked' })
})

const withSubkey = (body: Buffer): string =>
  armoredCertificate(keyPacket(primary), id, boundSubkey(primary, identify(body, MADE_MS)))

test.each([
  [2040, { unusable: 'weak-algorithm' }],
  [2048, { unusable: null, algorithm: 'RSA 2048' }],
  [3072, { unusable: null, algorithm: 'RSA 3072' }],
  [4096, { unusable: null, algorithm: 'RSA 4096' }],
  [4104, { unusable: 'too-large-to-seal' }],
])(
  'a certificate with an RSA subkey of %i bits has the status %o (C1, C7)',
  async (bits, status) => {
    expect(await judge(withSubkey(paperRsa(bits)), NOW_MS)).toMatchObject(status)
  },
)

test('a certificate with an RSA subkey of 32,768 bits is unusable (C7)', async () => {
  const status = await judge(withSubkey(paperRsa(32_768)), NOW_MS)
  expect(status.unusable).not.toBeNull()
})

test('a subkey of an unknown algorithm is ignored beside a usable one', async () => {
  const body = concat(4, seconds(MADE_MS), 99, seeded('what', 40))
  expect(await judge(withSubkey(body), NOW_MS)).toMatchObject({ unusable: 'no-encryption-subkey' })
  const certificate = armoredCertificate(
    keyPacket(primary),
    id,
    boundSubkey(primary, identify(body, MADE_MS)),
    boundSubkey(primary, subkey),
  )
  expect(await judge(certificate, NOW_MS)).toMatchObject({ unusable: null })
})

test('a certificate with a primary key of an unknown algorithm is unparseable', async () => {
  const body = concat(4, seconds(MADE_MS), 99, seeded('what', 40))
  const certificate = armoredCertificate(keyPacket(identify(body, MADE_MS)), id)
  expect(await judge(certificate, NOW_MS)).toMatchObject({ unusable: 'unparseable' })
})

test.each([
  ['X25519', { type: 'curve25519' }],
  ['X448', { type: 'curve448' }],
] as const)('a version 4 certificate of %s is usable', async (algorithm, options) => {
  const { certificate } = await generated(options)
  expect(await judge(certificate, NOW_MS)).toMatchObject({ unusable: null, algorithm })
})

test('the status of a certificate without an encryption key names its signing algorithm', async () => {
  const status = await judge(armoredCertificate(keyPacket(primary), id), NOW_MS)
  expect(status).toMatchObject({ algorithm: 'Ed25519', encryptionKeys: [], notBeforeMs: 0 })
})

const numbers = (...lengths: number[]): Buffer =>
  concat(...lengths.map((length, index) => mpi(concat(0x80, seeded(`${index}`, length)))))

test.each<[string, number, Buffer, boolean]>([
  ['RSA', 1, numbers(255, 2), true],
  ['RSA for encryption only', 2, numbers(255, 2), true],
  ['RSA for signing only', 3, numbers(255, 2), false],
  ['Elgamal', 16, numbers(255, 255, 255), true],
  ['DSA', 17, numbers(255, 31, 255, 255), false],
  ['ECDH', 18, subkey.body.subarray(6), true],
  ['EdDSA', 22, primary.body.subarray(6), false],
  ['X25519', 25, seeded('x25519', 32), true],
  ['X448', 26, seeded('x448', 56), true],
  ['Ed25519', 27, seeded('ed25519', 32), false],
])(
  'an unbound subkey of %s (%i) is listed in `encryptionKeys` if it encrypts',
  async (_, number, rest, encrypts) => {
    const body = concat(4, seconds(MADE_MS), number, rest)
    const { fingerprint } = identify(body, MADE_MS)
    // bound to nothing, so that it is not usable
    const bare = armoredCertificate(keyPacket(primary), id, packet(14, body))
    expect((await judge(bare, NOW_MS)).encryptionKeys).toEqual(encrypts ? [fingerprint] : [])
  },
)
