import { beforeAll, expect, test } from 'vitest'
import '../../src/openpgp/library/brainpool.ts'
import { judge } from '../../src/openpgp/library/certificate.ts'
import type { Cipher } from '../../src/openpgp/format/ciphers.ts'
import { dearmor } from '../../src/openpgp/format/armor.ts'
import { TAG, packetsOf } from '../../src/openpgp/format/packets.ts'
import { framePacket } from '../../src/openpgp/format/packet-writer.ts'
import { sealHere } from '../support/openpgp-engine.ts'
import { generated, paperRsa } from '../support/openpgp-generated.ts'
import { ecdhBody, ecdsa, identify } from '../support/openpgp-key.ts'
import { MADE_MS, NOW_MS, alice, bot } from '../support/openpgp-people.ts'
import {
  armoredCertificate,
  boundSubkey,
  keyPacket,
  userId,
} from '../support/openpgp-certificate.ts'

const { primary } = alice
const CIPHERS: Cipher[] = ['aes256', 'aes128']

/** Bytes of each recipient packet of a sealed message, in order. */
function packetSizes(armored: string): number[] {
  const bytes = dearmor(armored, 'MESSAGE') ?? Buffer.alloc(0)
  return [...packetsOf(bytes)]
    .filter(({ tag }) => tag === TAG.pkesk)
    .map(({ tag, body }) => framePacket(tag, body).length)
}

async function sizes(certificate: string, cipher: Cipher): Promise<number> {
  const request = { text: 'x', certificates: [certificate], signer: bot.unlocked, cipher }
  return packetSizes(await sealHere(request, NOW_MS))[0] ?? 0
}

const BRAINPOOL = [
  ['brainpoolP256r1', '092b2403030208010107', 'sha256'],
  ['brainpoolP384r1', '092b240303020801010b', 'sha384'],
  ['brainpoolP512r1', '092b240303020801010d', 'sha512'],
] as const
const kinds = new Map<string, string>()
beforeAll(async () => {
  kinds.set('curve25519Legacy', alice.certificate)
  for (const curve of ['nistP256', 'nistP384', 'nistP521'] as const) {
    kinds.set(curve, (await generated({ curve })).certificate)
  }
  for (const [curve, oid, hash] of BRAINPOOL) {
    const signer = ecdsa(curve, oid, MADE_MS)
    const subkey = identify(ecdhBody(curve, oid, MADE_MS), MADE_MS)
    const packets = [userId(signer, curve, { hash }), boundSubkey(signer, subkey, { hash })]
    kinds.set(curve, armoredCertificate(keyPacket(signer), ...packets))
  }
  kinds.set('x25519', (await generated({ type: 'curve25519' })).certificate)
  kinds.set('x448', (await generated({ type: 'curve448' })).certificate)
})

test.each([
  'curve25519Legacy',
  'nistP256',
  'nistP384',
  'nistP521',
  'brainpoolP256r1',
  'brainpoolP384r1',
  'brainpoolP512r1',
  'x25519',
  'x448',
])('`recipientBytes` equals the size of a PKESK packet for %s', async (kind) => {
  const certificate = kinds.get(kind) ?? ''
  const { recipientBytes, unusable } = await judge(certificate, NOW_MS)
  expect(unusable).toBeNull()
  for (const cipher of CIPHERS)
    expect(await sizes(certificate, cipher)).toBe(recipientBytes[cipher])
})

test.each([2048, 3072, 4096])(
  '`recipientBytes` is the greatest size of a PKESK packet for RSA %i',
  async (bits) => {
    const certificate = armoredCertificate(
      keyPacket(primary),
      userId(primary, 'alice'),
      boundSubkey(primary, identify(paperRsa(bits), MADE_MS)),
    )
    const { recipientBytes } = await judge(certificate, NOW_MS)
    for (const cipher of CIPHERS) {
      const seen = [await sizes(certificate, cipher), await sizes(certificate, cipher)]
      expect(Math.max(...seen)).toBeLessThanOrEqual(recipientBytes[cipher])
      expect(Math.max(...seen)).toBeGreaterThanOrEqual(recipientBytes[cipher] - 2)
    }
  },
)
