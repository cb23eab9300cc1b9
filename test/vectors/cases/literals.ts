/** Vectors of what stands inside: SECURITY P38 to P45. */
import { oldPacket, packet } from '../../support/openpgp-framing.ts'
import { compressed, literal, signedLiteral } from '../../support/openpgp-inner.ts'
import { concat, seeded } from '../../support/openpgp-bytes.ts'
import { NOW_MS, alice, bot } from '../../support/openpgp-people.ts'
import { pkesk, seipd, sessionKey } from '../../support/openpgp-sealed.ts'
import { onePass, signature } from '../../support/openpgp-signature.ts'
import type { MessageCase } from './case.ts'

const key = sessionKey('vectors')
const by = { signer: alice.primary, atMs: NOW_MS }
const hello = literal('hello')
const signed = signedLiteral('hello', by)
const opening = onePass(by)
const closing = signature({ ...by, over: Buffer.from('hello') })
const opens = { outcome: 'opened', text: 'hello' } as const
const valid = { ...opens, signatures: ['valid'] } as const
const broken = (reason: string): { outcome: 'damaged'; reason: string } => ({
  outcome: 'damaged',
  reason,
})
type Row = [
  name: string,
  about: string,
  covers: string,
  packets: Uint8Array[],
  rest: Pick<MessageCase, 'outcome' | 'reason' | 'text'> & { signatures?: readonly 'valid'[] },
]

const ROWS: Row[] = [
  [
    'p38-signature-first',
    'Signature, then text, as old programs wrote it.',
    'SECURITY P38',
    [closing, hello],
    valid,
  ],
  [
    'p39-signed-around-compressed',
    'A signature around compressed data counts as none.',
    'SECURITY P39; ePrint 2024/918',
    [opening, compressed(hello, 2), closing],
    opens,
  ],
  [
    'p39-signed-twice',
    'Signed inside the compression and around it: neither counts.',
    'SECURITY P39; ePrint 2024/918',
    [opening, compressed(signed, 2), closing],
    opens,
  ],
  [
    'p40-format-b',
    'A binary literal.',
    'SECURITY P40',
    [literal('grüße', { format: 'b' })],
    { outcome: 'opened', text: 'grüße' },
  ],
  [
    'p40-format-t',
    'A text literal.',
    'SECURITY P40',
    [literal('grüße', { format: 't' })],
    { outcome: 'opened', text: 'grüße' },
  ],
  [
    'p40-format-z',
    'A literal of a format that is none.',
    'SECURITY P40',
    [literal('hello', { format: 'z' })],
    broken('literal'),
  ],
  [
    'p41-not-utf8',
    'Bytes that are no UTF-8.',
    'SECURITY P41',
    [literal(concat('c328'))],
    broken('encoding'),
  ],
  [
    'p41-surrogate',
    'A surrogate, as some programs write it.',
    'SECURITY P41',
    [literal(concat('eda080'))],
    broken('encoding'),
  ],
  [
    'p41-utf16',
    'UTF-16 with its mark.',
    'SECURITY P41',
    [literal(concat('fffe', Buffer.from('hello', 'utf16le')))],
    broken('encoding'),
  ],
  [
    'p41-byte-order-mark',
    'A byte-order mark is kept.',
    'SECURITY P41',
    [literal('\ufeffhello')],
    { outcome: 'opened', text: '\ufeffhello' },
  ],
  [
    'p42-controls',
    'CRLF, lone CR, NUL, ESC and a bidi override come out as they are; the reader shapes them.',
    'SECURITY P42',
    [literal('a\r\nb\rc\0d\u001be\u202ef')],
    { outcome: 'opened', text: 'a\r\nb\rc\0d\u001be\u202ef' },
  ],
  ['p43-empty', 'An empty text.', 'SECURITY P43', [literal('')], { outcome: 'opened', text: '' }],
  [
    'p44-file-name',
    'A file name that is a path.',
    'SECURITY P44',
    [literal('hello', { name: Buffer.from('../../etc/passwd') })],
    opens,
  ],
  [
    'p44-file-name-long',
    'A file name of 255 bytes that are no text.',
    'SECURITY P44',
    [literal('hello', { name: Buffer.alloc(255, 0xff) })],
    opens,
  ],
  [
    'literal-indeterminate',
    'A text of indeterminate length.',
    'RFC 9580, 4.2.2',
    [oldPacket(11, hello.subarray(2), 0)],
    opens,
  ],
  [
    'literal-cut-short',
    'A text shorter than its packet says.',
    'RFC 9580, 4.2',
    [hello.subarray(0, -1)],
    broken('length'),
  ],
  [
    'inner-critical-tag',
    'A packet inside that may not be passed over.',
    'RFC 9580, 4.3',
    [packet(30, seeded('x', 9)), hello],
    broken('structure'),
  ],
  [
    'unicode',
    'Characters of one to four bytes.',
    'RFC 9580, 5.9',
    [literal('a ü 世 🌍 e\u0301')],
    { outcome: 'opened', text: 'a ü 世 🌍 e\u0301' },
  ],
]

export const LITERALS: MessageCase[] = ROWS.map(([name, about, covers, packets, rest]) => ({
  name,
  about,
  covers,
  body: concat(pkesk(bot.subkey, key), seipd(concat(...packets), key)),
  ...rest,
  signatures: [...(rest.signatures ?? [])],
})).map((one) => (one.signatures.length === 0 ? without(one) : one))

function without(one: MessageCase): MessageCase {
  const { signatures, ...rest } = one
  return signatures === undefined || signatures.length === 0 ? rest : one
}
