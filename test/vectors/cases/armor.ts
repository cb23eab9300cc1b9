/** Vectors of armor: SECURITY P1 to P5, and what programs were once misled by. */
import { armor, crc24 } from '../../support/openpgp-framing.ts'
import { literal, signedLiteral } from '../../support/openpgp-inner.ts'
import { concat } from '../../support/openpgp-bytes.ts'
import { NOW_MS, alice, bot } from '../../support/openpgp-people.ts'
import { pkesk, seipd, sessionKey } from '../../support/openpgp-sealed.ts'
import type { MessageCase } from './case.ts'

const key = sessionKey('vectors')
const packets = concat(pkesk(bot.subkey, key), seipd(literal('hello'), key))
const plain = armor(packets)
const checksum = `=${crc24(packets).toString('base64')}`
const lines = plain.split('\n')
const [, , first = '', second = ''] = lines

const opens = { outcome: 'opened', text: 'hello' } as const
const broken = { outcome: 'damaged', reason: 'armor' } as const
const NOT_DASH = 'NotDashEscaped: You need GnuPG to verify this message'
const cleartext = [
  '-----BEGIN PGP SIGNED MESSAGE-----',
  'Hash: SHA256',
  '',
  'hello',
  armor(signedLiteral('hello', { signer: alice.primary, atMs: NOW_MS }), { type: 'SIGNATURE' }),
].join('\n')

export const ARMOR: MessageCase[] = [
  {
    name: 'p00-plain',
    about: 'A message as most programs armor it.',
    covers: 'RFC 9580, 6.2',
    body: plain,
    ...opens,
  },
  {
    name: 'p01-checksum-wrong',
    about: 'The checksum is that of other bytes.',
    covers: 'SECURITY P1; RFC 9580, 6.1',
    body: plain.replace(checksum, '=AAAA'),
    ...broken,
  },
  {
    name: 'p02-checksum-missing',
    about: 'There is no checksum.',
    covers: 'SECURITY P2; RFC 9580, 6.1',
    body: armor(packets, { checksum: false }),
    ...opens,
  },
  {
    name: 'p02-crlf',
    about: 'Lines end with CRLF, and there are headers.',
    covers: 'SECURITY P2',
    body: armor(packets, { endOfLine: '\r\n', headers: ['Version: X 1', 'Comment: y'] }),
    ...opens,
  },
  {
    name: 'p02-trailing-spaces',
    about: 'Every line has trailing spaces.',
    covers: 'SECURITY P2',
    body: plain.replaceAll('\n', '  \t\n'),
    ...opens,
  },
  {
    name: 'p03-text-before',
    about: 'Words stand before the block.',
    covers: 'SECURITY P3',
    body: `see:\n${plain}`,
    ...broken,
  },
  {
    name: 'p03-text-after',
    about: 'Words stand after the block.',
    covers: 'SECURITY P3',
    body: `${plain}yours\n`,
    ...broken,
  },
  {
    name: 'p03-two-blocks',
    about: 'Two whole messages, one after the other.',
    covers: 'SECURITY P3, P18',
    body: plain + plain,
    ...broken,
  },
  {
    name: 'p03-end-of-other-type',
    about: 'It ends as a signature.',
    covers: 'SECURITY P3',
    body: plain.replace('END PGP MESSAGE', 'END PGP SIGNATURE'),
    ...broken,
  },
  {
    name: 'p04-no-empty-line',
    about: 'No empty line stands between BEGIN and the data.',
    covers: 'SECURITY P4',
    body: plain.replace('\n\n', '\n'),
    ...broken,
  },
  {
    name: 'p04-no-end',
    about: 'The END line is missing.',
    covers: 'SECURITY P4',
    body: plain.replace(/-----END.*\n/, ''),
    ...broken,
  },
  {
    name: 'p04-bad-base64',
    about: 'One character is none of base64.',
    covers: 'SECURITY P4',
    body: plain.replace(first, `${first.slice(0, -1)}*`),
    ...broken,
  },
  {
    name: 'p04-line-missing',
    about: 'One line of the data is gone; the checksum notices.',
    covers: 'SECURITY P4',
    body: plain.replace(`${second}\n`, ''),
    ...broken,
  },
  {
    name: 'p04-line-missing-unchecked',
    about: 'One line of the data is gone, and there is no checksum: the lengths of packets notice.',
    covers: 'SECURITY P4',
    body: armor(packets, { checksum: false }).replace(`${second}\n`, ''),
    outcome: 'damaged',
    reason: 'header',
  },
  {
    name: 'p04-padding-inside',
    about: 'Padding stands in the middle of the data.',
    covers: 'SECURITY P4',
    body: plain.replace(first, `${first.slice(0, -2)}==`),
    ...broken,
  },
  {
    name: 'p04-form-feed',
    about: 'A form feed stands where a line should end.',
    covers: 'SECURITY 5.4, gpg.fail',
    body: plain.replace(`${first}\n`, `${first}\f`),
    ...broken,
  },
  {
    name: 'p04-header-without-colon',
    about: 'Words stand where headers should be.',
    covers: 'SECURITY 5.4, CVE-2023-41037',
    body: plain.replace('\n\n', '\nthese are words\n\n'),
    ...broken,
  },
  {
    name: 'p04-not-dash-escaped',
    about: 'A header that changed how cleartext was read; in a message it means nothing.',
    covers: 'SECURITY 5.4, gpg.fail',
    body: plain.replace('\n\n', `\n${NOT_DASH}\n\n`),
    ...opens,
  },
  {
    name: 'p04-long-line',
    about: 'All data stands in one line.',
    covers: 'SECURITY 5.4, gpg.fail',
    body: armor(packets, { lineChars: 4096 }),
    ...opens,
  },
  {
    name: 'p05-largest',
    about: 'Exactly as many characters as a message may have, most of them line ends.',
    covers: 'SECURITY P5',
    body: plain.padEnd(131_072, '\n'),
    ...opens,
  },
  {
    name: 'p05-too-large',
    about: 'One character more than a message may have.',
    covers: 'SECURITY P5',
    body: plain.padEnd(131_073, '\n'),
    outcome: 'too-large',
    reason: 'armor',
  },
  {
    name: 'p05-line-ends',
    about: 'Nothing but line ends, as many as a message may have characters.',
    covers: 'SECURITY P5',
    body: '\n'.repeat(131_072),
    ...broken,
  },
  {
    name: 'p19-cleartext-signed',
    about: 'A cleartext signed text.',
    covers: 'SECURITY P19, 5.4, CVE-2023-41037',
    body: cleartext,
    ...broken,
  },
  {
    name: 'p19-not-dash-escaped',
    about: 'A cleartext signed text, with the header that once changed what is signed.',
    covers: 'SECURITY P19, 5.4, gpg.fail',
    body: cleartext.replace('Hash: SHA256', `Hash: SHA256\n${NOT_DASH}`),
    ...broken,
  },
  {
    name: 'p19-public-key',
    about: 'A certificate.',
    covers: 'SECURITY P19',
    body: alice.certificate,
    ...broken,
  },
  {
    name: 'p19-private-key',
    about: 'A secret key, of somebody who pasted the wrong thing.',
    covers: 'SECURITY P19',
    body: armor(alice.secret, { type: 'PRIVATE KEY BLOCK' }),
    ...broken,
  },
]
