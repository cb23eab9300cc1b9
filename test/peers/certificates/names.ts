/** Names of any bytes, and packets between them in any form. */
import { concat, seeded, u32 } from '../../support/openpgp-bytes.ts'
import { directKey, keyOver } from '../../support/openpgp-certificate.ts'
import { longPacket, oldPacket, packet } from '../../support/openpgp-framing.ts'
import { TYPE, keyFlags, preferredCiphers, signature } from '../../support/openpgp-signature.ts'
import { MADE_MS, NAME, primary } from '../shape.ts'
import { type Entry, binding, id, key } from './parts.ts'

const namePacket = (bytes: Uint8Array): Buffer => {
  const over = concat(keyOver(primary), 0xb4, u32(bytes.length), bytes)
  const hashed = [keyFlags(3), preferredCiphers(9, 8, 7)]
  const type = TYPE.certification
  return concat(
    packet(13, bytes),
    signature({ signer: primary, over, type, atMs: MADE_MS, hashed }),
  )
}
const attribute = (isSigned: boolean): Buffer => {
  const body = concat(20, 1, seeded('jpeg', 18))
  const over = concat(keyOver(primary), 0xd1, u32(body.length), body)
  const type = TYPE.certification
  const self = signature({ signer: primary, over, type, atMs: MADE_MS, hashed: [keyFlags(3)] })
  return concat(packet(17, body), ...(isSigned ? [self] : []))
}
export const names: Entry[] = [
  ...(
    [
      ['empty', Buffer.alloc(0)],
      ['in Latin-1', Buffer.from('J\xf6rg <joerg@example.org>', 'latin1')],
      ['in UTF-8', Buffer.from('Jörg 🌍 <joerg@example.org>')],
      ['with a zero byte', Buffer.from('Writer\0 <writer@example.org>')],
      ['with a line end', Buffer.from('Writer\nSecond line')],
      ['without an address', Buffer.from('Writer')],
      ['an address alone', Buffer.from('writer@example.org')],
      ['a web address', Buffer.from('https://example.org/~writer')],
      ['of bytes that are no text', seeded('name', 40)],
      ...[191, 192, 255, 256, 1024, 2048, 4096].map((length): [string, Buffer] => [
        `of ${length} bytes`,
        Buffer.alloc(length, 'w'),
      ]),
    ] as [string, Buffer][]
  ).map(([name, bytes]): Entry => [`name ${name}`, concat(key, namePacket(bytes), binding)]),
  ['a picture beside the name', concat(key, id, attribute(true), binding)],
  ['a picture that nobody signed', concat(key, id, attribute(false), binding)],
  ['a picture alone', concat(key, attribute(true), binding)],
  ['no user id, a direct-key signature', concat(key, directKey(primary), binding)],
  ['a user id that nobody signed', concat(key, packet(13, Buffer.from(NAME)), binding)],
  [
    'a user id that nobody signed beside a signed one',
    concat(key, packet(13, Buffer.from('x')), id, binding),
  ],
]

const ODD: [string, Buffer][] = [
  ['a marker', packet(10, Buffer.from('PGP'))],
  ['padding', packet(21, seeded('padding', 40))],
  ['a trust packet', packet(12, concat(1, 2))],
  ['a private packet', packet(60, seeded('private', 20))],
  ['an unknown packet that may be skipped', packet(45, seeded('unknown', 20))],
]
export const odd: Entry[] = ODD.flatMap(([name, bytes]): Entry[] => [
  [`${name} before the key`, concat(bytes, key, id, binding)],
  [`${name} behind the key`, concat(key, bytes, id, binding)],
  [`${name} behind the user id`, concat(key, id, bytes, binding)],
  [`${name} at the end`, concat(key, id, binding, bytes)],
])

const reframed = (frame: (tag: number, body: Buffer) => Buffer): Buffer => {
  const parts: Buffer[] = []
  const whole = concat(key, id, binding)
  for (let at = 0; at < whole.length;) {
    const first = whole[at + 1] ?? 0
    const [head, length] =
      first < 192 ? [2, first] : [3, ((first - 192) << 8) + (whole[at + 2] ?? 0) + 192]
    parts.push(frame((whole[at] ?? 0) & 0x3f, whole.subarray(at + head, at + head + length)))
    at += head + length
  }
  return concat(...parts)
}
export const framings: Entry[] = [
  ['headers of the old format, two bytes', reframed((tag, body) => oldPacket(tag, body, 2))],
  ['headers of the old format, four bytes', reframed((tag, body) => oldPacket(tag, body, 4))],
  ['lengths of five bytes', reframed(longPacket)],
]
