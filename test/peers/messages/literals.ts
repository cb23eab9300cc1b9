/** Literal packets, and what is compressed. */
import { concat, seeded } from '../../support/openpgp-bytes.ts'
import { oldPacket, packet } from '../../support/openpgp-framing.ts'
import { compressed, literal, signedLiteral } from '../../support/openpgp-inner.ts'
import { onePass, signature } from '../../support/openpgp-signature.ts'
import { WORDS, WORDS_MS } from '../shape.ts'
import { type Entry, inside, signing, usually } from './parts.ts'
import { compressedBody } from './lengths.ts'

const FORMATS = ['b', 't', 'u', 'm', 'l', '1', 'x']
export const literals: Entry[] = [
  ...FORMATS.map((format): Entry => [
    `literal of format ${format}`,
    inside(signedLiteral(WORDS, signing, { format })),
  ]),
  ...(
    [
      ['_CONSOLE', '_CONSOLE'],
      ['of a file', 'words.txt'],
      ['of 255 bytes', 'n'.repeat(255)],
      ['in UTF-8', 'wörter.txt'],
    ] as const
  ).map(([name, text]): Entry => [
    `literal with a name ${name}`,
    inside(signedLiteral(WORDS, signing, { name: Buffer.from(text) })),
  ]),
  ['literal with a date', inside(signedLiteral(WORDS, signing, { atMs: WORDS_MS }))],
  [
    'literal with a date far ahead',
    inside(signedLiteral(WORDS, signing, { atMs: Date.UTC(2100, 0, 1) })),
  ],
]

export const compressions: Entry[] = [
  ...([0, 1, 2] as const).flatMap((algorithm): Entry[] => [
    [`compressed by ${algorithm}`, inside(compressed(usually, algorithm))],
    [
      `signature around what is compressed by ${algorithm}`,
      inside(
        concat(
          onePass(signing),
          compressed(literal(WORDS), algorithm),
          signature({ ...signing, over: Buffer.from(WORDS) }),
        ),
      ),
    ],
    [
      `compressed by ${algorithm}, in a packet of the old format`,
      inside(oldPacket(8, compressedBody(algorithm), 4)),
    ],
  ]),
  ...[2, 3, 4, 8, 16].map((depth): Entry => [
    `compressed ${depth} times`,
    inside(nested(usually, depth)),
  ]),
  ['compressed, with padding behind the stream', inside(concatStream(1))],
]

function nested(inner: Buffer, depth: number): Buffer {
  return depth === 0 ? inner : compressed(nested(inner, depth - 1), 1)
}

function concatStream(algorithm: 1 | 2): Buffer {
  return packet(8, concat(compressedBody(algorithm), seeded('behind', 30)))
}
