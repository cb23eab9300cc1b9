import { expect, test } from 'vitest'
import { judge } from '../../../src/openpgp/library/certificate.ts'
import { BOUNDS } from '../../../src/openpgp/bounds.ts'
import '../../support/openpgp-engine.ts'
import { armor, longPacket, packet } from '../../support/openpgp-framing.ts'
import { literal } from '../../support/openpgp-inner.ts'
import { concat, seeded, u32 } from '../../support/openpgp-bytes.ts'
import { curve25519 } from '../../support/openpgp-key.ts'
import { MADE_MS, NOW_MS, alice, mallory } from '../../support/openpgp-people.ts'
import {
  armoredCertificate,
  bogusBindings,
  bogusCertifications,
  boundSubkey,
  keyPacket,
  subkeyPacket,
  userId,
} from '../../support/openpgp-certificate.ts'
import { TYPE, issuer, issuerFingerprint, signature } from '../../support/openpgp-signature.ts'

const { primary, subkey } = alice
const key = keyPacket(primary)
const id = userId(primary, 'alice')
const binding = boundSubkey(primary, subkey)
const dots = (count: number): Buffer[] =>
  Array.from({ length: count }, (_, index) => userId(primary, `alice ${index}`))
test('a certificate is known by the fingerprint that we compute', async () => {
  expect(await judge(alice.certificate, NOW_MS)).toEqual({
    fingerprint: primary.fingerprint,
    unusable: null,
    notBeforeMs: MADE_MS - BOUNDS.clockToleranceMs,
    expiresMs: Infinity,
    revocations: false,
    encryptionKeys: [subkey.fingerprint],
    recipientBytes: { aes256: 96, aes128: 80 },
    algorithm: 'Curve25519',
    armored: alice.certificate,
  })
})

test('all keys that can be encrypted to are known, the one that is sealed to first', async () => {
  const second = curve25519('second', MADE_MS + 1000)
  const laterBound = boundSubkey(primary, second, { atMs: MADE_MS + 2000 })
  const { encryptionKeys } = await judge(armoredCertificate(key, id, binding, laterBound), NOW_MS)
  expect(encryptionKeys).toEqual([second.fingerprint, subkey.fingerprint])
})

test.each([
  [
    'with CRLF, headers and no checksum',
    armor(concat(key, id, binding), {
      type: 'PUBLIC KEY BLOCK',
      endOfLine: '\r\n',
      headers: ['Comment: x'],
      checksum: false,
    }),
  ],
  ['with five-byte lengths', armoredCertificate(longPacket(6, primary.body), id, binding)],
  ['with a trust packet', armoredCertificate(key, packet(12, concat(1, 2)), id, binding)],
  [
    'with padding and an unknown packet behind',
    armoredCertificate(key, id, binding, packet(21, seeded('p', 30)), packet(60, seeded('x', 9))),
  ],
  [
    'with a picture',
    armoredCertificate(key, packet(17, concat(20, 1, seeded('jpeg', 18))), id, binding),
  ],
  ['with sixty-four user ids', armoredCertificate(key, ...dots(64), binding)],
  [
    'with a user id that is no UTF-8',
    armoredCertificate(key, packet(13, concat('fffefd')), id, binding),
  ],
])('a certificate %s can be sealed to', async (_, certificate) => {
  expect(await judge(certificate, NOW_MS)).toMatchObject({
    unusable: null,
    fingerprint: primary.fingerprint,
  })
})

const v6Body = concat(6, u32(MADE_MS / 1000), 27, u32(32), seeded('v6', 32))
const v3Body = concat(3, u32(MADE_MS / 1000), 0, 0, 1, '0400', seeded('n', 128), '0011', '010001')
const secret = concat(packet(5, primary.secretBody), id, binding)

