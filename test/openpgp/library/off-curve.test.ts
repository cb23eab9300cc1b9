/** CVE-2019-9155: a point that is not on its curve leaks bits of the secret key to its sender. */
import { afterAll, expect, test } from 'vitest'
import { dearmor } from '../../../src/openpgp/format/armor.ts'
import { createEngine } from '../../../src/openpgp/create.ts'
import { TAG, packetsOf } from '../../../src/openpgp/format/packets.ts'
import { framePacket } from '../../../src/openpgp/format/packet-writer.ts'
import { armor } from '../../support/openpgp-framing.ts'
import { generated } from '../../support/openpgp-generated.ts'
import { ecdhBody, ecdsa, identify } from '../../support/openpgp-key.ts'
import { MADE_MS, alice, bot } from '../../support/openpgp-people.ts'
import {
  armoredCertificate,
  boundSubkey,
  keyPacket,
  userId,
} from '../../support/openpgp-certificate.ts'

const engine = createEngine({ threads: 1 })
afterAll(() => engine[Symbol.asyncDispose]())

/** Object identifiers as OpenPGP writes them, and the hashes that the curves ask for. */
const CURVES = [
  ['nistP256', 'P-256', '082a8648ce3d030107', 'sha256'],
  ['nistP384', 'P-384', '052b81040022', 'sha384'],
  ['nistP521', 'P-521', '052b81040023', 'sha512'],
  ['brainpoolP256r1', 'brainpoolP256r1', '092b2403030208010107', 'sha256'],
  ['brainpoolP384r1', 'brainpoolP384r1', '092b240303020801010b', 'sha384'],
  ['brainpoolP512r1', 'brainpoolP512r1', '092b240303020801010d', 'sha512'],
] as const

/** The last byte of a point is changed: hardly ever is what comes out on the curve. */
function bent(bytes: Uint8Array, end: number): Buffer {
  const copy = Buffer.from(bytes)
  copy[end - 1] = (copy[end - 1] ?? 0) ^ 1
  return copy
}

/** Version, key id and algorithm stand before the point of a recipient packet (RFC 9580, 5.1). */
const POINT_AT = 10

function withBentPoint(armored: string): string {
  const packets = [...packetsOf(dearmor(armored, 'MESSAGE') ?? Buffer.alloc(0))]
  const framed = packets.map(({ tag, body }) => {
    if (tag !== TAG.pkesk) return framePacket(tag, body)
    const bytes = Math.ceil(Buffer.from(body).readUInt16BE(POINT_AT) / 8)
    return framePacket(tag, bent(body, POINT_AT + 2 + bytes))
  })
  return armor(Buffer.concat(framed))
}

/** The library makes no brainpool keys on its own. */
const nist = CURVES.filter(([curve]) => curve.startsWith('nist'))

test.each(nist)('a message whose ephemeral point is not on %s is damaged', async (curve) => {
  const { certificate, unlocked } = await generated({ curve })
  const request = { text: 'hello', certificates: [certificate], signer: bot.unlocked } as const
  const sealed = await engine.seal({ ...request, cipher: 'aes256' })
  expect(await engine.open(sealed, [unlocked])).toMatchObject({ outcome: 'opened', text: 'hello' })
  const opened = await engine.open(withBentPoint(sealed), [unlocked])
  expect(opened).toEqual({ outcome: 'damaged', reason: 'decryption' })
})

/** Seals to a person of the common kind, and to one with this certificate. */
const seal = (certificate: string): Promise<string> =>
  engine.seal({
    text: 'hello',
    certificates: [alice.certificate, certificate],
    signer: bot.unlocked,
    cipher: 'aes256',
  })

test.each(CURVES)(
  'a certificate whose point is not on %s is unusable and never sealed to',
  async (name, curve, oid, hash) => {
    const primary = ecdsa(curve, oid, MADE_MS)
    const body = ecdhBody(curve, oid, MADE_MS)
    const certified = (subkey: Buffer): string =>
      armoredCertificate(
        keyPacket(primary),
        userId(primary, curve, { hash }),
        boundSubkey(primary, identify(subkey, MADE_MS), { hash }),
      )
    expect(await engine.judge(certified(body))).toMatchObject({
      unusable: null,
      algorithm: name.replace('nistP', 'NIST P-'),
    })
    expect(await seal(certified(body))).toContain('BEGIN PGP MESSAGE')
    // Behind the point stand four bytes about the key derivation.
    const wrong = certified(bent(body, body.length - 4))
    expect(await engine.judge(wrong)).toMatchObject({ unusable: 'weak-algorithm' })
    await expect(seal(wrong)).rejects.toThrow()
  },
)
