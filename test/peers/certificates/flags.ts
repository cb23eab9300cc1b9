/** Which flags the keys have, and by which signature. */
import { concat } from '../../support/openpgp-bytes.ts'
import {
  boundSubkey,
  directKey,
  keyOver,
  subkeyPacket,
  userId,
} from '../../support/openpgp-certificate.ts'
import { TYPE, keyFlags, signature, subpacket } from '../../support/openpgp-signature.ts'
import { MADE_MS, NAME, primary, subkey } from '../shape.ts'
import { type Entry, id, key, keyed, named } from './parts.ts'

const FLAGS: [string, number][] = [
  ['certify', 1],
  ['certify and sign', 3],
  ['sign', 2],
  ['everything but encryption', 0x23],
  ['certify, sign and encrypt', 0x0f],
  ['none', 0],
]
export const flags: Entry[] = [
  ...FLAGS.map(([name, bits]): Entry => [
    `flags of the user id: ${name}`,
    keyed(userId(primary, NAME, { flags: bits })),
  ]),
  ...FLAGS.map(([name, bits]): Entry => [
    `flags of the direct-key signature alone: ${name}`,
    keyed(directKey(primary, { flags: bits }), named(NAME, { hashed: [] })),
  ]),
  ['no flags anywhere on the primary key', keyed(named(NAME, { hashed: [] }))],
  ['flags of two bytes', keyed(userId(primary, NAME, { hashed: [subpacket(27, concat(3, 0))] }))],
  ['flags twice', keyed(userId(primary, NAME, { hashed: [keyFlags(3)] }))],
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
