/** Bodies of vectors of recipient packets, containers and framing: SECURITY P6 to P20. */
import { longPacket, oldPacket, packet, partialPacket } from '../../support/openpgp-framing.ts'
import { compressed, literal, signedLiteral } from '../../support/openpgp-inner.ts'
import { concat, seeded, u16 } from '../../support/openpgp-bytes.ts'
import { NOW_MS, alice, bot, mallory, testPerson } from '../../support/openpgp-people.ts'
import {
  anonymousPkesk,
  pkesk,
  pkesk6,
  pkeskBody,
  sed,
  seipd,
  seipd2,
  seipdBody,
  sessionKey,
  strangerPkesk,
} from '../../support/openpgp-sealed.ts'
import { concatenated } from './bodies.ts'

const ANONYMOUS = '0000000000000000'
const key = sessionKey('vectors')
const body = seipdBody(literal('hello'), key)
const box = packet(18, body)
const ours = pkesk(bot.subkey, key)
const marker = packet(10, Buffer.from('PGP'))
const unknown = (tag: number): Buffer => packet(tag, seeded('unknown', 20))
const argon2 = packet(3, concat(6, 0, 9, 2, 4, 20, seeded('salt', 16), 255, 4, 30, seeded('x', 40)))
const strangers = (count: number, keyId?: string): Buffer =>
  concat(...Array.from({ length: count }, (_, index) => strangerPkesk(`v${index}`, keyId)))
const flipped = (at: number): Buffer => {
  const copy = Buffer.from(body)
  copy[at] = (copy[at] ?? 0) ^ 1
  return packet(18, copy)
}
const signed = signedLiteral('hello', { signer: alice.primary, atMs: NOW_MS })
const zeroPoint = concat(
  3,
  bot.subkey.keyId,
  18,
  u16(263),
  0x40,
  Buffer.alloc(32),
  48,
  seeded('w', 48),
)
const octetChunks = Array.from({ length: body.length - 1 }, () => 0)

/** The packets of each message. */
export const OUTER = concatenated({
  'p06-marker': [marker, ours, box],
  'p06-padding': [packet(21, seeded('padding', 99)), ours, box],
  'p06-unknown-tag': [unknown(60), ours, unknown(40), box],
  'p07-critical-tag': [ours, unknown(39), box],
  'p08-version-23': [packet(1, concat(23, seeded('v', 60))), ours, box],
  'p08-version-6': [pkesk6(mallory.subkey, key), ours, box],
  'p09-flood': [strangers(950), ours, box],
  'p10-anonymous-flood': [strangers(950, ANONYMOUS), ours, box],
  'p10-anonymous-only': [anonymousPkesk(bot.subkey, key), strangers(949, ANONYMOUS), box],
  'p10-named-flood': [strangers(950, bot.subkey.keyId), box],
  'p11-anonymous': [anonymousPkesk(bot.subkey, key), box],
  'p11-anonymous-retained': [
    strangers(3, ANONYMOUS),
    anonymousPkesk(testPerson('old').subkey, key),
    box,
  ],
  'p12-password-only': [packet(3, concat(4, 9, 3, 8, seeded('salt', 8), 255)), box],
  'p12-argon2': [argon2, ours, box],
  'p13-unprotected': [ours, sed(literal('hello'), key)],
  'p13-downgraded': [ours, packet(9, body.subarray(1))],
  'p14-bit-flipped': [ours, flipped(25)],
  'p14-prefix-flipped': [ours, flipped(3)],
  'p14-hash-flipped': [ours, flipped(body.length - 1)],
  'p14-truncated': [ours, packet(18, body.subarray(0, -1))],
  'p14-no-hash': [ours, seipd(literal('hello'), key, { without: true })],
  'p14-hash-header': [ours, seipd(literal('hello'), key, { header: 'd313' })],
  'p14-session-key': [concat(ours.subarray(0, -1), 0), box],
  'p15-version-7': [ours, packet(18, concat(7, seeded('x', 80)))],
  'p15-aead-draft': [ours, packet(20, concat(1, 9, 2, 16, seeded('x', 80)))],
  'p16-version-2': [pkesk6(bot.subkey, key), seipd2(signed, key)],
  'p18-two-containers': [ours, box, box],
  'p18-recipient-after': [ours, box, ours],
  'p18-zero-octet': [ours, box, Buffer.alloc(1)],
  'p18-literal-after': [ours, box, literal('world')],
  'p19-signed-only': [signed],
  'p19-literal-only': [literal('hello')],
  'p20-compressed-bomb': [compressed(literal(Buffer.alloc(1 << 26)), 2)],
  'not-for-us': [strangers(2), box],
  'framing-old': [oldPacket(1, pkeskBody(bot.subkey, key, 'pkesk'), 2), box],
  'framing-long': [longPacket(1, pkeskBody(bot.subkey, key, 'pkesk')), longPacket(18, body)],
  'framing-chunks': [
    ours,
    partialPacket(18, seipdBody(literal('hello '.repeat(200)), key), [9, 9]),
  ],
  'framing-tiny-chunks': [ours, partialPacket(18, body, octetChunks)],
  'framing-recipient-chunks': [partialPacket(1, seeded('x', 600), [9]), box],
  'zero-point': [packet(1, zeroPoint), box],
})
