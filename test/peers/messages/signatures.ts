/** Who signed a message, and where the signatures are. */
import { concat } from '../../support/openpgp-bytes.ts'
import { hashedForm, literal, signedLiteral } from '../../support/openpgp-inner.ts'
import { ed25519 } from '../../support/openpgp-key.ts'
import { TYPE, onePass, signature } from '../../support/openpgp-signature.ts'
import { MADE_MS, WORDS, WORDS_MS } from '../shape.ts'
import { type Entry, inside, signing } from './parts.ts'

const other = ed25519('peers another', MADE_MS)
const otherSigning = { signer: other, atMs: WORDS_MS }
export const document = Buffer.from(WORDS)
const TRAILING = 'The words of the shape,  \nin two lines'
export const signatures: Entry[] = [
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
  ['signature in text mode over trailing blanks', inside(aroundText(TRAILING)), TRAILING],
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
