/**
 * The statements of a certificate's owner (RFC 9580, 5.2.1): user ids, flags, ends, subkeys, and
 * revocations. Their signatures are verified here once; `owner-terms.ts` decides which of them count.
 */
import { enums } from 'openpgp'
import type { AnyKeyPacket, PublicKey, SignaturePacket, Subkey } from 'openpgp'
import { isMadeBy, markAccepted, weaknessOf } from './signature.ts'
import type { WholePublicKey } from './key-cache.ts'

export type NamedUser = PublicKey['users'][number]

/** The signatures by a certificate's own key on one of its parts. */
export interface Stated<Part> {
  part: Part
  own: SignaturePacket[]
  revoked: SignaturePacket[]
}
export interface Statements {
  /** Over the whole key. */
  primary: Stated<PublicKey>
  users: Stated<NamedUser>[]
  subkeys: Stated<Subkey>[]
  /** Bindings in which a subkey that may sign consents (RFC 9580, 5.2.1.9). */
  consents: ReadonlySet<SignaturePacket>
}

const { signature } = enums
const known = new WeakMap<PublicKey, Promise<Statements>>()

/** The statements of a certificate's owner; read once for each parsed certificate. */
export function statementsOf(key: PublicKey): Promise<Statements> {
  const read = known.get(key) ?? readStatements(key)
  known.set(key, read)
  return read
}

async function readStatements(key: PublicKey): Promise<Statements> {
  const by = key.keyPacket
  const ownOf = async (all: readonly SignaturePacket[], type: enums.signature, over = {}) => {
    const own = await madeOver(all, by, { type, data: { ...over, key: by } })
    markAccepted(key.getFingerprint(), own)
    return own
  }
  const users = key.users.map(async (part) => ({
    part,
    own: await ownOf(part.selfCertifications, signature.certGeneric, namedBy(part)),
    revoked: await ownOf(part.revocationSignatures, signature.certRevocation, namedBy(part)),
  }))
  const subkeys = key.subkeys.map(async (part) => {
    const over = { bind: part.keyPacket }
    const own = await ownOf(part.bindingSignatures, signature.subkeyBinding, over)
    const revoked = await ownOf(part.revocationSignatures, signature.subkeyRevocation, over)
    return { part, own, revoked }
  })
  const bound = await Promise.all(subkeys)
  return {
    primary: {
      part: key,
      own: await ownOf((key as WholePublicKey).directSignatures, signature.key),
      revoked: await ownOf(key.revocationSignatures, signature.keyRevocation),
    },
    users: await Promise.all(users),
    subkeys: bound,
    consents: new Set((await Promise.all(bound.map((one) => consentsIn(one, by)))).flat()),
  }
}

async function consentsIn(
  { part, own }: Stated<Subkey>,
  key: AnyKeyPacket,
): Promise<SignaturePacket[]> {
  const bind = part.keyPacket
  const consenting = own.map(async (binding) => {
    const { embeddedSignature } = binding
    const o = { type: signature.keyBinding, data: { key, bind } }
    if (embeddedSignature === null || weaknessOf(embeddedSignature) !== null) return []
    return (await isMadeBy(embeddedSignature, bind, o)) ? [binding] : []
  })
  return (await Promise.all(consenting)).flat()
}

/** Those signatures that a key made over something. */
export async function madeOver(
  all: readonly SignaturePacket[],
  by: AnyKeyPacket,
  o: { type: enums.signature; data: object },
): Promise<SignaturePacket[]> {
  const made = await Promise.all(all.map((one) => isMadeBy(one, by, o)))
  return all.filter((_, index) => made[index])
}

export const namedBy = ({ userID, userAttribute }: NamedUser): object => ({ userID, userAttribute })

export const nameOf = ({ userID, userAttribute }: NamedUser): string =>
  Buffer.from((userID ?? userAttribute)?.write() ?? []).toString('base64')

export const partsOf = ({ primary, users, subkeys }: Statements): Stated<unknown>[] => [
  primary,
  ...users,
  ...subkeys,
]
