/** When keys and signatures end. */
import { concat } from '../../support/openpgp-bytes.ts'
import { boundSubkey, directKey, userId } from '../../support/openpgp-certificate.ts'
import { curve25519 } from '../../support/openpgp-key.ts'
import { expiresAfter, keyExpiresAfter } from '../../support/openpgp-signature.ts'
import { DAY_S, MADE_MS, NAME, WORDS_MS, primary, subkey } from '../shape.ts'
import { ENDED, HOUR_MS, LASTS, bindingOf, certification, id, key, keyed } from './parts.ts'
import type { Entry } from './parts.ts'

const ENDS: [string, number | null][] = [
  ['none', null],
  ['past', ENDED],
  ['far', LASTS],
  ['zero', 0],
]
const ending = (end: number | null): Buffer[] => (end === null ? [] : [keyExpiresAfter(end)])
export const expiries: Entry[] = [
  ...ENDS.flatMap(([direct, directEnd]) =>
    ENDS.flatMap(([named, namedEnd]) =>
      [0, HOUR_MS].map((laterMs): Entry => [
        `end by direct key ${direct}, by user id ${named}, ${laterMs === 0 ? 'user id' : 'direct key'} newer`,
        keyed(
          directKey(primary, { hashed: ending(directEnd), atMs: MADE_MS + laterMs }),
          userId(primary, NAME, { hashed: ending(namedEnd), atMs: MADE_MS + HOUR_MS - laterMs }),
        ),
      ]),
    ),
  ),
  ...ENDS.map(([name, end]): Entry => [
    `end of the subkey: ${name}`,
    concat(key, id, boundSubkey(primary, subkey, { hashed: ending(end) })),
  ]),
  ...ENDS.flatMap(([before, first]) =>
    ENDS.filter(([after]) => after !== before).map(([after, second]): Entry => [
      `end of the subkey: ${before}, then ${after}`,
      concat(
        key,
        id,
        boundSubkey(primary, subkey, { hashed: ending(first) }),
        bindingOf({ hashed: ending(second), atMs: MADE_MS + HOUR_MS }),
      ),
    ]),
  ),
  ...ENDS.flatMap(([before, first]) =>
    ENDS.filter(([after]) => after !== before).map(([after, second]): Entry => [
      `end by the user id: ${before}, then ${after}`,
      keyed(
        userId(primary, NAME, { hashed: ending(first) }),
        certification({ hashed: ending(second), atMs: MADE_MS + HOUR_MS }),
      ),
    ]),
  ),
  [
    'two user ids, one ended',
    keyed(
      userId(primary, 'Writer 1', { hashed: ending(ENDED) }),
      userId(primary, 'Writer 2', { atMs: MADE_MS + HOUR_MS }),
    ),
  ],
  [
    'two user ids, the newer ended',
    keyed(
      userId(primary, 'Writer 1'),
      userId(primary, 'Writer 2', { hashed: ending(ENDED), atMs: MADE_MS + HOUR_MS }),
    ),
  ],
  ['self-signature that ended', keyed(userId(primary, NAME, { hashed: [expiresAfter(ENDED)] }))],
  ['self-signature that lasts', keyed(userId(primary, NAME, { hashed: [expiresAfter(LASTS)] }))],
  [
    'binding that ended',
    concat(key, id, boundSubkey(primary, subkey, { hashed: [expiresAfter(ENDED)] })),
  ],
  [
    'binding that ended, and one that lasts',
    concat(
      key,
      id,
      boundSubkey(primary, subkey, { hashed: [expiresAfter(ENDED)] }),
      bindingOf({ atMs: MADE_MS + 1000 }),
    ),
  ],
  [
    'self-signature newer than the words',
    keyed(userId(primary, NAME, { atMs: WORDS_MS + 30 * DAY_S * 1000 })),
  ],
  [
    'binding newer than the words',
    concat(key, id, boundSubkey(primary, subkey, { atMs: WORDS_MS + 30 * DAY_S * 1000 })),
  ],
  ['self-signature before its key', keyed(userId(primary, NAME, { atMs: MADE_MS - HOUR_MS }))],
  [
    'subkey older than its primary key',
    concat(
      key,
      id,
      boundSubkey(primary, curve25519('peers older', MADE_MS - 30 * DAY_S * 1000), {
        atMs: MADE_MS,
      }),
    ),
  ],
]
