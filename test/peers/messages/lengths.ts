/** How the lengths of packets are written. */
import { concat } from '../../support/openpgp-bytes.ts'
import { longPacket, oldPacket, partialPacket } from '../../support/openpgp-framing.ts'
import { compressed } from '../../support/openpgp-inner.ts'
import { onePass, signature } from '../../support/openpgp-signature.ts'
import { seipdBody } from '../../support/openpgp-sealed.ts'
import { KEY } from '../shape.ts'
import { LONG, PARTS, inside, long, longInner, recipient, signing, usually } from './parts.ts'
import type { Entry } from './parts.ts'

const longContainer = seipdBody(longInner, KEY)
const framed = (frame: (tag: number, body: Buffer) => Buffer): Buffer =>
  concat(recipient, frame(18, longContainer))

export const lengths: Entry[] = [
  ['container with a length of five bytes', framed(longPacket), LONG],
  ...PARTS.map(([name, powers]): Entry => [
    `container in parts: ${name}`,
    framed((tag, body) => partialPacket(tag, body, powers)),
    LONG,
  ]),
  [
    'literal of the old format, two bytes',
    inside(aroundLiteral((body) => oldPacket(11, body, 2))),
    LONG,
  ],
  [
    'literal of the old format, four bytes',
    inside(aroundLiteral((body) => oldPacket(11, body, 4))),
    LONG,
  ],
  [
    'literal with a length of five bytes',
    inside(aroundLiteral((body) => longPacket(11, body))),
    LONG,
  ],
  ...PARTS.map(([name, powers]): Entry => [
    `literal in parts: ${name}`,
    inside(aroundLiteral((body) => partialPacket(11, body, powers))),
    LONG,
  ]),
  ['literal of indeterminate length, unsigned', inside(oldPacket(11, literalBody(), 0)), LONG],
  ['compressed of indeterminate length', inside(oldPacket(8, compressedBody(1), 0))],
  ...PARTS.map(([name, powers]): Entry => [
    `compressed in parts: ${name}`,
    inside(partialPacket(8, compressedBody(0, longInner), powers)),
    LONG,
  ]),
]

function literalBody(document: Buffer = long): Buffer {
  return concat(Buffer.from('u'), 0, '00000000', document)
}

export function compressedBody(algorithm: 0 | 1 | 2, inner: Buffer = usually): Buffer {
  const whole = compressed(inner, algorithm)
  return whole.subarray((whole[1] ?? 0) < 192 ? 2 : (whole[1] ?? 0) < 224 ? 3 : 6)
}

/** The words of a long message with another literal packet. */
function aroundLiteral(frame: (body: Buffer) => Buffer): Buffer {
  return concat(onePass(signing), frame(literalBody()), signature({ ...signing, over: long }))
}
