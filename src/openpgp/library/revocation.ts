/** Revocations: those that a certificate's owner made, of whatever date and however weak a hash. */
import { config, enums, type PublicKey, type SignaturePacket, type Subkey } from 'openpgp'

/** A hash too weak for a statement is no reason to disregard that a key was given up. */
const ANY_HASH = { ...config, rejectHashAlgorithms: new Set<enums.hash>() }
/** The library's way to ask without a date: whose clock is ahead of ours has revoked all the same. */
const ANY_DATE = null as unknown as Date
/** Reasons that leave what was signed before (RFC 9580, 5.2.3.31). */
const SOFT = new Set<enums.reasonForRevocation | null>([
  enums.reasonForRevocation.keySuperseded,
  enums.reasonForRevocation.keyRetired,
])

/** Takes a certificate and its primary key or one of its subkeys: gives the owner's revocations. */
export async function ownRevocations(
  key: PublicKey,
  part: PublicKey | Subkey,
): Promise<SignaturePacket[]> {
  const primary = key.keyPacket
  const isPrimary = part.keyPacket === primary
  const type = isPrimary ? enums.signature.keyRevocation : enums.signature.subkeyRevocation
  const data = isPrimary ? { key: primary } : { key: primary, bind: part.keyPacket }
  const own: SignaturePacket[] = []
  for (const revocation of part.revocationSignatures) {
    try {
      await revocation.verify(primary, type, data, ANY_DATE, false, ANY_HASH)
      own.push(revocation)
    } catch {
      continue
    }
  }
  return own
}

/**
 * Puts the owner's revocations on an earlier copy of a certificate onto another copy, and nothing
 * else: the library's own merging takes in what anybody added, and leaves out a true revocation
 * where a forged one stands already.
 * @returns whether there were any
 */
export async function carryRevocations(to: PublicKey, earlier: PublicKey): Promise<boolean> {
  const primary = await ownRevocations(earlier, earlier)
  to.revocationSignatures = union(await ownRevocations(to, to), primary)
  let carried = primary.length > 0
  for (const subkey of earlier.subkeys) {
    const own = await ownRevocations(earlier, subkey)
    if (own.length === 0) continue
    carried = true
    const same = to.subkeys.find((one) => one.getFingerprint() === subkey.getFingerprint())
    if (same === undefined) to.subkeys.push(subkey)
    else same.revocationSignatures = union(await ownRevocations(to, same), own)
  }
  return carried
}

/**
 * From when on a key's or subkey's signatures do not count, in ms since epoch: Infinity when it was
 * never revoked, and from ever when the reason casts doubt on everything.
 */
export async function revokedFromMs(key: PublicKey, part: PublicKey | Subkey): Promise<number> {
  const own = await ownRevocations(key, part)
  return Math.min(
    ...own.map(({ reasonForRevocationFlag, created }) =>
      SOFT.has(reasonForRevocationFlag) ? (created?.getTime() ?? -Infinity) : -Infinity,
    ),
    Infinity,
  )
}

function union(some: SignaturePacket[], others: SignaturePacket[]): SignaturePacket[] {
  const digests = new Set(some.map(base64Of))
  return [...some, ...others.filter((one) => !digests.has(base64Of(one)))]
}

const base64Of = (signature: SignaturePacket): string =>
  Buffer.from(signature.write()).toString('base64')
