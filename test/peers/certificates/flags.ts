/** Which flags the keys have, and by which signature. */
import { concat, u32 } from '../../support/openpgp-bytes.ts'
import {
  boundSubkey,
  directKey,
  keyOver,
  subkeyPacket,
  userId,
} from '../../support/openpgp-certificate.ts'
import { packet } from '../../support/openpgp-framing.ts'
import { TYPE, keyFlags, signature, subpacket } from '../../support/openpgp-signature.ts'
import { MADE_MS, NAME, primary, subkey } from '../shape.ts'
import { type Entry, binding, id, key } from './parts.ts'

const FLAGS: [string, number][] = [
  ['certify', 1],
  ['certify and sign', 3],
  ['sign', 2],
  ['everything but encryption', 0x23],
  ['certify, sign and encrypt', 0x0f],
  ['none', 0],
]
const flagless = (): Buffer => {
  const name = Buffer.from(NAME)
  const over = concat(keyOver(primary), 0xb4, u32(name.length), name)
  const type = TYPE.certification
  return concat(packet(13, name), signature({ signer: primary, over, type, atMs: MADE_MS }))
}
export const flags: Entry[] = [
  ...FLAGS.map(([name, bits]): Entry => [
    `flags of the user id: ${name}`,
    concat(key, userId(primary, NAME, { flags: bits }), binding),
  ]),
  ...FLAGS.map(([name, bits]): Entry => [
    `flags of the direct-key signature alone: ${name}`,
    concat(key, directKey(primary, { flags: bits }), flagless(), binding),
  ]),
  ['no flags anywhere on the primary key', concat(key, flagless(), binding)],
  [
    'flags of two bytes',
    concat(key, userId(primary, NAME, { hashed: [subpacket(27, concat(3, 0))] }), binding),
  ],
  ['flags twice', concat(key, userId(primary, NAME, { hashed: [keyFlags(3)] }), binding)],
  ...[0x04, 0x08, 0x0c, 0x1c, 0x1f, 0x20, 0x2c, 0x00].map((bits): Entry => [
    `flags of the subkey: 0x${bits.toString(16).padStart(2, '0')}`,
    concat(key, id, boundSubkey(primary, subkey, { flags: bits })),
  ]),
  ['no flags on the subkey', concat(key, id, subkeyPacket(subkey), bareBinding())],
]

function bareBinding(): Buffer {
  const over = concat(keyOver(primary), keyOver(subkey))
  return signature({ signer: primary, over, type: TYPE.subkeyBinding, atMs: MADE_MS })
}
