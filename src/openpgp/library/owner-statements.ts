/**
 * The statements of a certificate's owner (RFC 9580, 5.2.1): user ids, flags, expiry, subkeys, and
 * revocations, which are valid with any date and with any weak hash.
 */
import { config, enums, type PublicKey, type SignaturePacket, type Subkey } from 'openpgp'
import { isComposite } from './composite.ts'
import type { WholePublicKey } from './key-cache.ts'

export type NamedUser = PublicKey['users'][number]

/**
 * The library's way to ask without a date: a statement counts from its own date on, and whose clock
 * is ahead of ours has revoked all the same.
 */
const ANY_DATE = null as unknown as Date
/** Reasons that leave earlier signatures valid (RFC 9580, 5.2.3.31). */
const SOFT = new Set<enums.reasonForRevocation | null>([
  enums.reasonForRevocation.keySuperseded,
  enums.reasonForRevocation.keyRetired,
])

/**
 * Puts the owner's statements on another copy of a certificate onto this one: all of a user id or
 * subkey that both have, and a user id or subkey that this one lacks where it was stated later than
 * everything here. Statements that the owner left out later stay out.
 * @returns whether there were any
 */
export async function carrySelfSignatures(to: PublicKey, from: PublicKey): Promise<boolean> {
  const newestMs = Math.max(...(await ownStatements(to)).map(timeOf), 0)
  const direct = await ownDirect(from as WholePublicKey)
  const carried = [add((to as WholePublicKey).directSignatures, direct)]
  for (const user of from.users) carried.push(await carryUser(to, user, newestMs))
  for (const subkey of from.subkeys) carried.push(await carrySubkey(to, subkey, newestMs))
  return carried.includes(true)
}

async function carryUser(to: PublicKey, user: NamedUser, newestMs: number): Promise<boolean> {
  const [own, revoked] = [await ownOf(to, user), await ownRevocationsOf(to, user)]
  const same = to.users.find((one) => nameOf(one) === nameOf(user))
  if (same !== undefined) {
    const added = [add(same.selfCertifications, own), add(same.revocationSignatures, revoked)]
    return added.includes(true)
  }
  if (!own.some((one) => timeOf(one) > newestMs)) return false
  const stated = { selfCertifications: own, revocationSignatures: revoked, otherCertifications: [] }
  to.users.push(copyOf(user, stated))
  return true
}

async function carrySubkey(to: PublicKey, subkey: Subkey, newestMs: number): Promise<boolean> {
  const own = await ownBindings(to, subkey)
  const same = to.subkeys.find((one) => one.getFingerprint() === subkey.getFingerprint())
  if (same !== undefined) return add(same.bindingSignatures, own)
  // Without such a subkey words are weaker sealed: its owner revokes it, and nobody else omits it.
  if (!own.some((one) => timeOf(one) > newestMs || isComposite(subkey))) return false
  to.subkeys.push(copyOf(subkey, { bindingSignatures: own }))
  return true
}

async function ownStatements(key: PublicKey): Promise<SignaturePacket[]> {
  const all = [
    ownDirect(key as WholePublicKey),
    ...key.users.map((user) => ownOf(key, user)),
    ...key.subkeys.map((subkey) => ownBindings(key, subkey)),
  ]
  return (await Promise.all(all)).flat()
}

const ownDirect = ({ keyPacket, directSignatures }: WholePublicKey): Promise<SignaturePacket[]> =>
  verified(directSignatures, keyPacket, enums.signature.key)

export const ownOf = ({ keyPacket }: PublicKey, user: NamedUser): Promise<SignaturePacket[]> =>
  verified(user.selfCertifications, keyPacket, enums.signature.certGeneric, namedBy(user))

export const ownRevocationsOf = (
  { keyPacket }: PublicKey,
  user: NamedUser,
): Promise<SignaturePacket[]> =>
  verified(user.revocationSignatures, keyPacket, enums.signature.certRevocation, namedBy(user))

const ownBindings = ({ keyPacket }: PublicKey, subkey: Subkey): Promise<SignaturePacket[]> =>
  verified(subkey.bindingSignatures, keyPacket, enums.signature.subkeyBinding, {
    bind: subkey.keyPacket,
  })

/**
 * @param over what they are made over beside the primary key
 * @param o `by` who made them, when not the primary key itself
 */
export async function verified(
  signatures: readonly SignaturePacket[],
  primary: PublicKey['keyPacket'],
  type: enums.signature,
  over: object = {},
  { settings = config, by = primary } = {},
): Promise<SignaturePacket[]> {
  const own = signatures.map(async (one) => {
    const data = { ...over, key: primary }
    const holds = one.verify(by, type, data, ANY_DATE, false, settings)
    return await holds.then(() => [one]).catch(() => [])
  })
  return (await Promise.all(own)).flat()
}

const copyOf = <T extends object>(part: T, over: Partial<T>): T =>
  Object.assign(Object.create(Object.getPrototypeOf(part) as object) as T, part, over)

export const namedBy = ({ userID, userAttribute }: NamedUser): object => ({ userID, userAttribute })

export const timeOf = ({ created }: SignaturePacket): number => created?.getTime() ?? 0

export const nameOf = ({ userID, userAttribute }: NamedUser): string =>
  Buffer.from((userID ?? userAttribute)?.write() ?? []).toString('base64')

/** @returns whether any of them was not there */
function add(there: SignaturePacket[], others: SignaturePacket[]): boolean {
  const known = new Set(there.map(base64Of))
  const missing = others.filter((one) => !known.has(base64Of(one)))
  there.push(...missing)
  return missing.length > 0
}

const base64Of = (signature: SignaturePacket): string =>
  Buffer.from(signature.write()).toString('base64')

/** Gives the owner's revocations of a certificate's primary key or of one of its subkeys. */
export async function ownRevocations(
  key: PublicKey,
  part: PublicKey | Subkey,
): Promise<SignaturePacket[]> {
  const primary = key.keyPacket
  const isPrimary = part.keyPacket === primary
  const type = isPrimary ? enums.signature.keyRevocation : enums.signature.subkeyRevocation
  const over = isPrimary ? {} : { bind: part.keyPacket }
  return await verified(part.revocationSignatures, primary, type, over)
}

/**
 * Copies the owner's revocations from an earlier copy of a certificate to another copy, and nothing
 * else: the library's own merging also copies signatures of third parties, and omits a true
 * revocation where a forged one is present.
 * @returns whether there were any
 */
export async function carryRevocations(to: PublicKey, earlier: PublicKey): Promise<boolean> {
  let carried = false
  for (const part of [earlier, ...earlier.subkeys]) {
    const own = await ownRevocations(earlier, part)
    if (own.length === 0) continue
    carried = true
    const parts = [to, ...to.subkeys]
    const same = parts.find((one) => one.getFingerprint() === part.getFingerprint())
    if (same !== undefined) {
      same.revocationSignatures = await ownRevocations(to, same)
      add(same.revocationSignatures, own)
    } else to.subkeys.push(part as Subkey)
  }
  return carried
}

/**
 * From when on a key's or subkey's signatures do not count, in ms since epoch: Infinity when it was
 * never revoked, and from ever when the reason casts doubt on everything.
 */
export async function revokedFromMs(key: PublicKey, part: PublicKey | Subkey): Promise<number> {
  const own = await ownRevocations(key, part)
  const isSoft = (one: SignaturePacket) => SOFT.has(one.reasonForRevocationFlag)
  return Math.min(...own.map((one) => (isSoft(one) ? timeOf(one) : -Infinity)), Infinity)
}
