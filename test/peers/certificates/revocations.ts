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
  binding,
  bindingOf,
  certification,
  id,
  key,
  many,
} from './parts.ts'
import { foreign } from './numbers.ts'

export const AT = MADE_MS + 2 * HOUR_MS
export const second = curve25519('peers second', MADE_MS + 1000)
export const revocations: Entry[] = [
  ...[0, 1, 2, 3].map((code): Entry => [
    `key revoked, reason ${code}`,
    concat(key, keyRevocation(primary, { atMs: AT, code }), id, binding),
  ]),
  ...[1, 3].map((code): Entry => [
    `key revoked after the words, reason ${code}`,
    concat(key, keyRevocation(primary, { atMs: WORDS_MS + HOUR_MS, code }), id, binding),
  ]),
  ...HASHES.map((hash): Entry => [
    `key revoked over ${hash}`,
    concat(key, keyRevocation(primary, { atMs: AT, hash }), id, binding),
  ]),
  ...[0, 1, 2, 3].map((code): Entry => [
    `subkey revoked, reason ${code}`,
    concat(key, id, binding, subkeyRevocation(primary, subkey, { atMs: AT, code })),
  ]),
  ...HASHES.map((hash): Entry => [
    `subkey revoked over ${hash}`,
    concat(key, id, binding, subkeyRevocation(primary, subkey, { atMs: AT, hash })),
  ]),
  ...[1, 2].map((code): Entry => [
    `subkey revoked and bound anew, reason ${code}`,
    concat(
      key,
      id,
      binding,
      subkeyRevocation(primary, subkey, { atMs: AT, code }),
      bindingOf({ atMs: AT + HOUR_MS }),
    ),
  ]),
  ...[1, 2].map((code): Entry => [
    `subkey revoked beside a sound one, reason ${code}`,
    concat(
      key,
      id,
      binding,
      subkeyRevocation(primary, subkey, { atMs: AT, code }),
      boundSubkey(primary, second),
    ),
  ]),
  [
    'newer subkey revoked beside an older sound one',
    concat(
      key,
      id,
      binding,
      boundSubkey(primary, second),
      subkeyRevocation(primary, second, { atMs: AT }),
    ),
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
  ['only user id revoked', concat(key, id, userIdRevocation(primary, NAME, AT), binding)],
  [
    'only user id revoked, with a direct-key signature',
    concat(key, directKey(primary), id, userIdRevocation(primary, NAME, AT), binding),
  ],
  [
    'one of two user ids revoked',
    concat(
      key,
      userId(primary, 'Writer 1'),
      userIdRevocation(primary, 'Writer 1', AT),
      userId(primary, 'Writer 2'),
      binding,
    ),
  ],
  [
    'all of three user ids revoked',
    concat(
      key,
      many(3, (n) =>
        concat(userId(primary, `Writer ${n}`), userIdRevocation(primary, `Writer ${n}`, AT)),
      ),
      binding,
    ),
  ],
  [
    'user id revoked and certified anew',
    concat(
      key,
      id,
      userIdRevocation(primary, NAME, AT),
      certification({ atMs: AT + HOUR_MS }),
      binding,
    ),
  ],
  [
    'somebody is named as revoker',
    concat(key, directKey(primary, { hashed: [revoker(0x80)] }), id, binding),
  ],
  [
    'a sensitive revoker is named',
    concat(key, directKey(primary, { hashed: [revoker(0xc0)] }), id, binding),
  ],
  [
    'a revoker is named by the user id',
    concat(key, userId(primary, NAME, { hashed: [revoker(0x80)] }), binding),
  ],
  ['a revocation by somebody else', concat(key, foreignRevocation(), id, binding)],
  [
    'a certification revoked by somebody else',
    concat(key, id, foreign('r', { type: TYPE.certificationRevocation }), binding),
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
