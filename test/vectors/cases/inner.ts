/** Bodies of vectors of the packets inside a container: SECURITY P21 to P26 and P38 to P45. */
import { BZIP2_BOMB, BZIP2_HELLO, BZIP2_NESTED, BZIP2_SIGNED } from '../../support/openpgp-bzip2.ts'
import { keyPacket, userId } from '../../support/openpgp-certificate.ts'
import { oldPacket, packet } from '../../support/openpgp-framing.ts'
import { compressed, compressedOf, literal, signedLiteral } from '../../support/openpgp-inner.ts'
import { concat, seeded } from '../../support/openpgp-bytes.ts'
import { NOW_MS, alice, bot, mallory } from '../../support/openpgp-people.ts'
import { pkesk, seipd, sessionKey } from '../../support/openpgp-sealed.ts'
import { onePass, signature } from '../../support/openpgp-signature.ts'
import { concatenated, type Bodies } from './bodies.ts'

const key = sessionKey('vectors')
const inside = sessionKey('inside')
const by = { signer: alice.primary, atMs: NOW_MS }
const hello = literal('hello')
const signed = signedLiteral('hello', by)
const opening = onePass(by)
const closing = signature({ ...by, over: Buffer.from('hello') })
const deflated = compressed(hello, 1)
const zeros = compressed(literal(Buffer.alloc(1 << 26)), 1)
const long = 'x'.repeat(90_000)

/** What each seals to the bot. */
export const PACKETS = concatenated({
  'p21-zip-bomb': [zeros],
  'p21-bzip2-bomb': [compressedOf(3, BZIP2_BOMB)],
  'p22-long-text': [compressed(literal(long), 2)],
  'p23-nested': [compressed(deflated, 2)],
  'p23-nested-bzip2': [compressedOf(3, BZIP2_NESTED)],
  'p23-empty': [compressed(Buffer.alloc(0), 1)],
  'p23-padded': [compressedOf(1, concat(deflated.subarray(3), seeded('padding', 200)))],
  'p24-unknown-algorithm': [compressedOf(77, deflated.subarray(3))],
  'p24-truncated': [compressedOf(1, deflated.subarray(3, -2))],
  'compressed-none': [compressed(signed, 0)],
  'compressed-zip': [compressed(signed, 1)],
  'compressed-zlib': [compressed(signed, 2)],
  'compressed-bzip2': [compressedOf(3, BZIP2_HELLO)],
  'compressed-bzip2-signed': [compressedOf(3, BZIP2_SIGNED)],
  'p25-encrypted-inside': [pkesk(bot.subkey, inside), seipd(hello, inside)],
  'p26-two-literals': [hello, literal('world')],
  'p26-literal-before': [literal('world'), signed],
  'p26-literal-after': [signed, literal('world')],
  'p26-compressed-beside': [signed, compressed(literal('world'), 2)],
  'p26-compressed-before': [compressed(literal('world'), 2), signed],
  'p26-certificate-beside': [signed, keyPacket(mallory.primary), userId(mallory.primary, 'alice')],
  'p26-compressed-after-literal': [literal('world'), compressed(hello, 2)],
  'p26-no-signature': [opening, hello],
  'p26-no-one-pass': [hello, closing],
  'p26-one-pass-differs': [onePass({ ...by, hash: 'sha512' }), hello, closing],
  'p38-signature-first': [closing, hello],
  'p39-signed-around-compressed': [opening, compressed(hello, 2), closing],
  'p39-signed-twice': [opening, compressed(signed, 2), closing],
  'p40-format-b': [literal('grüße', { format: 'b' })],
  'p40-format-t': [literal('grüße', { format: 't' })],
  'p40-format-z': [literal('hello', { format: 'z' })],
  'p41-not-utf8': [literal(concat('c328'))],
  'p41-surrogate': [literal(concat('eda080'))],
  'p41-utf16': [literal(concat('fffe', Buffer.from('hello', 'utf16le')))],
  'p41-byte-order-mark': [literal('\ufeffhello')],
  'p42-controls': [literal('a\r\nb\rc\0d\u001be\u202ef')],
  'p43-empty': [literal('')],
  'p44-file-name': [literal('hello', { name: Buffer.from('../../etc/passwd') })],
  'p44-file-name-long': [literal('hello', { name: Buffer.alloc(255, 0xff) })],
  'literal-indeterminate': [oldPacket(11, hello.subarray(2), 0)],
  'literal-cut-short': [hello.subarray(0, -1)],
  'inner-critical-tag': [packet(30, seeded('x', 9)), hello],
  unicode: [literal('a ü 世 🌍 e\u0301')],
})

/** Each sealed to the bot. */
export const INNER: Bodies = Object.fromEntries(
  Object.entries(PACKETS).map(([name, packets]) => [
    name,
    concat(pkesk(bot.subkey, key), seipd(packets, key)),
  ]),
)
