/** What is known of a certificate as 124 bytes: kept of each, instead of its text or an object. */
import {
  RECIPIENT_POINT_BYTES,
  SIGNING_POINT_BYTES,
  findSignatureAlgorithm,
  recipientAlgorithm,
} from '../crypto/algorithms.ts'
import type { CertificateInfo } from './certificate-info.ts'

/**
 * Bytes of the digest that a record is found by, of SHA-256's 32: as many as a fingerprint has,
 * on which all trust in a certificate rests anyway.
 */
export const DIGEST_BYTES = 20
const FINGERPRINT_BYTES = 20

const AT = layOut([
  ['digest', DIGEST_BYTES],
  ['fingerprint', FINGERPRINT_BYTES],
  ['signingPoint', SIGNING_POINT_BYTES],
  ['recipientPoint', RECIPIENT_POINT_BYTES],
  ['signingCreated', 4],
  ['recipientCreated', 4],
  ['from', 4],
  ['until', 4],
  /** Zero when it verifies nothing. */
  ['signingAlgorithm', 1],
  ['recipientAlgorithm', 1],
  ['flags', 2],
  ['end', 0],
])
export const RECORD_BYTES = AT.end

const FLAG = { primarySigns: 1, hasNoOtherKey: 2, readsAes256: 4 } as const

/** Writes a record at `at`; `digest` is of `DIGEST_BYTES`. */
export function packRecordInto(
  target: Buffer,
  at: number,
  { digest, info }: { digest: Uint8Array; info: CertificateInfo },
): void {
  const { recipientKey, signingKey } = info
  const flags =
    (info.primarySigns ? FLAG.primarySigns : 0) |
    (info.hasNoOtherKey ? FLAG.hasNoOtherKey : 0) |
    (info.readsAes256 ? FLAG.readsAes256 : 0)
  target.fill(0, at, at + RECORD_BYTES)
  target.set(digest, at + AT.digest)
  target.set(info.fingerprint, at + AT.fingerprint)
  if (signingKey !== null) target.set(signingKey.point, at + AT.signingPoint)
  target.set(recipientKey.point, at + AT.recipientPoint)
  target.writeUInt32BE(signingKey?.createdS ?? 0, at + AT.signingCreated)
  target.writeUInt32BE(recipientKey.createdS, at + AT.recipientCreated)
  target.writeUInt32BE(info.fromS, at + AT.from)
  target.writeUInt32BE(info.untilS, at + AT.until)
  target[at + AT.signingAlgorithm] = signingKey?.algorithm ?? 0
  target[at + AT.recipientAlgorithm] = recipientKey.algorithm
  target.writeUInt16BE(flags, at + AT.flags)
}

/** A record by itself, without a digest. */
export function packRecord(info: CertificateInfo): Uint8Array {
  const record = Buffer.alloc(RECORD_BYTES)
  packRecordInto(record, 0, { digest: NO_DIGEST, info })
  return new Uint8Array(record)
}

const NO_DIGEST = Buffer.alloc(DIGEST_BYTES)

/** Reads the record at `at`; its bytes are copied, since a record may be replaced. */
export function unpackRecord(source: Buffer, at: number): CertificateInfo {
  const record = Buffer.from(source.subarray(at, at + RECORD_BYTES))
  const flags = record.readUInt16BE(AT.flags)
  const has = (flag: number): boolean => (flags & flag) !== 0
  const recipient = recipientAlgorithm(record[AT.recipientAlgorithm] ?? 0)
  const signing = findSignatureAlgorithm(record[AT.signingAlgorithm])
  const point = (start: number, bytes: number): Buffer => record.subarray(start, start + bytes)
  return {
    fingerprint: point(AT.fingerprint, FINGERPRINT_BYTES),
    recipientKey: {
      algorithm: recipient.id,
      createdS: record.readUInt32BE(AT.recipientCreated),
      point: point(AT.recipientPoint, recipient.publicBytes),
    },
    signingKey: signing && {
      algorithm: signing.id,
      createdS: record.readUInt32BE(AT.signingCreated),
      point: point(AT.signingPoint, signing.publicBytes),
    },
    primarySigns: has(FLAG.primarySigns),
    hasNoOtherKey: has(FLAG.hasNoOtherKey),
    readsAes256: has(FLAG.readsAes256),
    fromS: record.readUInt32BE(AT.from),
    untilS: record.readUInt32BE(AT.until),
  }
}

/** Where each field begins, one behind the other. */
function layOut<N extends string>(fields: [N, number][]): Record<N, number> {
  let at = 0
  const starts = fields.map(([name, bytes]) => [name, (at += bytes) - bytes] as const)
  return Object.fromEntries(starts) as Record<N, number>
}
