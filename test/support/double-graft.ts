/** What members and services make of other people's certificates and messages. */
import { randomBytes } from 'node:crypto'
import { packetsOf } from '../../src/openpgp/format/packets.ts'
import type { ListedPerson } from './double-world.ts'
import { armoredCertificate, boundSubkey, keyPacket, userId } from './openpgp-certificate.ts'
import { armor, dearmored, packet } from './openpgp-framing.ts'
import { curve25519, ed25519, identify, type PacketKey, type SigningKey } from './openpgp-key.ts'

const PUBLIC_SUBKEY = 14

/** The subkeys of an armored certificate. */
export function subkeysOf(armored: string): PacketKey[] {
  return [...packetsOf(dearmored(armored))]
    .filter(({ tag }) => tag === PUBLIC_SUBKEY)
    .map(({ body }) => Buffer.from(body))
    .map((body) => identify(body, body.readUInt32BE(1) * 1000))
}

/** A certificate of this primary key that lists a subkey as its own encryption subkey. */
export function graft(primary: SigningKey, ...subkeys: PacketKey[]): string {
  const bindings = subkeys.map((subkey) => {
    return boundSubkey(primary, subkey, { atMs: Math.max(subkey.createdMs, primary.createdMs) })
  })
  return armoredCertificate(keyPacket(primary), userId(primary, 'grafted'), ...bindings)
}

/**
 * A certificate under a primary key of its own that lists somebody's encryption subkey: to bind one
 * takes nothing but the primary key, which proves no right to it (RFC 9580, 5.2.1.8).
 * @param hasOwn with a subkey of its own beside it, which comes first
 */
export function graftedKey(
  from: string,
  { hasOwn = false }: { hasOwn?: boolean } = {},
): NonNullable<ListedPerson['key']> {
  const [subkey] = subkeysOf(from)
  if (subkey === undefined) throw new Error('nothing to graft')
  const label = (): string => randomBytes(8).toString('hex')
  const primary = ed25519(label(), subkey.createdMs)
  const own = hasOwn ? [curve25519(label(), subkey.createdMs)] : []
  return { certificate: graft(primary, ...own, subkey), fingerprint: primary.fingerprint }
}

const ANONYMOUS = Buffer.alloc(8)

/**
 * The same message with other recipient packets, which nothing protects.
 * @param o `without` certificates whose packet is taken away; `to` a certificate that a made-up one
 *   names, or nobody
 */
export function readdressed(
  armored: string,
  { without = [], to }: { without?: string[]; to?: string | 'nobody' },
): string {
  const gone = without.flatMap(subkeysOf).map(({ keyId }) => keyId)
  const kept = [...packetsOf(dearmored(armored))].filter(
    ({ tag, body }) => tag !== 1 || !gone.includes(Buffer.from(body).toString('hex', 1, 9)),
  )
  const [subkey] = to === undefined || to === 'nobody' ? [] : subkeysOf(to)
  const named = subkey === undefined ? ANONYMOUS : Buffer.from(subkey.keyId, 'hex')
  const made = Buffer.concat([Buffer.from([3]), named, Buffer.from([18]), randomBytes(60)])
  const added = to === undefined ? [] : [packet(1, made)]
  return armor(Buffer.concat([...added, ...kept.map(({ tag, body }) => packet(tag, body))]))
}
