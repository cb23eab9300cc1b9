import { expect, test } from 'vitest'
import { judge } from '../../../src/openpgp/library/certificate.ts'
import { BOUNDS } from '../../../src/openpgp/bounds.ts'
import '../../support/openpgp-engine.ts'
import { armor, longPacket, packet } from '../../support/openpgp-framing.ts'
import { literal } from '../../support/openpgp-inner.ts'
import { concat, seeded } from '../../support/openpgp-bytes.ts'
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
import { TYPE, signature } from '../../support/openpgp-signature.ts'

const { primary, subkey } = alice
const key = keyPacket(primary)
const id = userId(primary, 'alice')
const binding = boundSubkey(primary, subkey)
const dots = (count: number): Buffer[] =>
  Array.from({ length: count }, (_, index) => userId(primary, `alice ${index}`))
test('the status of a usable certificate has its computed fingerprint, keys, sizes and dates', async () => {
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

test('`encryptionKeys` lists all encryption subkeys, the one for sealing first', async () => {
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
    'with padding and an unknown packet at its end',
    armoredCertificate(key, id, binding, packet(21, seeded('p', 30)), packet(60, seeded('x', 9))),
  ],
  [
    'with a user attribute',
    armoredCertificate(key, packet(17, concat(20, 1, seeded('jpeg', 18))), id, binding),
  ],
  ['with sixty-four user ids', armoredCertificate(key, ...dots(64), binding)],
  [
    'with a user id that is not UTF-8',
    armoredCertificate(key, packet(13, concat('fffefd')), id, binding),
  ],
])('a certificate %s is usable', async (_, certificate) => {
  expect(await judge(certificate, NOW_MS)).toMatchObject({
    unusable: null,
    fingerprint: primary.fingerprint,
  })
})

test.each([
  [
    'twice in one block (C4)',
    armoredCertificate(key, id, binding, key, id, binding),
    'several-certificates',
  ],
  [
    'that is a message in a public key block (C4)',
    armoredCertificate(literal('hello')),
    'unparseable',
  ],
  ['of no characters (C4)', '', 'unparseable'],
  ['that is armored noise (C4)', armoredCertificate(seeded('noise', 500)), 'unparseable'],
  ['without a primary key (C4)', armoredCertificate(id, binding), 'unparseable'],
  ['with a truncated key packet (C4)', armoredCertificate(key.subarray(0, -1)), 'unparseable'],
  ['with an empty key packet (C4)', armoredCertificate(packet(6, Buffer.alloc(0))), 'version'],
  [
    'with a wrong armor checksum (C4)',
    alice.certificate.replace(/^=....$/m, '=AAAA'),
    'unparseable',
  ],
  ['with text around it (C4)', `see:\n${alice.certificate}`, 'unparseable'],
  ['of five megabytes (C4)', 'A'.repeat(5_000_000), 'too-large'],
  ['with sixty-five user ids', armoredCertificate(key, ...dots(65), binding), 'too-large'],
  ['of version 5', armoredCertificate(packet(6, concat(5, primary.body.subarray(1)))), 'version'],
  [
    'with an unsigned user id',
    armoredCertificate(key, packet(13, Buffer.from('alice')), binding),
    'no-encryption-subkey',
  ],
  [
    'with a user id that another key signed',
    armoredCertificate(
      key,
      packet(13, Buffer.from('alice')),
      userId(mallory.primary, 'alice').subarray(7),
      binding,
    ),
    'no-encryption-subkey',
  ],
  [
    'with an undated self-signature',
    armoredCertificate(key, userId(primary, 'alice', { undated: true }), binding),
    'unparseable',
  ],
  [
    'with an unbound subkey of another key (C5)',
    armoredCertificate(key, id, subkeyPacket(mallory.subkey)),
    'no-encryption-subkey',
  ],
])('a certificate %s is unusable', async (_, certificate, unusable) => {
  const status = await judge(certificate, NOW_MS)
  expect(status).toMatchObject({ unusable, armored: certificate })
})

test('15 bogus self-signatures and 15 bogus bindings are ignored beside valid ones (C4)', async () => {
  const signatures = bogusCertifications(primary, 'alice', 15)
  const bindings = bogusBindings(primary, subkey, 15)
  const certificate = armoredCertificate(key, id, signatures, binding, bindings)
  expect(await judge(certificate, NOW_MS)).toMatchObject({ unusable: null })
  const name = packet(13, Buffer.from('alice'))
  const without = armoredCertificate(key, name, signatures, subkeyPacket(subkey), bindings)
  expect(await judge(without, NOW_MS)).toMatchObject({ unusable: 'no-encryption-subkey' })
})

test('200 certifications by another key are ignored', async () => {
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
