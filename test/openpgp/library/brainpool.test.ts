import { afterAll, expect, test } from 'vitest'
import { createEngine } from '../../../src/openpgp/create.ts'
import { NOW_MS, MADE_MS, bot } from '../../support/openpgp-people.ts'
import { openInner } from '../../support/openpgp-engine.ts'
import { signedLiteral } from '../../support/openpgp-inner.ts'
import { ecdhBody, ecdsa, identify } from '../../support/openpgp-key.ts'
import {
  armoredCertificate,
  boundSubkey,
  keyPacket,
  userId,
} from '../../support/openpgp-certificate.ts'

const engine = createEngine({ threads: 1 })
afterAll(() => engine[Symbol.asyncDispose]())

/** With hashes that the curves ask for, and object identifiers as OpenPGP writes them. */
const CURVES = [
  ['brainpoolP256r1', '092b2403030208010107', 'sha256', 128],
  ['brainpoolP384r1', '092b240303020801010b', 'sha384', 160],
  ['brainpoolP512r1', '092b240303020801010d', 'sha512', 192],
] as const

test.each(CURVES)(
  'a certificate on %s can be sealed to, and verifies',
  async (curve, oid, hash, size) => {
    const primary = ecdsa(curve, oid, MADE_MS)
    const subkey = identify(ecdhBody(curve, oid, MADE_MS), MADE_MS)
    const certificate = armoredCertificate(
      keyPacket(primary),
      userId(primary, curve, { hash }),
      boundSubkey(primary, subkey, { hash }),
    )
    const status = await engine.judge(certificate)
    expect(status).toMatchObject({ unusable: null, algorithm: curve })
    expect(status.recipientBytes.aes256).toBe(size)
    const request = { text: 'x', certificates: [certificate], signer: bot.unlocked } as const
    expect(await engine.seal({ ...request, cipher: 'aes256' })).toContain('BEGIN PGP MESSAGE')

    const opened = await openInner(signedLiteral('hello', { signer: primary, atMs: NOW_MS, hash }))
    if (opened.outcome !== 'opened') throw new Error('not opened')
    const { signed } = opened
    expect(await engine.verify(signed, certificate, NOW_MS)).toEqual(['valid'])
    const forged = { ...signed, document: Buffer.from('hellO') }
    expect(await engine.verify(forged, certificate, NOW_MS)).toEqual(['bad'])
  },
)

test('a forged self-signature on a brainpool certificate is noticed', async () => {
  const [curve, oid, hash] = CURVES[0]
  const [primary, other] = [ecdsa(curve, oid, MADE_MS), ecdsa(curve, oid, MADE_MS)]
  const forged = { ...other, fingerprint: primary.fingerprint, body: primary.body }
  const certificate = armoredCertificate(
    keyPacket(primary),
    userId(forged, curve, { hash }),
    boundSubkey(forged, identify(ecdhBody(curve, oid, MADE_MS), MADE_MS), { hash }),
  )
  expect(await engine.judge(certificate)).toMatchObject({ unusable: 'no-encryption-subkey' })
})
