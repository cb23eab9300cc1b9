/** Names of any bytes, and packets between them in any form. */
import { concat, seeded, u32 } from '../../support/openpgp-bytes.ts'
import { directKey, keyOver } from '../../support/openpgp-certificate.ts'
import { longPacket, oldPacket, packet } from '../../support/openpgp-framing.ts'
import { TYPE, keyFlags, signature } from '../../support/openpgp-signature.ts'
import { MADE_MS, NAME, primary } from '../shape.ts'
import { type Entry, behind, binding, id, key, keyed, named } from './parts.ts'

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
  ).map(([name, bytes]): Entry => [`name ${name}`, keyed(named(bytes))]),
  ['a picture beside the name', keyed(id, attribute(true))],
  ['a picture that nobody signed', keyed(id, attribute(false))],
  ['a picture alone', keyed(attribute(true))],
  ['no user id, a direct-key signature', keyed(directKey(primary))],
  ['a user id that nobody signed', keyed(packet(13, Buffer.from(NAME)))],
  ['a user id that nobody signed beside a signed one', keyed(packet(13, Buffer.from('x')), id)],
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
  [`${name} behind the key`, keyed(bytes, id)],
  [`${name} behind the user id`, keyed(id, bytes)],
  [`${name} at the end`, behind(bytes)],
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
