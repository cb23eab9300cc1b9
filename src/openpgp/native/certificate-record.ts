/** Certificate info as records of 103 bytes, to be kept and sent between threads. */
import type { CertificateInfo } from '../certificate-info.ts'
import { POINT_BYTES } from '../crypto/curve25519.ts'
import { findSignatureAlgorithm, recipientAlgorithm } from '../crypto/public-key.ts'
import { bytesOf } from '../format/packet-writer.ts'

const FLAG = { primarySigns: 1, hasNoOtherKey: 2, readsAes256: 4 } as const
/** The places of the four times, after flags and algorithms, of the fingerprint and of the points. */
const TIMES_AT = 3
const FINGERPRINT_AT = TIMES_AT + 4 * 4
const POINTS_AT = FINGERPRINT_AT + 20

/** Whether a record has room for a key to seal to; one of ML-KEM is ten times as long as a record. */
export const fitsRecord = ({ recipientKey }: CertificateInfo): boolean =>
  recipientKey.point.length <= POINT_BYTES

/** Writes a record; `info` is of `fitsRecord`. */
export function packRecord(info: CertificateInfo): Buffer {
  const { recipientKey, signingKey, fromS, untilS } = info
  const flags =
    (info.primarySigns ? FLAG.primarySigns : 0) |
    (info.hasNoOtherKey ? FLAG.hasNoOtherKey : 0) |
    (info.readsAes256 ? FLAG.readsAes256 : 0)
  const times = [recipientKey.createdS, signingKey?.createdS ?? 0, fromS, untilS]
  return Buffer.concat([
    // a signature algorithm of zero: it verifies nothing
    Buffer.of(flags, recipientKey.algorithm, signingKey?.algorithm ?? 0),
    ...times.map((time) => bytesOf(time, 4)),
    info.fingerprint,
    recipientKey.point,
    signingKey?.point ?? Buffer.alloc(0),
  ])
}

/** Undoes `packRecord`; the info has views of the record. */
export function unpackRecord(record: Buffer): CertificateInfo {
  const [flags = 0, recipientId = 0, signatureId] = record
  const time = (index: number): number => record.readUInt32BE(TIMES_AT + 4 * index)
  const { id: algorithm, publicBytes } = recipientAlgorithm(recipientId)
  const signing = findSignatureAlgorithm(signatureId)
  const signingAt = POINTS_AT + publicBytes
  return {
    fingerprint: record.subarray(FINGERPRINT_AT, POINTS_AT),
    recipientKey: { algorithm, createdS: time(0), point: record.subarray(POINTS_AT, signingAt) },
    signingKey: signing && {
      algorithm: signing.id,
      createdS: time(1),
      point: record.subarray(signingAt),
    },
    primarySigns: (flags & FLAG.primarySigns) !== 0,
    hasNoOtherKey: (flags & FLAG.hasNoOtherKey) !== 0,
    readsAes256: (flags & FLAG.readsAes256) !== 0,
    fromS: time(2),
    untilS: time(3),
  }
}
