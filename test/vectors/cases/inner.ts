/** Vectors of what stands inside: SECURITY P21 to P26. */
import { BZIP2_BOMB, BZIP2_HELLO, BZIP2_NESTED, BZIP2_SIGNED } from '../../support/openpgp-bzip2.ts'
import { keyPacket, userId } from '../../support/openpgp-certificate.ts'
import { compressed, compressedOf, literal, signedLiteral } from '../../support/openpgp-inner.ts'
import { concat, seeded } from '../../support/openpgp-bytes.ts'
import { NOW_MS, alice, bot, mallory } from '../../support/openpgp-people.ts'
import { pkesk, seipd, sessionKey } from '../../support/openpgp-sealed.ts'
import { onePass, signature } from '../../support/openpgp-signature.ts'
import type { MessageCase } from './case.ts'

const key = sessionKey('vectors')
const inside = sessionKey('inside')
const by = { signer: alice.primary, atMs: NOW_MS }
const hello = literal('hello')
const signed = signedLiteral('hello', by)
const opening = onePass(by)
const closing = signature({ ...by, over: Buffer.from('hello') })
const deflated = compressed(hello, 1)
const opens = { outcome: 'opened', text: 'hello' } as const
const valid = { ...opens, signatures: ['valid'] } as const
const broken = (reason: string): { outcome: 'damaged'; reason: string } => ({
  outcome: 'damaged',
  reason,
})
const zeros = compressed(literal(Buffer.alloc(1 << 26)), 1)
const long = 'x'.repeat(90_000)

type Row = [
  name: string,
  about: string,
  covers: string,
  packets: Uint8Array[],
  rest: Pick<MessageCase, 'outcome' | 'reason' | 'text'> & { signatures?: readonly 'valid'[] },
]

const ROWS: Row[] = [
  [
    'p21-zip-bomb',
    '64 MiB of zeros in 65 KiB.',
    'SECURITY P21',
    [zeros],
    { outcome: 'too-large', reason: 'decompressed' },
  ],
  [
    'p21-bzip2-bomb',
    '300 MiB of zeros in 263 bytes.',
    'SECURITY P21',
    [compressedOf(3, BZIP2_BOMB)],
    { outcome: 'too-large', reason: 'decompressed' },
  ],
  [
    'p22-long-text',
    'A text of 90 000 bytes.',
    'SECURITY P22',
    [compressed(literal(long), 2)],
    { outcome: 'opened', text: long },
  ],
  [
    'p23-nested',
    'Compressed data inside compressed data.',
    'SECURITY P23',
    [compressed(deflated, 2)],
    broken('structure'),
  ],
  [
    'p23-nested-bzip2',
    'Compressed data inside bzip2.',
    'SECURITY P23',
    [compressedOf(3, BZIP2_NESTED)],
    broken('compression'),
  ],
  [
    'p23-empty',
    'Nothing, compressed.',
    'SECURITY P23',
    [compressed(Buffer.alloc(0), 1)],
    broken('structure'),
  ],
  [
    'p23-padded',
    'Bytes after the end of the compressed stream, as Sequoia pads.',
    'SECURITY P23',
    [compressedOf(1, concat(deflated.subarray(3), seeded('padding', 200)))],
    opens,
  ],
  [
    'p24-unknown-algorithm',
    'Compressed with algorithm 77.',
    'SECURITY P24',
    [compressedOf(77, deflated.subarray(3))],
    broken('compression'),
  ],
  [
    'p24-truncated',
    'The compressed stream breaks off.',
    'SECURITY P24',
    [compressedOf(1, deflated.subarray(3, -2))],
    broken('compression'),
  ],
  [
    'compressed-none',
    'Compressed data that is not.',
    'RFC 9580, 5.6',
    [compressed(signed, 0)],
    valid,
  ],
  [
    'compressed-zip',
    'Signed and compressed with zip.',
    'RFC 9580, 5.6',
    [compressed(signed, 1)],
    valid,
  ],
  [
    'compressed-zlib',
    'Signed and compressed with zlib.',
    'RFC 9580, 5.6',
    [compressed(signed, 2)],
    valid,
  ],
  [
    'compressed-bzip2',
    'Compressed with bzip2.',
    'RFC 9580, 5.6',
    [compressedOf(3, BZIP2_HELLO)],
    opens,
  ],
  [
    'compressed-bzip2-signed',
    'Signed and compressed with bzip2.',
    'RFC 9580, 5.6',
    [compressedOf(3, BZIP2_SIGNED)],
    valid,
  ],
  [
    'p25-encrypted-inside',
    'An encrypted message inside.',
    'SECURITY P25',
    [pkesk(bot.subkey, inside), seipd(hello, inside)],
    broken('structure'),
  ],
  [
    'p26-two-literals',
    'Two texts.',
    'SECURITY P26',
    [hello, literal('world')],
    broken('structure'),
  ],
  [
    'p26-literal-before',
    'A text before a signed one.',
    'SECURITY P26, 5.4; CVE-2025-47934',
    [literal('world'), signed],
    broken('structure'),
  ],
  [
    'p26-literal-after',
    'A text after a signed one.',
    'SECURITY P26, 5.4; CVE-2025-47934, openpgpjs 108',
    [signed, literal('world')],
    broken('structure'),
  ],
  [
    'p26-compressed-beside',
    'A compressed text beside a signed one.',
    'SECURITY P26; CVE-2025-47934',
    [signed, compressed(literal('world'), 2)],
    broken('structure'),
  ],
  [
    'p26-compressed-before',
    'A compressed text before a signed one.',
    'SECURITY P26, 5.4; CVE-2025-47934',
    [compressed(literal('world'), 2), signed],
    broken('structure'),
  ],
  [
    'p26-certificate-beside',
    'A certificate beside a signed text, to be learned in passing.',
    'SECURITY P26, 5.4; CVE-2022-39249; ePrint 2024/918',
    [signed, keyPacket(mallory.primary), userId(mallory.primary, 'alice')],
    broken('structure'),
  ],
  [
    'p26-compressed-after-literal',
    'A text, then a compressed one.',
    'SECURITY P26',
    [literal('world'), compressed(hello, 2)],
    broken('structure'),
  ],
  [
    'p26-no-signature',
    'A one-pass packet, and no signature.',
    'SECURITY P26',
    [opening, hello],
    broken('structure'),
  ],
  [
    'p26-no-one-pass',
    'A signature behind, and no one-pass packet.',
    'SECURITY P26',
    [hello, closing],
    broken('structure'),
  ],
  [
    'p26-one-pass-differs',
    'The one-pass packet names another hash than the signature.',
    'RFC 9580, 5.4',
    [onePass({ ...by, hash: 'sha512' }), hello, closing],
    broken('one-pass'),
  ],
]

export const INNER: MessageCase[] = ROWS.map(([name, about, covers, packets, rest]) => ({
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
