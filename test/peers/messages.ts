/** Messages of many shapes: the words are always the same, and signed, where nothing else is said. */
import { concat, seeded } from '../support/openpgp-bytes.ts'
import { longPacket, oldPacket, packet, partialPacket } from '../support/openpgp-framing.ts'
import { compressed, hashedForm, literal, signedLiteral } from '../support/openpgp-inner.ts'
import { ed25519 } from '../support/openpgp-key.ts'
import { TYPE, onePass, signature } from '../support/openpgp-signature.ts'
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
  type CipherId,
} from '../support/openpgp-sealed.ts'
import { KEY, MADE_MS, WORDS, WORDS_MS, primary, reader, toReader, usual } from './shape.ts'
import type { Shape } from './shape.ts'

type Entry = [name: string, message: Buffer]
const signing = { signer: primary, atMs: WORDS_MS }
const usually = signedLiteral(WORDS, signing)
const recipient = pkesk(reader.subkey, KEY)
const inside = (inner: Uint8Array): Buffer => toReader(inner)
const strangers = (count: number): Buffer[] =>
  Array.from({ length: count }, (_, n) => strangerPkesk(`peers ${n}`))
const hidden = (count: number): Buffer[] =>
  Array.from({ length: count }, (_, n) => strangerPkesk(`peers hidden ${n}`, '00'.repeat(8)))
const long = Buffer.from(`${WORDS}${' and more'.repeat(500)}`)

