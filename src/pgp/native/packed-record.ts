/** A certificate's facts as 124 bytes: what is kept of each, instead of its text or an object. */
import { ALGORITHM } from '../crypto/public-key.ts'
import type { CertificateFacts } from './certificate-info.ts'

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
export function writeRecord(
  target: Buffer,
  at: number,
  { digest, facts }: { digest: Uint8Array; facts: CertificateFacts },
): void {
  const { sealing, signing } = facts
  const flags =
    (sealing.algorithm === ALGORITHM.x25519 ? FLAG.sealingIsX25519 : 0) |
    (signing === null ? 0 : FLAG.signs) |
    (signing?.algorithm === ALGORITHM.ed25519 ? FLAG.signingIsEd25519 : 0) |
    (facts.primarySigns ? FLAG.primarySigns : 0) |
    (facts.hasNoOtherKey ? FLAG.hasNoOtherKey : 0) |
    (facts.readsAes256 ? FLAG.readsAes256 : 0)
  target.fill(0, at, at + RECORD_BYTES)
  target.set(digest, at)
  target.set(facts.fingerprint, at + AT.fingerprint)
  if (signing !== null) target.set(signing.point, at + AT.signingPoint)
  target.set(sealing.point, at + AT.sealingPoint)
  target.writeUInt32BE(signing?.createdS ?? 0, at + AT.signingCreated)
  target.writeUInt32BE(sealing.createdS, at + AT.sealingCreated)
  target.writeUInt32BE(facts.fromS, at + AT.from)
  target.writeUInt32BE(facts.untilS, at + AT.until)
  target.writeUInt32BE(flags, at + AT.flags)
}

/** A record by itself, without a digest. */
export function recordOf(facts: CertificateFacts): Uint8Array {
  const record = Buffer.alloc(RECORD_BYTES)
  writeRecord(record, 0, { digest: NO_DIGEST, facts })
  return new Uint8Array(record)
}

const NO_DIGEST = Buffer.alloc(DIGEST_BYTES)

/** Reads the record at `at`; its bytes are copied, since a record may be replaced. */
export function readRecord(source: Buffer, at: number): CertificateFacts {
  const record = Buffer.from(source.subarray(at, at + RECORD_BYTES))
  const flags = record.readUInt32BE(AT.flags)
  const has = (flag: number): boolean => (flags & flag) !== 0
  const point = (start: number): Buffer => record.subarray(start, start + 32)
  return {
    fingerprint: record.subarray(AT.fingerprint, AT.fingerprint + 20),
    sealing: {
      algorithm: has(FLAG.sealingIsX25519) ? ALGORITHM.x25519 : ALGORITHM.ecdh,
      createdS: record.readUInt32BE(AT.sealingCreated),
      point: point(AT.sealingPoint),
    },
    signing: has(FLAG.signs)
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
