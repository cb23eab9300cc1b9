/** How many there are of each part. */
import { concat, u32 } from '../../support/openpgp-bytes.ts'
import {
  type SelfSignature,
  boundSubkey,
  directKey,
  keyOver,
  subkeyPacket,
  userId,
} from '../../support/openpgp-certificate.ts'
import { packet } from '../../support/openpgp-framing.ts'
import { curve25519, ed25519 } from '../../support/openpgp-key.ts'
import { type HashName, keyExpiresAfter, signature } from '../../support/openpgp-signature.ts'
import { MADE_MS, NAME, primary, subkey } from '../shape.ts'
import { HOUR_MS, LASTS, bindingOf, certification, id, key, keyed, many } from './parts.ts'
import type { Entry } from './parts.ts'

const selfs = (count: number, options: SelfSignature = {}): Buffer =>
  many(count, (index) => certification({ ...options, atMs: MADE_MS + index * HOUR_MS }))

/** A certification of the usual user id by somebody else. */
export function foreign(
  label: string,
  o: { type?: number; hash?: HashName; hashed?: Buffer[] } = {},
): Buffer {
  const name = Buffer.from(NAME)
  const over = concat(keyOver(primary), 0xb4, u32(name.length), name)
  const signer = ed25519(`peers foreign ${label}`, MADE_MS)
  const { type = 0x10, hash = 'sha256', hashed = [] } = o
  return signature({ signer, over, type, hash, atMs: MADE_MS + HOUR_MS, hashed })
}

const counts = (what: string, some: number[], make: (count: number) => Buffer): Entry[] =>
  some.map((count) => [`${count} ${what}`, make(count)])

export const numbers: Entry[] = [
  ...counts('user ids', [0, 1, 2, 3, 16, 64, 70, 130], (count) =>
    keyed(many(count, (n) => userId(primary, `Writer ${n}`))),
  ),
  ...counts('self-signatures of one user id', [2, 3, 8, 16, 17, 24, 40, 64], (count) =>
    keyed(packet(13, Buffer.from(NAME)), selfs(count)),
  ),
  ...counts('self-signatures, newest first', [2, 17, 24], (count) =>
    keyed(
      packet(13, Buffer.from(NAME)),
      many(count, (n) => certification({ atMs: MADE_MS + (count - n) * HOUR_MS })),
    ),
  ),
  ...counts('direct-key signatures', [1, 2, 16, 17, 24], (count) =>
    keyed(
      many(count, (n) => directKey(primary, { atMs: MADE_MS + n * HOUR_MS })),
      id,
    ),
  ),
  ...counts('bindings of one subkey', [2, 8, 16, 17, 24, 40], (count) =>
    concat(
      key,
      id,
      subkeyPacket(subkey),
      many(count, (n) => bindingOf({ atMs: MADE_MS + n * HOUR_MS })),
    ),
  ),
  ...counts('encryption subkeys', [2, 3, 8, 16, 20], (count) =>
    concat(
      key,
      id,
      many(count, (n) => boundSubkey(primary, curve25519(`peers ${n}`, MADE_MS + n * 1000))),
    ),
  ),
  ...counts('foreign certifications', [1, 8, 32, 100, 300], (count) =>
    keyed(
      id,
      many(count, (n) => foreign(`${n}`)),
    ),
  ),
  ...counts('renewals of user id and subkey', [2, 5, 16, 17, 20, 40], (count) =>
    concat(
      key,
      packet(13, Buffer.from(NAME)),
      selfs(count, { hashed: [keyExpiresAfter(LASTS)] }),
      subkeyPacket(subkey),
      many(count, (n) =>
        bindingOf({ atMs: MADE_MS + n * HOUR_MS, hashed: [keyExpiresAfter(LASTS)] }),
      ),
    ),
  ),
]