const recipients: Entry[] = [
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

const ciphers: Entry[] = ([2, 7, 8, 9] as CipherId[]).map((cipher): Entry => {
  const key = sessionKey('peers cipher', cipher)
  return [`cipher ${cipher}`, concat(pkesk(reader.subkey, key), seipd(usually, key))]
})

const longInner = signedLiteral(long, signing)
const longContainer = seipdBody(longInner, KEY)
const framed = (frame: (tag: number, body: Buffer) => Buffer): Buffer =>
  concat(recipient, frame(18, longContainer))
const PARTS: [string, number[]][] = [
  ['512', [9]],
  ['512, 512', [9, 9]],
  ['512, then 64', [9, 6]],
  ['512, then 1, 2, 4', [9, 0, 1, 2]],
  ['1024, then 256', [10, 8]],
  ['2048, 1024, 512', [11, 10, 9]],
  ['4096', [12]],
  ['256 first', [8, 9]],
  ['1 first', [0, 9]],
]
const lengths: Entry[] = [
  ['container with a length of five bytes', framed(longPacket)],
  ...PARTS.map(([name, powers]): Entry => [
    `container in parts: ${name}`,
    framed((tag, body) => partialPacket(tag, body, powers)),
  ]),
  ['literal of the old format, two bytes', inside(aroundLiteral((body) => oldPacket(11, body, 2)))],
  [
    'literal of the old format, four bytes',
    inside(aroundLiteral((body) => oldPacket(11, body, 4))),
  ],
  ['literal with a length of five bytes', inside(aroundLiteral((body) => longPacket(11, body)))],
  ...PARTS.map(([name, powers]): Entry => [
    `literal in parts: ${name}`,
    inside(aroundLiteral((body) => partialPacket(11, body, powers))),
  ]),
  ['literal of indeterminate length, unsigned', inside(oldPacket(11, literalBody(), 0))],
  ['compressed of indeterminate length', inside(oldPacket(8, compressedBody(1), 0))],
  ...PARTS.map(([name, powers]): Entry => [
    `compressed in parts: ${name}`,
    inside(partialPacket(8, compressedBody(0, longInner), powers)),
  ]),
]

function literalBody(document: Buffer = long): Buffer {
  return concat(Buffer.from('u'), 0, '00000000', document)
}

function compressedBody(algorithm: 0 | 1 | 2, inner: Buffer = usually): Buffer {
  const whole = compressed(inner, algorithm)
  return whole.subarray((whole[1] ?? 0) < 192 ? 2 : (whole[1] ?? 0) < 224 ? 3 : 6)
}

/** The words of a long message with another literal packet. */
function aroundLiteral(frame: (body: Buffer) => Buffer): Buffer {
  return concat(onePass(signing), frame(literalBody()), signature({ ...signing, over: long }))
}

const FORMATS = ['b', 't', 'u', 'm', 'l', '1', 'x']
const literals: Entry[] = [
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

const compressions: Entry[] = [
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

const other = ed25519('peers another', MADE_MS)
const otherSigning = { signer: other, atMs: WORDS_MS }
const document = Buffer.from(WORDS)
const signatures: Entry[] = [
  ['nobody signed', inside(literal(WORDS))],
  [
    'signature before the literal, without a one-pass packet',
    inside(concat(signature({ ...signing, over: document }), literal(WORDS))),
  ],
  [
    'signature behind, with a wrong one-pass packet',
    inside(
      concat(
        onePass({ ...signing, hash: 'sha512' }),
        literal(WORDS),
        signature({ ...signing, over: document }),
      ),
    ),
  ],
  ['one-pass packet alone', inside(concat(onePass(signing), literal(WORDS)))],
  [
    'signature behind alone',
    inside(concat(literal(WORDS), signature({ ...signing, over: document }))),
  ],
  ['two signers, ours last', inside(signedLiteral(WORDS, [otherSigning, signing]))],
  ['two signers, ours first', inside(signedLiteral(WORDS, [signing, otherSigning]))],
  [
    'five signers',
    inside(signedLiteral(WORDS, [otherSigning, otherSigning, signing, otherSigning, otherSigning])),
  ],
  [
    'the same signer twice',
    inside(signedLiteral(WORDS, [signing, { ...signing, atMs: WORDS_MS + 1000 }])),
  ],
  ['another signer alone', inside(signedLiteral(WORDS, otherSigning))],
  [
    'a wrong signature',
    inside(
      concat(
        onePass(signing),
        literal(WORDS),
        signature({ ...signing, over: Buffer.from('other words') }),
      ),
    ),
  ],
  [
    'a wrong signature beside a right one',
    inside(
      concat(
        onePass({ ...signing, last: false }),
        onePass(signing),
        literal(WORDS),
        signature({ ...signing, over: document }),
        signature({ ...signing, over: Buffer.from('other') }),
      ),
    ),
  ],
  ['signature in text mode', inside(signedLiteral(WORDS, { ...signing, type: TYPE.text }))],
  [
    'signature in text mode over line ends of CRLF',
    inside(signedLiteral(WORDS.replace('\n', '\r\n'), { ...signing, type: TYPE.text })),
  ],
  ['words with line ends of CRLF', inside(signedLiteral(WORDS.replace('\n', '\r\n'), signing))],
  [
    'signature in text mode over trailing blanks',
    inside(aroundText('The words of the shape,  \nin two lines')),
  ],
  [
    'every one-pass packet is marked as the last',
    inside(
      concat(
        onePass(signing),
        onePass(otherSigning),
        literal(WORDS),
        signature({ ...otherSigning, over: document }),
        signature({ ...signing, over: document }),
      ),
    ),
  ],
]

function aroundText(text: string): Buffer {
  const one = { ...signing, type: TYPE.text }
  const bytes = Buffer.from(text)
  return concat(onePass(one), literal(bytes), signature({ ...one, over: hashedForm(bytes, one) }))
}

const ODD: [string, Buffer][] = [
  ['a marker', packet(10, Buffer.from('PGP'))],
  ['padding', packet(21, seeded('padding', 40))],
  ['a private packet', packet(60, seeded('private', 20))],
  ['an unknown packet that may be skipped', packet(45, seeded('unknown', 20))],
  ['an unknown packet that may not be skipped', packet(30, seeded('unknown', 20))],
  ['a trust packet', packet(12, concat(1, 2))],
]
const [opening, closing] = [onePass(signing), signature({ ...signing, over: document })]
const odd: Entry[] = ODD.flatMap(([name, bytes]): Entry[] => [
  [`${name} before the recipients`, concat(bytes, recipient, seipd(usually, KEY))],
  [`${name} between recipients and container`, concat(recipient, bytes, seipd(usually, KEY))],
  [`${name} behind the container`, concat(recipient, seipd(usually, KEY), bytes)],
  [`${name} inside, first`, inside(concat(bytes, usually))],
  [`${name} inside, before the words`, inside(concat(opening, bytes, literal(WORDS), closing))],
  [`${name} inside, behind the words`, inside(concat(opening, literal(WORDS), bytes, closing))],
  [`${name} inside, last`, inside(concat(usually, bytes))],
])

const containers: Entry[] = [
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
  ['two literals', inside(concat(literal(WORDS), literal('more')))],
  ['no container', recipient],
  ['cut in the container', concat(recipient, seipd(usually, KEY)).subarray(0, -8)],
  ['bytes behind the container', concat(recipient, seipd(usually, KEY), Buffer.from('\n\n'))],
  ['empty words', inside(signedLiteral('', signing))],
  ['long words', inside(longInner)],
]

export const MESSAGES: Shape[] = [
  ...recipients,
  ...ciphers,
  ...lengths,
  ...literals,
  ...compressions,
  ...signatures,
  ...odd,
  ...containers,
].map(([name, message]) => ({ group: 'message', name, certificate: usual, message }))
