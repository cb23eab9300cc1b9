/** Vectors of containers and framing: SECURITY P13 to P20. */
import { longPacket, oldPacket, packet, partialPacket } from '../../support/openpgp-framing.ts'
import { compressed, literal, signedLiteral } from '../../support/openpgp-inner.ts'
import { concat, seeded, u16 } from '../../support/openpgp-bytes.ts'
import { NOW_MS, alice, bot } from '../../support/openpgp-people.ts'
import {
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
import type { MessageCase } from './case.ts'

const key = sessionKey('vectors')
const body = seipdBody(literal('hello'), key)
const box = packet(18, body)
const ours = pkesk(bot.subkey, key)
const opens = { outcome: 'opened', text: 'hello' } as const
const undecryptable = { outcome: 'damaged', reason: 'decryption' } as const
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

type Row = [
  name: string,
  about: string,
  covers: string,
  packets: Uint8Array[],
  rest: Pick<MessageCase, 'outcome' | 'reason' | 'text' | 'reader' | 'signatures'>,
]

const ROWS: Row[] = [
  [
    'p13-unprotected',
    'Encrypted data without integrity protection.',
    'SECURITY P13; EFAIL',
    [ours, sed(literal('hello'), key)],
    { outcome: 'damaged', reason: 'structure' },
  ],
  [
    'p13-downgraded',
    'A protected container, relabelled as an unprotected one.',
    'SECURITY P13; EFAIL',
    [ours, packet(9, body.subarray(1))],
    { outcome: 'damaged', reason: 'structure' },
  ],
  [
    'p14-bit-flipped',
    'One bit of the text was flipped.',
    'SECURITY P14',
    [ours, flipped(25)],
    undecryptable,
  ],
  [
    'p14-prefix-flipped',
    'One bit of the random prefix was flipped.',
    'SECURITY P14',
    [ours, flipped(3)],
    undecryptable,
  ],
  [
    'p14-hash-flipped',
    'One bit of the hash at the end was flipped.',
    'SECURITY P14',
    [ours, flipped(body.length - 1)],
    undecryptable,
  ],
  [
    'p14-truncated',
    'The last octet of the encrypted data is missing; the packet says so too.',
    'SECURITY P14',
    [ours, packet(18, body.subarray(0, -1))],
    undecryptable,
  ],
  [
    'p14-no-hash',
    'There is no hash packet.',
    'SECURITY P14; EFAIL',
    [ours, seipd(literal('hello'), key, { without: true })],
    undecryptable,
  ],
  [
    'p14-hash-header',
    'The hash holds, but its packet has another header.',
    'SECURITY P14',
    [ours, seipd(literal('hello'), key, { header: 'd313' })],
    undecryptable,
  ],
  [
    'p14-session-key',
    'The session key is damaged.',
    'SECURITY P14',
    [concat(ours.subarray(0, -1), 0), box],
    undecryptable,
  ],
  [
    'p15-version-7',
    'A container of version 7.',
    'SECURITY P15',
    [ours, packet(18, concat(7, seeded('x', 80)))],
    { outcome: 'damaged', reason: 'container-version' },
  ],
  [
    'p15-aead-draft',
    'The AEAD packet of a draft that became no standard.',
    'SECURITY P15',
    [ours, packet(20, concat(1, 9, 2, 16, seeded('x', 80)))],
    { outcome: 'damaged', reason: 'structure' },
  ],
  [
    'p16-version-2',
    'A version 2 container (AES-256-GCM) sealed to a version 4 key, and signed.',
    'SECURITY P16; RFC 9580, 5.13.2',
    [pkesk6(bot.subkey, key), seipd2(signed, key)],
    { ...opens, signatures: ['valid'] },
  ],
  [
    'p18-two-containers',
    'Two containers after one recipient packet.',
    'SECURITY P18',
    [ours, box, box],
    { outcome: 'damaged', reason: 'trailing-data' },
  ],
  [
    'p18-recipient-after',
    'A recipient packet after the container.',
    'SECURITY P18',
    [ours, box, ours],
    { outcome: 'damaged', reason: 'trailing-data' },
  ],
  [
    'p18-zero-octet',
    'A zero octet after the container.',
    'SECURITY P18',
    [ours, box, Buffer.alloc(1)],
    { outcome: 'damaged', reason: 'header' },
  ],
  [
    'p18-literal-after',
    'Readable words after the container.',
    'SECURITY P18, 5.4; openpgpjs 108',
    [ours, box, literal('world')],
    { outcome: 'damaged', reason: 'trailing-data' },
  ],
  [
    'p19-signed-only',
    'Signed, and not encrypted.',
    'SECURITY P19',
    [signed],
    { outcome: 'not-encrypted', reason: 'structure' },
  ],
  [
    'p19-literal-only',
    'Neither signed nor encrypted.',
    'SECURITY P19',
    [literal('hello')],
    { outcome: 'not-encrypted', reason: 'structure' },
  ],
  [
    'p20-compressed-bomb',
    '64 MiB of zeros, compressed and not encrypted.',
    'SECURITY P20',
    [compressed(literal(Buffer.alloc(1 << 26)), 2)],
    { outcome: 'not-encrypted', reason: 'structure' },
  ],
  [
    'not-for-us',
    'Sealed to others.',
    'RFC 9580, 5.1',
    [strangers(2), box],
    { outcome: 'not-recipient' },
  ],
  [
    'framing-old',
    'Headers in the old format.',
    'RFC 9580, 4.2.2',
    [oldPacket(1, pkeskBody(bot.subkey, key, 'pkesk'), 2), box],
    opens,
  ],
  [
    'framing-long',
    'Lengths in five bytes.',
    'RFC 9580, 4.2.1.3',
    [longPacket(1, pkeskBody(bot.subkey, key, 'pkesk')), longPacket(18, body)],
    opens,
  ],
  [
    'framing-chunks',
    'The container in partial chunks.',
    'RFC 9580, 4.2.1.4',
    [ours, partialPacket(18, seipdBody(literal('hello '.repeat(200)), key), [9, 9])],
    { outcome: 'opened', text: 'hello '.repeat(200) },
  ],
  [
    'framing-tiny-chunks',
    'The container in chunks of one octet.',
    'SECURITY D4; RFC 9580, 4.2.1.4',
    [
      ours,
      partialPacket(
        18,
        body,
        Array.from({ length: body.length - 1 }, () => 0),
      ),
    ],
    { outcome: 'damaged', reason: 'partial-length' },
  ],
  [
    'framing-recipient-chunks',
    'A recipient packet in partial chunks.',
    'RFC 9580, 4.2.1.4',
    [partialPacket(1, seeded('x', 600), [9]), box],
    { outcome: 'damaged', reason: 'partial-tag' },
  ],
  [
    'zero-point',
    'The ephemeral key is the point of order one, so that anybody knows the shared secret.',
    'SECURITY 5.4, CVE-2019-9155',
    [packet(1, zeroPoint), box],
    undecryptable,
  ],
]

export const CONTAINERS: MessageCase[] = ROWS.map(([name, about, covers, packets, rest]) => ({
  name,
  about,
  covers,
  body: concat(...packets),
  ...rest,
}))
