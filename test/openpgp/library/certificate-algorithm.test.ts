import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { judge } from '../../../src/openpgp/library/certificate.ts'
import '../../support/openpgp-engine.ts'
import { generated, paperRsa } from '../../support/openpgp-generated.ts'
import { packet } from '../../support/openpgp-framing.ts'
import { dsa, ecdsa, identify, seconds } from '../../support/openpgp-key.ts'
import { mpi, concat, seeded } from '../../support/openpgp-bytes.ts'
import { MADE_MS, NOW_MS, alice } from '../../support/openpgp-people.ts'
import {
  armoredCertificate,
  boundSubkey,
  keyPacket,
  userId,
  plainCertificate,
} from '../../support/openpgp-certificate.ts'

const { primary, subkey } = alice
const id = userId(primary, 'alice')
const withSubkey = (body: Buffer): string =>
  armoredCertificate(keyPacket(primary), id, boundSubkey(primary, identify(body, MADE_MS)))

test.each([2040, 4104])(
  'a certificate with an RSA subkey of %i bits is unusable as `weak-algorithm` (C1, C7)',
  async (bits) => {
    expect(await judge(withSubkey(paperRsa(bits)), NOW_MS)).toMatchObject({
      unusable: 'weak-algorithm',
    })
  },
)

test.each([2048, 3072, 4096])(
  'a certificate with an RSA subkey of %i bits is usable',
  async (bits) => {
    expect(await judge(withSubkey(paperRsa(bits)), NOW_MS)).toMatchObject({
      unusable: null,
      algorithm: `RSA ${bits}`,
    })
  },
)

test('a certificate with an RSA subkey of 32,768 bits is unusable (C7)', async () => {
  const status = await judge(withSubkey(paperRsa(32_768)), NOW_MS)
  expect(status.unusable).not.toBeNull()
})

test('a certificate with a DSA primary key is unusable as `weak-algorithm` (C1)', async () => {
  const pem = readFileSync(new URL('../../vectors/keys/dsa-2048.pem', import.meta.url), 'utf8')
  const old = dsa(pem, MADE_MS)
  const certificate = plainCertificate(old, subkey, 'old')
  expect(await judge(certificate, NOW_MS)).toMatchObject({ unusable: 'weak-algorithm' })
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

test('a certificate on secp256k1 is unusable', async () => {
  const odd = ecdsa('secp256k1', '052b8104000a', MADE_MS)
  expect((await judge(plainCertificate(odd, subkey), NOW_MS)).unusable).not.toBeNull()
})

test.each([
  ['nistP256', 'NIST P-256'],
  ['nistP384', 'NIST P-384'],
  ['nistP521', 'NIST P-521'],
] as const)('a certificate on %s is usable', async (curve, algorithm) => {
  const { certificate } = await generated({ curve })
  expect(await judge(certificate, NOW_MS)).toMatchObject({ unusable: null, algorithm })
})

test.each([
  ['curve25519', 'X25519'],
  ['curve448', 'X448'],
] as const)(
  'a version 4 certificate of %s in the newer encoding is usable',
  async (type, algorithm) => {
    const { certificate } = await generated({ type })
    expect(await judge(certificate, NOW_MS)).toMatchObject({ unusable: null, algorithm })
  },
)

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
