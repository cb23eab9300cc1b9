import { generateKeyPairSync } from 'node:crypto'
import { expect, test } from 'vitest'
import { generateDer } from '../../../src/openpgp/library/brainpool.ts'
import { MADE_MS } from '../../support/openpgp-people.ts'
import { useEngineHere } from '../../support/openpgp-jobs-here.ts'
import { ecdhBody, ecdsa, identify } from '../../support/openpgp-key.ts'
import {
  armoredCertificate,
  boundSubkey,
  keyPacket,
  userId,
} from '../../support/openpgp-certificate.ts'

const engine = useEngineHere()

/** With hashes that the curves ask for, and object identifiers as OpenPGP writes them. */
const CURVES = [
  ['brainpoolP256r1', '092b2403030208010107', 'sha256', 128],
  ['brainpoolP384r1', '092b240303020801010b', 'sha384', 160],
  ['brainpoolP512r1', '092b240303020801010d', 'sha512', 192],
] as const

test.each(CURVES)('`generateDer` encodes a point on %s as OpenSSL does', (curveName) => {
  const { publicKey } = generateKeyPairSync('ec', { namedCurve: curveName })
  const der = publicKey.export({ format: 'der', type: 'spki' })
  const bytes = 1 + 2 * (Number(curveName.slice(10, 13)) / 8)
  const point = der.subarray(-bytes)
  expect(point[0]).toBe(4)
  expect(generateDer({ curveName, publicKey: point }).publicKey).toEqual(der)
})

test('`generateDer` rejects secp256k1', () => {
  const unknown = { curveName: 'secp256k1', publicKey: new Uint8Array(65) }
  expect(() => generateDer(unknown)).toThrow('curve')
})

test('a brainpool certificate with a forged self-signature is unusable', async () => {
  const [curve, oid, hash] = CURVES[0]
  const [primary, other] = [ecdsa(curve, oid, MADE_MS), ecdsa(curve, oid, MADE_MS)]
  const forged = { ...other, fingerprint: primary.fingerprint, body: primary.body }
  const certificate = armoredCertificate(
    keyPacket(primary),
    userId(forged, curve, { hash }),
    boundSubkey(forged, identify(ecdhBody(curve, oid, MADE_MS), MADE_MS), { hash }),
  )
  expect(await engine.judge(certificate)).toMatchObject({ unusable: 'no-user-id' })
})
