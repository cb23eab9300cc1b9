/** What was revoked, why, and by whom. */
import { concat } from '../../support/openpgp-bytes.ts'
import {
  boundSubkey,
  directKey,
  keyOver,
  keyRevocation,
  subkeyRevocation,
  userId,
  userIdRevocation,
} from '../../support/openpgp-certificate.ts'
import { curve25519, ed25519 } from '../../support/openpgp-key.ts'
import {
  TYPE,
  keyExpiresAfter,
  reason,
  signature,
  subpacket,
} from '../../support/openpgp-signature.ts'
import { MADE_MS, NAME, WORDS_MS, primary, subkey } from '../shape.ts'
import {
  ENDED,
  type Entry,
  HASHES,
  HOUR_MS,
  behind,
  bindingOf,
  certification,
  id,
  key,
  keyed,
  many,
} from './parts.ts'
import { foreign } from './numbers.ts'

export const AT = MADE_MS + 2 * HOUR_MS
export const second = curve25519('peers second', MADE_MS + 1000)
export const revocations: Entry[] = [
  ...[0, 1, 2, 3].map((code): Entry => [
    `key revoked, reason ${code}`,
    keyed(keyRevocation(primary, { atMs: AT, code }), id),
  ]),
  ...[1, 3].map((code): Entry => [
    `key revoked after the words, reason ${code}`,
    keyed(keyRevocation(primary, { atMs: WORDS_MS + HOUR_MS, code }), id),
  ]),
  ...HASHES.map((hash): Entry => [
    `key revoked over ${hash}`,
    keyed(keyRevocation(primary, { atMs: AT, hash }), id),
  ]),
  ...[0, 1, 2, 3].map((code): Entry => [
    `subkey revoked, reason ${code}`,
    behind(subkeyRevocation(primary, subkey, { atMs: AT, code })),
  ]),
  ...HASHES.map((hash): Entry => [
    `subkey revoked over ${hash}`,
    behind(subkeyRevocation(primary, subkey, { atMs: AT, hash })),
  ]),
  ...[1, 2].map((code): Entry => [
    `subkey revoked and bound anew, reason ${code}`,
    behind(
      subkeyRevocation(primary, subkey, { atMs: AT, code }),
      bindingOf({ atMs: AT + HOUR_MS }),
    ),
  ]),
  ...[1, 2].map((code): Entry => [
    `subkey revoked beside a sound one, reason ${code}`,
    behind(subkeyRevocation(primary, subkey, { atMs: AT, code }), boundSubkey(primary, second)),
  ]),
  [
    'newer subkey revoked beside an older sound one',
    behind(boundSubkey(primary, second), subkeyRevocation(primary, second, { atMs: AT })),
  ],
  [
    'subkey ended beside a sound one',
    concat(
      key,
      id,
      boundSubkey(primary, subkey, { hashed: [keyExpiresAfter(ENDED)] }),
      boundSubkey(primary, second),
    ),
  ],
  ['only user id revoked', keyed(id, userIdRevocation(primary, NAME, AT))],
  [
    'only user id revoked, with a direct-key signature',
    keyed(directKey(primary), id, userIdRevocation(primary, NAME, AT)),
  ],
  [
    'one of two user ids revoked',
    keyed(
      userId(primary, 'Writer 1'),
      userIdRevocation(primary, 'Writer 1', AT),
      userId(primary, 'Writer 2'),
    ),
  ],
  [
    'all of three user ids revoked',
    keyed(
      many(3, (n) =>
        concat(userId(primary, `Writer ${n}`), userIdRevocation(primary, `Writer ${n}`, AT)),
      ),
    ),
  ],
  [
    'user id revoked and certified anew',
    keyed(id, userIdRevocation(primary, NAME, AT), certification({ atMs: AT + HOUR_MS })),
  ],
  ['somebody is named as revoker', keyed(directKey(primary, { hashed: [revoker(0x80)] }), id)],
  ['a sensitive revoker is named', keyed(directKey(primary, { hashed: [revoker(0xc0)] }), id)],
  ['a revoker is named by the user id', keyed(userId(primary, NAME, { hashed: [revoker(0x80)] }))],
  ['a revocation by somebody else', keyed(foreignRevocation(), id)],
  [
    'a certification revoked by somebody else',
    keyed(id, foreign('r', { type: TYPE.certificationRevocation })),
  ],
]

function revoker(kind: number): Buffer {
  return subpacket(12, concat(kind, 22, 'ab'.repeat(20)))
}

function foreignRevocation(): Buffer {
  const signer = ed25519('peers foreign', MADE_MS)
  const over = keyOver(primary)
  return signature({ signer, over, type: TYPE.keyRevocation, atMs: AT, hashed: [reason(0)] })
}
