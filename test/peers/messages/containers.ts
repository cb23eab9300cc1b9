/** Packets between the others, and containers of other forms. */
import { concat, seeded } from '../../support/openpgp-bytes.ts'
import { packet } from '../../support/openpgp-framing.ts'
import { literal, signedLiteral } from '../../support/openpgp-inner.ts'
import { onePass, signature } from '../../support/openpgp-signature.ts'
import { pkesk6, sed, seipd, seipd2 } from '../../support/openpgp-sealed.ts'
import { KEY, WORDS, reader } from '../shape.ts'
import { type Entry, LONG, inside, longInner, recipient, signing, usually } from './parts.ts'
import { document } from './signatures.ts'

const ODD: [string, Buffer][] = [
  ['a marker', packet(10, Buffer.from('PGP'))],
  ['padding', packet(21, seeded('padding', 40))],
  ['a private packet', packet(60, seeded('private', 20))],
  ['an unknown packet that may be skipped', packet(45, seeded('unknown', 20))],
  ['an unknown packet that may not be skipped', packet(30, seeded('unknown', 20))],
  ['a trust packet', packet(12, concat(1, 2))],
]
const [opening, closing] = [onePass(signing), signature({ ...signing, over: document })]
export const odd: Entry[] = ODD.flatMap(([name, bytes]): Entry[] => [
  [`${name} before the recipients`, concat(bytes, recipient, seipd(usually, KEY))],
  [`${name} between recipients and container`, concat(recipient, bytes, seipd(usually, KEY))],
  [`${name} behind the container`, concat(recipient, seipd(usually, KEY), bytes)],
  [`${name} inside, first`, inside(concat(bytes, usually))],
  [`${name} inside, before the words`, inside(concat(opening, bytes, literal(WORDS), closing))],
  [`${name} inside, behind the words`, inside(concat(opening, literal(WORDS), bytes, closing))],
  [`${name} inside, last`, inside(concat(usually, bytes))],
])

export const containers: Entry[] = [
  ['no integrity protection', concat(recipient, sed(usually, KEY))],
  ['integrity packet left out', concat(recipient, seipd(usually, KEY, { without: true }))],
  ['integrity packet wrong', concat(recipient, seipd(usually, KEY, { hash: seeded('wrong', 20) }))],
  [
    'container of version 2 for a certificate of version 4',
    concat(pkesk6(reader.subkey, KEY), seipd2(usually, KEY)),
  ],
  [
    'container of version 2 behind a recipient packet of version 3',
    concat(recipient, seipd2(usually, KEY)),
  ],
  [
    'two messages, one behind the other',
    concat(recipient, seipd(usually, KEY), recipient, seipd(usually, KEY)),
  ],
  ['two literals', inside(concat(literal(WORDS), literal('more'))), `${WORDS}more`],
  ['no container', recipient],
  ['cut in the container', concat(recipient, seipd(usually, KEY)).subarray(0, -8)],
  ['bytes behind the container', concat(recipient, seipd(usually, KEY), Buffer.from('\n\n'))],
  ['empty words', inside(signedLiteral('', signing)), ''],
  ['long words', inside(longInner), LONG],
]
