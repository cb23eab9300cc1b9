/** One signature packet: who made it, whether it counts, and when. */
import { config, enums, type AnyKeyPacket, type SignaturePacket } from 'openpgp'

const { hash, publicKey, signature } = enums
const WEAK = new Set<enums.hash | null>([hash.md5, hash.sha1, hash.ripemd])
const REVOCATIONS: ReadonlySet<enums.signature | null> = new Set([
  signature.keyRevocation,
  signature.subkeyRevocation,
  signature.certRevocation,
])
/** The shortest digests that these keys may sign (RFC 9580, 5.2.3.3 to 5.2.3.5), as hashes that are shorter. */
const TOO_SHORT: Readonly<Record<number, ReadonlySet<enums.hash | null>>> = {
  [publicKey.eddsaLegacy]: new Set([hash.sha224]),
  [publicKey.ed25519]: new Set([hash.sha224]),
  [publicKey.ed448]: new Set([hash.sha224, hash.sha256, hash.sha384, hash.sha3_256]),
}
const EDDSA: ReadonlySet<number> = new Set(Object.keys(TOO_SHORT).map(Number))

/** Certificates whose owner may state something over SHA-1, and what their owners stated so. */
const accepted = new Set<string>()
const acceptedStatements = new WeakSet<SignaturePacket>()

/** Sets the certificates whose statements over SHA-1 count, by fingerprint: a collision may forge one. */
export function acceptWeakHash(fingerprints: readonly string[]): void {
  for (const one of fingerprints) accepted.add(one.toLowerCase())
}

/** Marks the verified statements of a certificate's own key. */
export function markAccepted(fingerprint: string, stated: readonly SignaturePacket[]): void {
  if (!accepted.has(fingerprint)) return
  for (const one of stated) if (one.hashAlgorithm === hash.sha1) acceptedStatements.add(one)
}

/** What the library leaves out of its types. */
interface Hashing {
  hashed?: unknown
  toHash(type: enums.signature, data: object, detached?: boolean): Uint8Array
  hash(type: enums.signature, data: object, bytes: Uint8Array): Promise<Uint8Array>
}

/**
 * Whether a key made a signature: cryptography alone, under any hash, at any date, with anything
 * critical in it. What the library refuses beside that is judged by `weaknessOf`, `timeOf` and `endOf`.
 */
export async function isMadeBy(
  made: SignaturePacket,
  by: AnyKeyPacket,
  o: { type: enums.signature; data: object; isDetached?: boolean },
): Promise<boolean> {
  const { type, data, isDetached = false } = o
  const hashing = made as unknown as Hashing
  const heeded = {
    issuerKeyID: by.getKeyID(),
    unknownSubpackets: [],
    rawNotations: [],
    revocationKeyClass: null,
    // the library judges the length of a digest by the hash's number
    ...(EDDSA.has(by.algorithm) && {
      hashed: hashing.hashed ?? hashing.hash(type, data, hashing.toHash(type, data, isDetached)),
      hashAlgorithm: hash.sha512,
    }),
  }
  const copy = Object.assign(Object.create(made) as SignaturePacket, heeded)
  const none = new Set<enums.hash>()
  const settings = { ...config, rejectHashAlgorithms: none, rejectMessageHashAlgorithms: none }
  const anyDate = null as unknown as Date
  const verified = copy.verify(by, type, data, anyDate, isDetached, settings).then(() => true)
  return await verified.catch(() => false)
}

/**
 * Why a signature that its key made does not count; null where it does. A revocation counts in every
 * form: one too weak or too new for a statement that grants is no reason to use a key given up.
 * @param known names of notations that may be critical
 */
export function weaknessOf(
  made: SignaturePacket,
  known: readonly string[] = [],
): 'weak-hash' | 'unknown-critical' | null {
  const { hashAlgorithm, publicKeyAlgorithm, signatureType } = made
  if (REVOCATIONS.has(signatureType) || acceptedStatements.has(made)) return null
  const isShort = TOO_SHORT[publicKeyAlgorithm ?? 0]?.has(hashAlgorithm) === true
  if (WEAK.has(hashAlgorithm) || isShort) return 'weak-hash'
  const isUnknown =
    made.unknownSubpackets.some(({ critical }) => critical) ||
    made.rawNotations.some(({ critical, name }) => critical && !known.includes(name))
  return isUnknown ? 'unknown-critical' : null
}

/** When it was made, ms since the epoch. */
export const timeOf = ({ created }: SignaturePacket): number => created?.getTime() ?? 0

/** When it ends, ms since the epoch; Infinity for never. */
export function endOf(made: SignaturePacket): number {
  const end = made.getExpirationTime()
  return end instanceof Date ? end.getTime() : Infinity
}
