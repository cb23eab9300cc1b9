/** Armor of many shapes: around the usual message, and around the usual certificate. */
import { armor, crc24 } from '../support/openpgp-framing.ts'
import { concat } from '../support/openpgp-bytes.ts'
import { primary, signedBy, usual, type Shape } from './shape.ts'

type Write = (body: Buffer, type: string) => Buffer | string

const edited =
  (edit: (armored: string) => string): Write =>
  (body, type) =>
    edit(armor(body, { type }))
const headed =
  (...headers: string[]): Write =>
  (body, type) =>
    armor(body, { type, headers })

const ARMORS: [string, Write][] = [
  ['binary', (body) => body],
  ['usual', headed()],
  ['with CRLF', (body, type) => armor(body, { type, endOfLine: '\r\n' })],
  ['with CR alone', (body, type) => armor(body, { type, endOfLine: '\r' })],
  ['without a checksum', (body, type) => armor(body, { type, checksum: false })],
  ['with a wrong checksum', edited((text) => text.replace(/^=....$/m, '=AAAA'))],
  ['with a checksum that is no base64', edited((text) => text.replace(/^=....$/m, '=!!!!'))],
  ['with the checksum on the last line', edited((text) => text.replace(/\n(=....\n)/, '$1'))],
  ...[4, 40, 60, 72, 76, 80, 128, 5000].map((lineChars): [string, Write] => [
    `in lines of ${lineChars} characters`,
    (body, type) => armor(body, { type, lineChars }),
  ]),
  ['with a Version header', headed('Version: 1')],
  ['with a Comment header', headed('Comment: words')],
  ['with a Hash header', headed('Hash: SHA512')],
  ['with a Charset header', headed('Charset: UTF-8')],
  ['with a MessageID header', headed('MessageID: abcdefghijklmnopqrstuvwxyz012345')],
  ['with an unknown header', headed('Something: words')],
  ['with a header key of two words', headed('Two Words: words')],
  ['with a header key with a digit and a dash', headed('X-Key-2: words')],
  ['with an empty header', headed('Comment: ')],
  ['with an empty header without its blank', headed('Comment:')],
  ['with a header without its blank', headed('Comment:words')],
  ['with a header of UTF-8', headed('Comment: Wörter 🌍')],
  ['with a header with colons', headed('Comment: https://example.org: words')],
  ['with twenty headers', headed(...Array.from({ length: 20 }, (_, n) => `Comment: ${n}`))],
  ['with a header of 2,000 characters', headed(`Comment: ${'w'.repeat(2000)}`)],
  ['with a line that is no header', headed('words without a colon')],
  ['with blanks in the empty line', edited((text) => text.replace('\n\n', '\n \t\n'))],
  ['without the empty line', edited((text) => text.replace('\n\n', '\n'))],
  ['with two empty lines', edited((text) => text.replace('\n\n', '\n\n\n'))],
  ['with blanks behind the lines', edited((text) => text.replaceAll('\n', ' \n'))],
  ['with tabs behind the lines', edited((text) => text.replaceAll('\n', '\t\n'))],
  ['with blanks behind the head line', edited((text) => text.replace('-----\n', '-----  \n'))],
  ['with blanks before the lines', edited((text) => text.replaceAll(/^/gm, '  '))],
  ['quoted', edited((text) => text.replaceAll(/^/gm, '> '))],
  ['with an empty line in the middle', edited((text) => inMiddle(text, '\n'))],
  [
    'with a blank in the middle of a line',
    edited((text) => text.replace(/\n(\S{20})(\S{44})\n/, '\n$1 $2\n')),
  ],
  ['with words before', edited((text) => `Some words before.\n\n${text}`)],
  ['with words behind', edited((text) => `${text}\nSome words behind.\n`)],
  ['with empty lines before', edited((text) => `\n\n${text}`)],
  ['with empty lines behind', edited((text) => `${text}\n\n\n`)],
  ['with no line end behind', edited((text) => text.trimEnd())],
  ['with a byte order mark', edited((text) => `\ufeff${text}`)],
  ['with a blank before the head line', edited((text) => ` ${text}`)],
  ['with four dashes', edited((text) => text.replaceAll('-----', '----'))],
  ['with six dashes', edited((text) => text.replaceAll('-----', '------'))],
  ['without the tail line', edited((text) => text.replace(/-----END.*\n/, ''))],
  [
    'with another tail line',
    edited((text) => text.replace(/-----END PGP \w+/, '-----END PGP SIGNATURE')),
  ],
  ['in small letters', edited((text) => text.replace('BEGIN PGP', 'begin pgp'))],
  ['without its padding', edited((text) => text.replace(/=+(\n=)/, '$1'))],
  ['in base64 for addresses', edited((text) => text.replaceAll('+', '-').replaceAll('/', '_'))],
  ['with a character that is no base64', edited((text) => inMiddle(text, '!\n'))],
  ['twice', edited((text) => `${text}${text}`)],
  [
    'with a long tail of padding',
    (body, type) =>
      armor(body, { type }).replace(/\n=/, `\n=${crc24(concat(body, 0)).toString('base64')}\n=`),
  ],
]

/** Puts something behind the middle line. */
function inMiddle(text: string, more: string): string {
  const lines = text.split('\n')
  const at = Math.floor(lines.length / 2)
  return [...lines.slice(0, at), more + (lines[at] ?? ''), ...lines.slice(at + 1)].join('\n')
}

const message = signedBy(primary)
export const ARMORED: Shape[] = [
  ...ARMORS.map(([name, write]): Shape => ({
    group: 'armor',
    name: `message ${name}`,
    certificate: usual,
    message: write(message, 'MESSAGE'),
  })),
  ...ARMORS.map(([name, write]): Shape => ({
    group: 'armor',
    name: `certificate ${name}`,
    certificate: write(usual, 'PUBLIC KEY BLOCK'),
    message,
  })),
]