test.each([
  [
    'C4 two certificates',
    armoredCertificate(key, id, binding, keyPacket(mallory.primary)),
    'several-certificates',
  ],
  [
    'C4 the same certificate twice',
    armoredCertificate(key, id, binding, key, id, binding),
    'several-certificates',
  ],
  ['C4 two blocks', alice.certificate + mallory.certificate, 'unparseable'],
  ['C4 a secret key', armor(alice.secret, { type: 'PRIVATE KEY BLOCK' }), 'secret-key'],
  ['C4 a secret key in a public block', armor(secret, { type: 'PUBLIC KEY BLOCK' }), 'secret-key'],
  [
    'C4 a secret subkey in a public block',
    armoredCertificate(key, id, packet(7, subkey.secretBody)),
    'secret-key',
  ],
  ['C4 a message', armor(literal('hello')), 'unparseable'],
  ['C4 a message in a public key block', armoredCertificate(literal('hello')), 'unparseable'],
  ['C4 junk', 'hello', 'unparseable'],
  ['C4 nothing', '', 'unparseable'],
  ['C4 noise in armor', armoredCertificate(seeded('noise', 500)), 'unparseable'],
  ['C4 no primary key', armoredCertificate(id, binding), 'unparseable'],
  [
    'C4 a user id before the key',
    armoredCertificate(packet(13, Buffer.from('x')), key, id, binding),
    'unparseable',
  ],
  ['C4 a key packet cut short', armoredCertificate(key.subarray(0, -1)), 'unparseable'],
  ['C4 an empty key packet', armoredCertificate(packet(6, Buffer.alloc(0))), 'version'],
  ['C4 a wrong checksum', alice.certificate.replace(/^=....$/m, '=AAAA'), 'unparseable'],
  ['C4 words around it', `see:\n${alice.certificate}`, 'unparseable'],
  ['C4 65537 characters', alice.certificate.padEnd(65_537, '\n'), 'too-large'],
  ['C4 five megabytes', 'A'.repeat(5_000_000), 'too-large'],
  ['sixty-five user ids', armoredCertificate(key, ...dots(65), binding), 'too-large'],
  ['C4 three hundred user ids', armoredCertificate(key, ...dots(300), binding), 'too-large'],
  [
    'six hundred packets',
    armoredCertificate(key, ...Array.from({ length: 600 }, () => packet(2, Buffer.alloc(0)))),
    'too-large',
  ],
  ['C1 version 6', armoredCertificate(packet(6, v6Body)), 'version'],
  ['C1 version 3', armoredCertificate(packet(6, v3Body)), 'version'],
  ['version 5', armoredCertificate(packet(6, concat(5, primary.body.subarray(1)))), 'version'],
  ['C1 no user id', armoredCertificate(key, binding), 'no-encryption-subkey'],
  [
    'a user id that nobody signed',
    armoredCertificate(key, packet(13, Buffer.from('alice')), binding),
    'no-encryption-subkey',
  ],
  [
    'a user id that somebody else signed',
    armoredCertificate(
      key,
      packet(13, Buffer.from('alice')),
      userId(mallory.primary, 'alice').subarray(7),
      binding,
    ),
    'no-encryption-subkey',
  ],
  [
    'a user id whose self-signature has no date',
    armoredCertificate(key, userId(primary, 'alice', { undated: true }), binding),
    'unparseable',
  ],
  ['C1 only a primary key', armoredCertificate(key, id), 'no-encryption-subkey'],
  [
    'C5 somebody else’s subkey without binding',
    armoredCertificate(key, id, subkeyPacket(mallory.subkey)),
    'no-encryption-subkey',
  ],
  [
    'C5 somebody else’s subkey with his own binding',
    armoredCertificate(key, id, boundSubkey(mallory.primary, mallory.subkey)),
    'no-encryption-subkey',
  ],
  [
    'a subkey that may only sign',
    armoredCertificate(key, id, boundSubkey(primary, subkey, { flags: 2 })),
    'no-encryption-subkey',
  ],
])('%s: cannot be sealed to', async (_, certificate, unusable) => {
  const status = await judge(certificate, NOW_MS)
  expect(status).toMatchObject({ unusable, armored: certificate })
})

test('C5 beside a subkey of its own, a foreign one is not used', async () => {
  const certificate = armoredCertificate(key, id, subkeyPacket(mallory.subkey), binding)
  expect(await judge(certificate, NOW_MS)).toMatchObject({ unusable: null })
})

test('C4 some bogus self-signatures and bindings change nothing', async () => {
  const signatures = bogusCertifications(primary, 'alice', 15)
  const bindings = bogusBindings(primary, subkey, 15)
  const certificate = armoredCertificate(key, id, signatures, binding, bindings)
  expect(await judge(certificate, NOW_MS)).toMatchObject({ unusable: null })
  const name = packet(13, Buffer.from('alice'))
  const without = armoredCertificate(key, name, signatures, subkeyPacket(subkey), bindings)
  expect(await judge(without, NOW_MS)).toMatchObject({ unusable: 'no-encryption-subkey' })
})

const padding = packet(21, seeded('padding', 4))
const single = (count: number): Buffer[] =>
  Array.from({ length: count }, () => bogusCertifications(primary, 'alice', 1))
const apart = concat(...single(17).map((one) => concat(one, padding)))
/** They name mallory where it is signed, and alice where it is not. */
const disguised = concat(
  ...Array.from({ length: 17 }, () =>
    signature({
      signer: primary,
      over: Buffer.from('x'),
      type: TYPE.certification,
      atMs: NOW_MS,
      hashed: [issuerFingerprint(mallory.primary.fingerprint)],
      unhashed: [issuer(primary.fingerprint)],
    }),
  ),
)
const tenEach = concat(...dots(13).map((one) => concat(one, ...single(10))))

test.each([
  ['seventeen on a user id', concat(id, bogusCertifications(primary, 'alice', 16), binding)],
  ['215 on a user id', concat(id, bogusCertifications(primary, 'alice', 215), binding)],
  ['seventeen on a subkey', concat(id, binding, bogusBindings(primary, subkey, 16))],
  ['400 on a subkey', concat(id, binding, bogusBindings(primary, subkey, 400))],
  ['seventeen with padding between', concat(id, apart, binding)],
  ['seventeen that first name somebody else', concat(id, disguised, binding)],
  ['eleven on each of thirteen user ids', concat(tenEach, binding)],
])('C4 signatures that may be its own, %s, are refused unread', async (_, packets) => {
  expect(await judge(armoredCertificate(key, packets), NOW_MS)).toMatchObject({
    fingerprint: null,
    unusable: 'too-large',
  })
})

test('two hundred certifications by others change nothing', async () => {
  const others = Array.from({ length: 200 }, (_, index) =>
    signature({
      signer: mallory.primary,
      over: seeded(`certification ${index}`, 20),
      type: TYPE.certification,
      atMs: NOW_MS,
    }),
  )
  const certificate = armoredCertificate(key, id, ...others, binding)
  expect(await judge(certificate, NOW_MS)).toMatchObject({ unusable: null })
})
