/** A certificate's info as 124 bytes: what is kept of each, instead of its text or an object. */
import { ALGORITHM } from '../crypto/public-key.ts'
import type { CertificateInfo } from './certificate-info.ts'

/**
 * Bytes of the digest that a record is found by, of SHA-256's 32: as many as a fingerprint has,
 * on which all trust in a certificate rests anyway.
 */
export const DIGEST_BYTES = 20
export const RECORD_BYTES = 124

const AT = {
  fingerprint: 20,
  signingPoint: 40,
  sealingPoint: 72,
  signingCreated: 104,
  sealingCreated: 108,
  from: 112,
  until: 116,
  flags: 120,
} as const

const FLAG = {
  sealingIsX25519: 1,
  signs: 2,
  signingIsEd25519: 4,
  primarySigns: 8,
  hasNoOtherKey: 16,
  readsAes256: 32,
} as const

/** Writes a record at `at`; `digest` is of `DIGEST_BYTES`. */
export function packRecordInto(
  target: Buffer,
  at: number,
  { digest, info }: { digest: Uint8Array; info: CertificateInfo },
): void {
  const { recipientKey, signingKey } = info
  const flags =
    (recipientKey.algorithm === ALGORITHM.x25519 ? FLAG.sealingIsX25519 : 0) |
    (signingKey === null ? 0 : FLAG.signs) |
    (signingKey?.algorithm === ALGORITHM.ed25519 ? FLAG.signingIsEd25519 : 0) |
    (info.primarySigns ? FLAG.primarySigns : 0) |
    (info.hasNoOtherKey ? FLAG.hasNoOtherKey : 0) |
    (info.readsAes256 ? FLAG.readsAes256 : 0)
  target.fill(0, at, at + RECORD_BYTES)
  target.set(digest, at)
  target.set(info.fingerprint, at + AT.fingerprint)
  if (signingKey !== null) target.set(signingKey.point, at + AT.signingPoint)
  target.set(recipientKey.point, at + AT.sealingPoint)
  target.writeUInt32BE(signingKey?.createdS ?? 0, at + AT.signingCreated)
  target.writeUInt32BE(recipientKey.createdS, at + AT.sealingCreated)
  target.writeUInt32BE(info.fromS, at + AT.from)
  target.writeUInt32BE(info.untilS, at + AT.until)
  target.writeUInt32BE(flags, at + AT.flags)
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
  const flags = record.readUInt32BE(AT.flags)
  const has = (flag: number): boolean => (flags & flag) !== 0
  const point = (start: number): Buffer => record.subarray(start, start + 32)
  return {
    fingerprint: record.subarray(AT.fingerprint, AT.fingerprint + 20),
    recipientKey: {
      algorithm: has(FLAG.sealingIsX25519) ? ALGORITHM.x25519 : ALGORITHM.ecdh,
      createdS: record.readUInt32BE(AT.sealingCreated),
      point: point(AT.sealingPoint),
    },
    signingKey: has(FLAG.signs)
      ? {
          algorithm: has(FLAG.signingIsEd25519) ? ALGORITHM.ed25519 : ALGORITHM.eddsaLegacy,
          createdS: record.readUInt32BE(AT.signingCreated),
          point: point(AT.signingPoint),
        }
      : null,
    primarySigns: has(FLAG.primarySigns),
    hasNoOtherKey: has(FLAG.hasNoOtherKey),
    readsAes256: has(FLAG.readsAes256),
    fromS: record.readUInt32BE(AT.from),
    untilS: record.readUInt32BE(AT.until),
  }
}
