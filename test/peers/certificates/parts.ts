/** What the usual certificate is made of. */
import { concat, u32 } from '../../support/openpgp-bytes.ts'
import {
  type SelfSignature,
  boundSubkey,
  keyOver,
  keyPacket,
  subkeyPacket,
  userId,
} from '../../support/openpgp-certificate.ts'
import { packet } from '../../support/openpgp-framing.ts'
import type { SigningKey } from '../../support/openpgp-key.ts'
import {
  HASH,
  type HashName,
  TYPE,
  keyFlags,
  preferredCiphers,
  signature,
} from '../../support/openpgp-signature.ts'
import { DAY_S, MADE_MS, NAME, primary, subkey } from '../shape.ts'

export const key = keyPacket(primary)
export const id = userId(primary, NAME)
export const binding = boundSubkey(primary, subkey)
export const HOUR_MS = 3_600_000
/** A key ends so many seconds after it was made: before anybody reads, and long after. */
export const ENDED = 400 * DAY_S
export const LASTS = 50 * 365 * DAY_S
export const HASHES = Object.keys(HASH) as HashName[]

export type Entry = [name: string, certificate: Buffer, signer?: SigningKey]

export const many = (count: number, make: (index: number) => Buffer): Buffer =>
  concat(...Array.from({ length: count }, (_, index) => make(index)))

/** A self-signature without its user id. */
export const certification = (options: SelfSignature & { name?: string } = {}): Buffer =>
  userId(primary, options.name ?? NAME, options).subarray(
    packet(13, Buffer.from(options.name ?? NAME)).length,
  )
export const bindingOf = (options: SelfSignature = {}): Buffer =>
  boundSubkey(primary, subkey, options).subarray(subkeyPacket(subkey).length)

/** The usual certificate with other parts between its key and its subkey, or behind it. */
export const keyed = (...parts: Buffer[]): Buffer => concat(key, ...parts, binding)
export const behind = (...parts: Buffer[]): Buffer => concat(key, id, binding, ...parts)

interface Named {
  signer?: SigningKey
  type?: number
  hashed?: Buffer[]
  unhashed?: Buffer[]
}

/** A user id of any bytes, with a self-signature that has these subpackets alone. */
export function named(name: string | Uint8Array = NAME, options: Named = {}): Buffer {
  const { signer = primary, hashed = [keyFlags(3), preferredCiphers(9, 8, 7)] } = options
  const bytes = Buffer.from(name)
  const over = concat(keyOver(signer), 0xb4, u32(bytes.length), bytes)
  const usually = { signer, over, type: TYPE.certification, atMs: MADE_MS }
  return concat(packet(13, bytes), signature({ ...usually, ...options, hashed }))
}
