/** Vectors of recipients: SECURITY P6 to P12. */
import { packet } from '../../support/openpgp-framing.ts'
import { literal } from '../../support/openpgp-inner.ts'
import { concat, seeded } from '../../support/openpgp-bytes.ts'
import { bot, mallory, testPerson } from '../../support/openpgp-people.ts'
import {
  anonymousPkesk,
  pkesk,
  pkesk6,
  seipdBody,
  sessionKey,
  strangerPkesk,
} from '../../support/openpgp-sealed.ts'
import type { MessageCase } from './case.ts'

const ANONYMOUS = '0000000000000000'
const key = sessionKey('vectors')
const body = seipdBody(literal('hello'), key)
const box = packet(18, body)
const ours = pkesk(bot.subkey, key)
const opens = { outcome: 'opened', text: 'hello' } as const
const undecryptable = { outcome: 'damaged', reason: 'decryption' } as const
const marker = packet(10, Buffer.from('PGP'))
const unknown = (tag: number): Buffer => packet(tag, seeded('unknown', 20))
const argon2 = packet(3, concat(6, 0, 9, 2, 4, 20, seeded('salt', 16), 255, 4, 30, seeded('x', 40)))
const strangers = (count: number, keyId?: string): Buffer =>
  concat(...Array.from({ length: count }, (_, index) => strangerPkesk(`v${index}`, keyId)))
type Row = [
  name: string,
  about: string,
  covers: string,
  packets: Uint8Array[],
  rest: Pick<MessageCase, 'outcome' | 'reason' | 'text' | 'reader' | 'signatures'>,
]

const ROWS: Row[] = [
  ['p06-marker', 'A marker packet stands first.', 'SECURITY P6', [marker, ours, box], opens],
  [
    'p06-padding',
    'A padding packet stands first.',
    'SECURITY P6',
    [packet(21, seeded('padding', 99)), ours, box],
    opens,
  ],
  [
    'p06-unknown-tag',
    'Packets of unknown types that may be passed over.',
    'SECURITY P6; RFC 9580, 4.3',
    [unknown(60), ours, unknown(40), box],
    opens,
  ],
  [
    'p07-critical-tag',
    'A packet of an unknown type that may not be passed over.',
    'SECURITY P7; RFC 9580, 4.3',
    [ours, unknown(39), box],
    { outcome: 'damaged', reason: 'structure' },
  ],
  [
    'p08-version-23',
    'A recipient packet of an unknown version beside ours.',
    'SECURITY P8',
    [packet(1, concat(23, seeded('v', 60))), ours, box],
    opens,
  ],
  [
    'p08-version-6',
    'A recipient packet of version 6 for somebody else beside ours.',
    'SECURITY P8',
    [pkesk6(mallory.subkey, key), ours, box],
    opens,
  ],
  [
    'p09-flood',
    '950 recipients before us.',
    'SECURITY P9; CVE-2026-85783',
    [strangers(950), ours, box],
    opens,
  ],
  [
    'p10-anonymous-flood',
    '950 anonymous recipients beside us by name.',
    'SECURITY P10',
    [strangers(950, ANONYMOUS), ours, box],
    opens,
  ],
  [
    'p10-anonymous-only',
    '950 anonymous recipients, we among them.',
    'SECURITY P10',
    [anonymousPkesk(bot.subkey, key), strangers(949, ANONYMOUS), box],
    { outcome: 'not-recipient', reason: 'too-many-anonymous' },
  ],
  [
    'p10-named-flood',
    '950 packets that name our key and are not for it.',
    'SECURITY P10',
    [strangers(950, bot.subkey.keyId), box],
    undecryptable,
  ],
  [
    'p11-anonymous',
    'One recipient packet, and it names nobody.',
    'SECURITY P11',
    [anonymousPkesk(bot.subkey, key), box],
    opens,
  ],
  [
    'p11-anonymous-retained',
    'Four anonymous packets, the last for a retained key.',
    'SECURITY P10, P11',
    [strangers(3, ANONYMOUS), anonymousPkesk(testPerson('old').subkey, key), box],
    { ...opens, reader: 'bot old' },
  ],
  [
    'p12-password-only',
    'Sealed with a password alone.',
    'SECURITY P12',
    [packet(3, concat(4, 9, 3, 8, seeded('salt', 8), 255)), box],
    { outcome: 'not-recipient' },
  ],
  [
    'p12-argon2',
    'A password packet that asks for a tebibyte of memory, beside ours.',
    'SECURITY P12',
    [argon2, ours, box],
    opens,
  ],
]

export const RECIPIENTS: MessageCase[] = ROWS.map(([name, about, covers, packets, rest]) => ({
  name,
  about,
  covers,
  body: concat(...packets),
  ...rest,
}))
