/** Vectors of certificates: SECURITY C4 to C7. */
import { armor } from '../../support/openpgp-framing.ts'
import { literal } from '../../support/openpgp-inner.ts'
import { curve25519, identify } from '../../support/openpgp-key.ts'
import { concat } from '../../support/openpgp-bytes.ts'
import { MADE_MS, NOW_MS, alice, mallory } from '../../support/openpgp-people.ts'
import {
  bogusBindings,
  bogusCertifications,
  boundSubkey,
  keyPacket,
  keyRevocation,
  subkeyPacket,
  userId,
} from '../../support/openpgp-certificate.ts'
import { paperRsa } from '../../support/openpgp-generated.ts'
import type { CertificateCase } from './case.ts'

const DAY_S = 86_400
const DAY_MS = DAY_S * 1000
const { primary, subkey } = alice
const key = keyPacket(primary)
const id = userId(primary, 'alice')
const binding = boundSubkey(primary, subkey)
const whole = concat(key, id, binding)
const yesterday = { atMs: NOW_MS - DAY_MS }
const forged = { ...mallory.primary, fingerprint: primary.fingerprint }
const known = { fingerprint: primary.fingerprint }
const withSubkey = (body: Buffer): Buffer =>
  concat(key, id, boundSubkey(primary, identify(body, MADE_MS)))
const names = (count: number): Buffer =>
  concat(...Array.from({ length: count }, (_, index) => userId(primary, `alice ${index}`)))

type More = Omit<CertificateCase, 'name' | 'about' | 'covers' | 'body'>
const row = (
  name: string,
  about: string,
  covers: string,
  body: Uint8Array | string,
  more: More = {},
): CertificateCase => ({ name, about, covers: `SECURITY ${covers}`, body, ...more })
const no = (unusable: string): More => ({ unusable })

export const ODD_CERTIFICATES: CertificateCase[] = [
  row(
    'c4-two-certificates',
    'Two certificates in one block.',
    'C4',
    concat(whole, keyPacket(mallory.primary)),
    no('several-certificates'),
  ),
  row(
    'c4-two-blocks',
    'Two blocks.',
    'C4',
    alice.certificate + mallory.certificate,
    no('unparseable'),
  ),
  row(
    'c4-secret-key',
    'A secret key.',
    'C4',
    armor(alice.secret, { type: 'PRIVATE KEY BLOCK' }),
    no('secret-key'),
  ),
  row(
    'c4-secret-in-public',
    'A secret key that calls itself public.',
    'C4',
    alice.secret,
    no('secret-key'),
  ),
  row('c4-message', 'A message.', 'C4', armor(literal('hello')), no('unparseable')),
  row('c4-junk', 'Words.', 'C4', 'hello', no('unparseable')),
  row(
    'c4-too-long',
    '65 537 characters.',
    'C4',
    alice.certificate.padEnd(65_537, '\n'),
    no('too-large'),
  ),
  row(
    'c4-many-user-ids',
    'Three hundred user ids.',
    'C4',
    concat(key, names(300), binding),
    no('too-large'),
  ),
  row(
    'c4-bogus-self-signatures',
    '215 self-signatures that are none, and a true one: too many to verify.',
    'C4',
    concat(key, id, bogusCertifications(primary, 'alice', 215), binding),
    no('too-large'),
  ),
  row(
    'c4-bogus-bindings',
    'Fifteen bindings that are none, and a true one.',
    'C4',
    concat(key, id, binding, bogusBindings(primary, subkey, 15)),
    known,
  ),
  row(
    'c5-grafted',
    'Somebody else’s subkey without a binding, beside one of its own.',
    'C5',
    concat(key, id, subkeyPacket(mallory.subkey), binding),
    known,
  ),
  row(
    'c5-grafted-alone',
    'Somebody else’s subkey with his own binding.',
    'C5',
    concat(key, id, boundSubkey(mallory.primary, mallory.subkey)),
    no('no-encryption-subkey'),
  ),
  row('c6-stripped', 'Known as revoked; the revocation was left out.', 'C6', whole, {
    known: 'c1-revoked-2',
    unusable: 'revoked',
  }),
  row(
    'c6-replaced',
    'Known as revoked; a forged revocation stands in place of the true one.',
    'C6',
    concat(key, keyRevocation(forged, yesterday), id, binding),
    { known: 'c1-revoked-2', unusable: 'revoked' },
  ),
  row(
    'c6-subkey-stripped',
    'Its subkey is known as revoked; the revocation was left out.',
    'C6',
    whole,
    { known: 'c1-revoked-subkey', unusable: 'revoked' },
  ),
  row(
    'c6-subkey-renewed',
    'Its subkey is known as revoked; it has a new one.',
    'C6',
    concat(key, id, boundSubkey(primary, curve25519('alice newer', NOW_MS - DAY_MS))),
    { known: 'c1-revoked-subkey', ...known },
  ),
  row(
    'c7-rsa-8192',
    'An RSA subkey of 8192 bits.',
    'C7',
    withSubkey(paperRsa(8192)),
    no('weak-algorithm'),
  ),
  row(
    'c7-rsa-16384',
    'An RSA subkey of 16384 bits.',
    'C7',
    withSubkey(paperRsa(16_384)),
    no('weak-algorithm'),
  ),
]
