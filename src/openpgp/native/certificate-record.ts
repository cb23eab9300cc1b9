/** Certificate info as records of 104 bytes, to be kept and sent between threads. */
import { POINT_BYTES } from '../crypto/curve25519.ts'
import {
  SIGNING_POINT_BYTES,
  findSignatureAlgorithm,
  recipientAlgorithm,
} from '../crypto/algorithms.ts'
import type { CertificateInfo } from '../certificate-info.ts'

const FINGERPRINT_BYTES = 20

const AT = layOut([
  ['fingerprint', FINGERPRINT_BYTES],
  ['signingPoint', SIGNING_POINT_BYTES],
  ['recipientPoint', POINT_BYTES],
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

const FLAG = { primarySigns: 1, hasNoOtherKey: 2, readsAes256: 4 } as const

/** Whether a record has room for a key to seal to; one of ML-KEM is ten times as long as a record. */
export function fitsRecord({ recipientKey }: CertificateInfo): boolean {
  return recipientKey.point.length <= POINT_BYTES
}

/** Writes a record; `info` is of `fitsRecord`. */
export function packRecord(info: CertificateInfo): Buffer {
  const record = Buffer.alloc(AT.end)
  const { recipientKey, signingKey } = info
  const flags =
    (info.primarySigns ? FLAG.primarySigns : 0) |
    (info.hasNoOtherKey ? FLAG.hasNoOtherKey : 0) |
    (info.readsAes256 ? FLAG.readsAes256 : 0)
  record.set(info.fingerprint, AT.fingerprint)
  if (signingKey !== null) record.set(signingKey.point, AT.signingPoint)
  record.set(recipientKey.point, AT.recipientPoint)
  record.writeUInt32BE(signingKey?.createdS ?? 0, AT.signingCreated)
  record.writeUInt32BE(recipientKey.createdS, AT.recipientCreated)
  record.writeUInt32BE(info.fromS, AT.from)
  record.writeUInt32BE(info.untilS, AT.until)
  record[AT.signingAlgorithm] = signingKey?.algorithm ?? 0
  record[AT.recipientAlgorithm] = recipientKey.algorithm
  record.writeUInt16BE(flags, AT.flags)
  return record
}

/** Undoes `packRecord`; the info has views of the record. */
export function unpackRecord(record: Buffer): CertificateInfo {
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
