/** What a certificate's owner states of it: user ids, flags, ends, subkeys (RFC 9580, 5.2.1). */
import { enums, type PublicKey, type SignaturePacket, type Subkey } from 'openpgp'

/** The library has these, its types do not. */
type StatedKey = PublicKey & { directSignatures: SignaturePacket[] }
type NamedUser = PublicKey['users'][number]

/** The library's way to ask without a date: a statement counts from its own date on. */
const ANY_DATE = null as unknown as Date

/**
 * Puts the owner's statements on another copy of a certificate onto this one: all of a user id or
 * subkey that both have, and a user id or subkey that this one lacks where it was stated later than
 * everything here. What the owner left out later stays out.
 * @returns whether there were any
 */
export async function carrySelfSignatures(to: PublicKey, from: PublicKey): Promise<boolean> {
  const newestMs = Math.max(...(await ownStatements(to)).map(timeOf), 0)
  const carried = [carryDirect(to as StatedKey, await ownDirect(from as StatedKey))]
  for (const user of from.users) carried.push(await carryUser(to, user, newestMs))
  for (const subkey of from.subkeys) carried.push(await carrySubkey(to, subkey, newestMs))
  return carried.includes(true)
}

function carryDirect({ directSignatures }: StatedKey, own: SignaturePacket[]): boolean {
  return add(directSignatures, own)
}

async function carryUser(to: PublicKey, user: NamedUser, newestMs: number): Promise<boolean> {
  const [own, revoked] = [await ownOf(to, user), await ownRevocationsOf(to, user)]
  const same = to.users.find((one) => nameOf(one) === nameOf(user))
  if (same !== undefined) {
    const added = [add(same.selfCertifications, own), add(same.revocationSignatures, revoked)]
    return added.includes(true)
  }
  if (!own.some((one) => timeOf(one) > newestMs)) return false
  const selfCertifications = own
  const stated = { selfCertifications, revocationSignatures: revoked, otherCertifications: [] }
  to.users.push(copyOf(user, stated))
  return true
}

async function carrySubkey(to: PublicKey, subkey: Subkey, newestMs: number): Promise<boolean> {
  const own = await ownBindings(to, subkey)
  const same = to.subkeys.find((one) => one.getFingerprint() === subkey.getFingerprint())
  if (same !== undefined) return add(same.bindingSignatures, own)
  if (!own.some((one) => timeOf(one) > newestMs)) return false
  to.subkeys.push(copyOf(subkey, { bindingSignatures: own }))
  return true
}

async function ownStatements(key: PublicKey): Promise<SignaturePacket[]> {
  const all = [
    ownDirect(key as StatedKey),
    ...key.users.map((user) => ownOf(key, user)),
    ...key.subkeys.map((subkey) => ownBindings(key, subkey)),
  ]
  return (await Promise.all(all)).flat()
}

const ownDirect = ({ keyPacket, directSignatures }: StatedKey): Promise<SignaturePacket[]> =>
  verified(directSignatures, keyPacket, enums.signature.key, { key: keyPacket })

const ownOf = ({ keyPacket }: PublicKey, user: NamedUser): Promise<SignaturePacket[]> =>
  verified(user.selfCertifications, keyPacket, enums.signature.certGeneric, {
    ...namedBy(user),
    key: keyPacket,
  })

const ownRevocationsOf = ({ keyPacket }: PublicKey, user: NamedUser): Promise<SignaturePacket[]> =>
  verified(user.revocationSignatures, keyPacket, enums.signature.certRevocation, {
    ...namedBy(user),
    key: keyPacket,
  })

const ownBindings = ({ keyPacket }: PublicKey, subkey: Subkey): Promise<SignaturePacket[]> =>
  verified(subkey.bindingSignatures, keyPacket, enums.signature.subkeyBinding, {
    key: keyPacket,
    bind: subkey.keyPacket,
  })

async function verified(
  signatures: readonly SignaturePacket[],
  primary: PublicKey['keyPacket'],
  type: enums.signature,
  data: object,
): Promise<SignaturePacket[]> {
  const own: SignaturePacket[] = []
  for (const signature of signatures) {
    const holds = signature.verify(primary, type, data, ANY_DATE, false)
    if (await holds.then(() => true).catch(() => false)) own.push(signature)
  }
  return own
}

const copyOf = <T extends object>(part: T, over: Partial<T>): T =>
  Object.assign(Object.create(Object.getPrototypeOf(part) as object) as T, part, over)

const namedBy = ({ userID, userAttribute }: NamedUser): object => ({ userID, userAttribute })

const timeOf = ({ created }: SignaturePacket): number => created?.getTime() ?? 0

const nameOf = ({ userID, userAttribute }: NamedUser): string =>
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
