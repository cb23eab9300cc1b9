/** Subkeys that sign, and others. */
import { concat } from '../../support/openpgp-bytes.ts'
import {
  FLAG,
  boundSubkey,
  keyOver,
  signingSubkey,
  subkeyPacket,
  subkeyRevocation,
  userId,
} from '../../support/openpgp-certificate.ts'
import { curve25519, ed25519 } from '../../support/openpgp-key.ts'
import {
  TYPE,
  embedded,
  expiresAfter,
  issuer,
  issuerFingerprint,
  keyExpiresAfter,
  keyFlags,
  signature,
} from '../../support/openpgp-signature.ts'
import { DAY_S, MADE_MS, NAME, WORDS_MS, primary, subkey } from '../shape.ts'
import { ENDED, type Entry, HOUR_MS, behind, id, key, keyed } from './parts.ts'
import { AT, second } from './revocations.ts'

const signing = ed25519('peers signing', MADE_MS)
const withSigning = (part: Buffer): Buffer =>
  keyed(userId(primary, NAME, { flags: FLAG.certify }), part)
const BINDINGS: [string, Parameters<typeof signingSubkey>[2]][] = [
  ['without its consent', { backSignature: false }],
  ['whose consent is for another', { backOver: ed25519('peers other', MADE_MS) }],
  ['whose consent ended', { backHashed: [expiresAfter(ENDED)] }],
  ['that ended later', { hashed: [keyExpiresAfter(ENDED)] }],
  ['that ended before', { hashed: [keyExpiresAfter(DAY_S)] }],
  ['that was bound later', { atMs: WORDS_MS + HOUR_MS }],
]
export const subkeys: Entry[] = [
  ['words by a signing subkey', withSigning(signingSubkey(primary, signing)), signing],
  [
    'words by a signing subkey behind the encryption subkey',
    behind(signingSubkey(primary, signing)),
    signing,
  ],
  ...BINDINGS.map(([what, options]): Entry => [
    `words by a signing subkey ${what}`,
    withSigning(signingSubkey(primary, signing, options)),
    signing,
  ]),
  [
    'words by a signing subkey that was revoked',
    withSigning(
      concat(
        signingSubkey(primary, signing),
        subkeyRevocation(primary, signing, { atMs: AT, code: 2 }),
      ),
    ),
    signing,
  ],
  [
    'words by a signing subkey that was retired later',
    withSigning(
      concat(
        signingSubkey(primary, signing),
        subkeyRevocation(primary, signing, { atMs: WORDS_MS + HOUR_MS, code: 3 }),
      ),
    ),
    signing,
  ],
  ['words by the primary key beside a signing subkey', keyed(id, signingSubkey(primary, signing))],
  [
    'words by a primary key that certifies alone',
    withSigning(signingSubkey(primary, signing)),
    primary,
  ],
  ['a consent in the unhashed part', withSigning(unhashedConsent()), signing],
  [
    'an authentication subkey',
    keyed(id, boundSubkey(primary, ed25519('peers login', MADE_MS), { flags: 0x20 })),
  ],
  ['no subkey', concat(key, id)],
  ['a subkey that nobody bound', concat(key, id, subkeyPacket(subkey))],
  ['a subkey that nobody bound beside a bound one', keyed(id, subkeyPacket(second))],
  [
    'a subkey bound by somebody else',
    concat(
      key,
      id,
      subkeyPacket(subkey),
      boundSubkey(ed25519('peers other', MADE_MS), subkey).subarray(subkeyPacket(subkey).length),
    ),
  ],
  [
    'a subkey that is expected later',
    keyed(id, boundSubkey(primary, curve25519('peers later', Date.UTC(2090, 0, 1)))),
  ],
]

function unhashedConsent(): Buffer {
  const over = concat(keyOver(primary), keyOver(signing))
  const back = signature({ signer: signing, over, type: TYPE.primaryBinding, atMs: MADE_MS })
  const body = back.subarray((back[1] ?? 0) < 192 ? 2 : 3)
  const unhashed = [
    issuerFingerprint(primary.fingerprint),
    issuer(primary.fingerprint),
    embedded(body),
  ]
  const hashed = [keyFlags(2)]
  const type = TYPE.subkeyBinding
  return concat(
    subkeyPacket(signing),
    signature({ signer: primary, over, type, atMs: MADE_MS, hashed, unhashed }),
  )
}
