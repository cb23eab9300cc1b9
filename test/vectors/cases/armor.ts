/** Vectors of armor: SECURITY P1 to P5, and what programs were once misled by. */
import { armor, crc24 } from '../../support/openpgp-framing.ts'
import { literal, signedLiteral } from '../../support/openpgp-inner.ts'
import { concat } from '../../support/openpgp-bytes.ts'
import { NOW_MS, alice, bot } from '../../support/openpgp-people.ts'
import { pkesk, seipd, sessionKey } from '../../support/openpgp-sealed.ts'
import type { Bodies } from './bodies.ts'

const key = sessionKey('vectors')
const packets = concat(pkesk(bot.subkey, key), seipd(literal('hello'), key))
const plain = armor(packets)
const checksum = `=${crc24(packets).toString('base64')}`
const lines = plain.split('\n')
const [, , first = '', second = ''] = lines

const NOT_DASH = 'NotDashEscaped: You need GnuPG to verify this message'
const cleartext = [
  '-----BEGIN PGP SIGNED MESSAGE-----',
  'Hash: SHA256',
  '',
  'hello',
  armor(signedLiteral('hello', { signer: alice.primary, atMs: NOW_MS }), { type: 'SIGNATURE' }),
].join('\n')

export const ARMOR: Bodies = {
  'p00-plain': plain,
  'p01-checksum-wrong': plain.replace(checksum, '=AAAA'),
  'p02-checksum-missing': armor(packets, { checksum: false }),
  'p02-crlf': armor(packets, { endOfLine: '\r\n', headers: ['Version: X 1', 'Comment: y'] }),
  'p02-trailing-spaces': plain.replaceAll('\n', '  \t\n'),
  'p03-text-before': `see:\n${plain}`,
  'p03-text-after': `${plain}yours\n`,
  'p03-two-blocks': plain + plain,
  'p03-end-of-other-type': plain.replace('END PGP MESSAGE', 'END PGP SIGNATURE'),
  'p04-no-empty-line': plain.replace('\n\n', '\n'),
  'p04-no-end': plain.replace(/-----END.*\n/, ''),
  'p04-bad-base64': plain.replace(first, `${first.slice(0, -1)}*`),
  'p04-line-missing': plain.replace(`${second}\n`, ''),
  'p04-line-missing-unchecked': armor(packets, { checksum: false }).replace(`${second}\n`, ''),
  'p04-padding-inside': plain.replace(first, `${first.slice(0, -2)}==`),
  'p04-form-feed': plain.replace(`${first}\n`, `${first}\f`),
  'p04-header-without-colon': plain.replace('\n\n', '\nthese are words\n\n'),
  'p04-not-dash-escaped': plain.replace('\n\n', `\n${NOT_DASH}\n\n`),
  'p04-long-line': armor(packets, { lineChars: 4096 }),
  'p05-largest': plain.padEnd(131_072, '\n'),
  'p05-too-large': plain.padEnd(131_073, '\n'),
  'p05-line-ends': '\n'.repeat(131_072),
  'p19-cleartext-signed': cleartext,
  'p19-not-dash-escaped': cleartext.replace('Hash: SHA256', `Hash: SHA256\n${NOT_DASH}`),
  'p19-public-key': alice.certificate,
  'p19-private-key': armor(alice.secret, { type: 'PRIVATE KEY BLOCK' }),
}
