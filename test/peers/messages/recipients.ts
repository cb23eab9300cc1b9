/** Who a message is sealed to, and by which cipher. */
import { concat, seeded } from '../../support/openpgp-bytes.ts'
import { longPacket, oldPacket, packet } from '../../support/openpgp-framing.ts'
import {
  type SessionKey,
  anonymousPkesk,
  pkesk,
  pkesk6,
  pkeskBody,
  seipd,
  sessionKey,
  strangerPkesk,
} from '../../support/openpgp-sealed.ts'
import { KEY, reader } from '../shape.ts'
import { type Entry, recipient, usually } from './parts.ts'

const strangers = (count: number): Buffer[] =>
  Array.from({ length: count }, (_, n) => strangerPkesk(`peers ${n}`))
const hidden = (count: number): Buffer[] =>
  Array.from({ length: count }, (_, n) => strangerPkesk(`peers hidden ${n}`, '00'.repeat(8)))

export const recipients: Entry[] = [
  ...[0, 1, 5, 30, 100, 300].map((count): Entry => [
    `${count} other recipients before the reader`,
    concat(...strangers(count), recipient, seipd(usually, KEY)),
  ]),
  ['an other recipient behind the reader', concat(recipient, ...strangers(1), seipd(usually, KEY))],
  ...[0, 1, 2, 5, 6, 8, 20].map((count): Entry => [
    `hidden, behind ${count} other hidden recipients`,
    concat(...hidden(count), anonymousPkesk(reader.subkey, KEY), seipd(usually, KEY)),
  ]),
  ['named, behind 20 hidden recipients', concat(...hidden(20), recipient, seipd(usually, KEY))],
  ['the reader twice', concat(recipient, pkesk(reader.subkey, KEY, 'again'), seipd(usually, KEY))],
  [
    'a recipient packet of another version before',
    concat(pkesk6(reader.subkey, KEY), recipient, seipd(usually, KEY)),
  ],
  [
    'a recipient packet of an unknown version before',
    concat(packet(1, concat(9, seeded('unknown', 60))), recipient, seipd(usually, KEY)),
  ],
  [
    'a recipient packet of an unknown algorithm before',
    concat(
      packet(1, concat(3, seeded('id', 8), 99, seeded('unknown', 60))),
      recipient,
      seipd(usually, KEY),
    ),
  ],
  [
    'a passphrase beside the reader',
    concat(recipient, packet(3, concat(4, 9, 3, 8, seeded('salt', 8), 96)), seipd(usually, KEY)),
  ],
  [
    'a passphrase before the reader',
    concat(packet(3, concat(4, 9, 3, 8, seeded('salt', 8), 96)), recipient, seipd(usually, KEY)),
  ],
  [
    'recipient packet of the old format',
    concat(oldPacket(1, pkeskBody(reader.subkey, KEY, 'old'), 1), seipd(usually, KEY)),
  ],
  [
    'recipient packet with a length of five bytes',
    concat(longPacket(1, pkeskBody(reader.subkey, KEY, 'old')), seipd(usually, KEY)),
  ],
]

const CIPHERS: SessionKey['cipher'][] = [2, 7, 8, 9, 11, 12, 13]
export const ciphers: Entry[] = CIPHERS.flatMap((cipher): Entry[] => {
  const key = sessionKey('peers cipher', cipher)
  const padded = packet(1, pkeskBody(reader.subkey, key, 'padded', { bytes: 40 }))
  return [
    [`cipher ${cipher}`, concat(pkesk(reader.subkey, key), seipd(usually, key))],
    [`cipher ${cipher}, padded as by GnuPG`, concat(padded, seipd(usually, key))],
  ]
})
