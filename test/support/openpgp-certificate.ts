/** Certificates of version 4 (RFC 9580, 10.1), put together packet by packet. */
import { armor, packet } from './openpgp-framing.ts'
import { concat, seeded, u16, u32 } from './openpgp-bytes.ts'
import type { EncryptionKey, PacketKey, SigningKey } from './openpgp-key.ts'
import {
  TYPE,
  embedded,
  keyFlags,
  preferredCiphers,
  reason,
  signature,
} from './openpgp-signature.ts'
import type { HashName, SignatureOptions } from './openpgp-signature.ts'

/** Key flags (RFC 9580, 5.2.3.29). */
export const FLAG = { certify: 1, sign: 2, encrypt: 0x0c } as const

export interface SelfSignature {
  atMs?: number
  hash?: HashName
  /** Further hashed subpackets. */
  hashed?: Buffer[]
  flags?: number
  /** Ciphers that a user id or direct key lists, by number; those up to AES-256 unless told. */
  ciphers?: number[]
  /** Does not say when it was made. */
  undated?: boolean
}

const AES256_FIRST = [9, 8, 7]

const listedCiphers = (ciphers: number[]): Buffer[] =>
  ciphers.length === 0 ? [] : [preferredCiphers(...ciphers)]

export const keyPacket = (key: PacketKey): Buffer => packet(6, key.body)
export const subkeyPacket = (key: PacketKey): Buffer => packet(14, key.body)
export const keyOver = (key: PacketKey): Buffer => concat(0x99, u16(key.body.length), key.body)

/** What is signed of a user id. */
const userIdOver = (primary: SigningKey, name: string): Buffer => {
  const id = Buffer.from(name)
  return concat(keyOver(primary), 0xb4, u32(id.length), id)
}

/** A user id with its self-signature. */
export function userId(primary: SigningKey, name: string, options: SelfSignature = {}): Buffer {
  const { atMs = primary.createdMs, flags = FLAG.certify | FLAG.sign, hashed = [] } = options
  const { ciphers = AES256_FIRST, undated = false, hash = 'sha256' } = options
  const all = [keyFlags(flags), ...listedCiphers(ciphers), ...hashed]
  const self = certifiedBy(primary, { primary, name }, { atMs, undated, hash, hashed: all })
  return concat(packet(13, Buffer.from(name)), self)
}

/** A revocation of a user id's self-signature; stands after the user id. */
export function userIdRevocation(primary: SigningKey, name: string, atMs: number): Buffer {
  const type = TYPE.certificationRevocation
  return certifiedBy(primary, { primary, name }, { type, atMs, hashed: [reason(32)] })
}

/** What a key states of somebody's user id; stands after it. */
export function certifiedBy(
  signer: SigningKey,
  { primary, name }: { primary: SigningKey; name: string },
  o: Partial<SignatureOptions> & { atMs: number },
): Buffer {
  const over = userIdOver(primary, name)
  return signature({ signer, over, type: TYPE.certification, ...o })
}

/** A direct-key signature, with no user id. */
export function directKey(primary: SigningKey, options: SelfSignature = {}): Buffer {
  const { atMs = primary.createdMs, flags = FLAG.certify | FLAG.sign, hashed = [] } = options
  const { ciphers = AES256_FIRST } = options
  return signature({
    signer: primary,
    over: keyOver(primary),
    type: TYPE.directKey,
    atMs,
    hashed: [keyFlags(flags), ...listedCiphers(ciphers), ...hashed],
  })
}

/** A subkey with its binding signature (RFC 9580, 5.2.1.8). */
export function boundSubkey(
  primary: SigningKey,
  subkey: PacketKey,
  options: SelfSignature = {},
): Buffer {
  const { atMs = subkey.createdMs, flags = FLAG.encrypt, hash = 'sha256' } = options
  const over = concat(keyOver(primary), keyOver(subkey))
  const hashed = [keyFlags(flags), ...(options.hashed ?? [])]
  const made = { signer: primary, over, type: TYPE.subkeyBinding, atMs, hash, hashed }
  return concat(subkeyPacket(subkey), signature(made))
}

/**
 * A signing subkey; `backSignature` false leaves out its consent (RFC 9580, 5.2.1.9), `backSigner`
 * forges it, `backOver` takes one that it gave to another primary key.
 */
export function signingSubkey(
  primary: SigningKey,
  subkey: SigningKey,
  options: {
    backSignature?: boolean
    backSigner?: SigningKey
    backOver?: SigningKey
    backHashed?: Buffer[]
    atMs?: number
    hashed?: Buffer[]
  } = {},
): Buffer {
  const { backSignature = true, backSigner = subkey, backOver = primary, backHashed = [] } = options
  const { atMs = subkey.createdMs } = options
  const back = signature({
    signer: backSigner,
    over: concat(keyOver(backOver), keyOver(subkey)),
    type: TYPE.primaryBinding,
    atMs,
    hashed: backHashed,
  })
  const body = back.subarray(back[1] !== undefined && back[1] < 192 ? 2 : 3)
  const consent = backSignature ? [embedded(body)] : []
  const hashed = [...consent, ...(options.hashed ?? [])]
  return boundSubkey(primary, subkey, { flags: FLAG.sign, atMs, hashed })
}

interface Revocation {
  atMs: number
  code?: number
  hash?: HashName
  hashed?: readonly Buffer[]
  undated?: boolean
}

function revocation(
  signer: SigningKey,
  over: Buffer,
  type: number,
  { code = 0, hashed = [], ...rest }: Revocation,
): Buffer {
  return signature({ signer, over, type, hashed: [reason(code), ...hashed], ...rest })
}

/** Revokes the primary key. Reasons (RFC 9580, 5.2.3.31): 0 none, 1 superseded, 2 compromised, 3 retired. */
export function keyRevocation(primary: SigningKey, options: Revocation): Buffer {
  return revocation(primary, keyOver(primary), TYPE.keyRevocation, options)
}

/** Revokes a subkey; stands after it. */
export function subkeyRevocation(
  primary: SigningKey,
  subkey: PacketKey,
  options: Revocation,
): Buffer {
  const over = concat(keyOver(primary), keyOver(subkey))
  return revocation(primary, over, TYPE.subkeyRevocation, options)
}

export const armoredCertificate = (...packets: Uint8Array[]): string =>
  armor(concat(...packets), { type: 'PUBLIC KEY BLOCK' })

/** The usual certificate: primary, one user id, one encryption subkey. */
export function plainCertificate(
  primary: SigningKey,
  subkey: EncryptionKey,
  name = 'Somebody',
): string {
  return armoredCertificate(keyPacket(primary), userId(primary, name), boundSubkey(primary, subkey))
}

/** Self-signatures on a user id that look right until the whole of each was verified. */
export function bogusCertifications(primary: SigningKey, name: string, count: number): Buffer {
  const over = userIdOver(primary, name)
  return concat(...bogus({ primary, type: TYPE.certification, over, count }))
}

/** Binding signatures of the same kind; they stand after the subkey. */
export function bogusBindings(primary: SigningKey, subkey: PacketKey, count: number): Buffer {
  const over = concat(keyOver(primary), keyOver(subkey))
  return concat(...bogus({ primary, type: TYPE.subkeyBinding, over, count }))
}

function bogus(o: { primary: SigningKey; type: number; over: Buffer; count: number }): Buffer[] {
  const { primary: signer, type, over } = o
  const numbers = concat(u16(255), 0x7f, seeded('r', 31), u16(255), 0x7f, seeded('s', 31))
  return Array.from({ length: o.count }, (_, index) =>
    signature({ signer, type, over, numbers, atMs: signer.createdMs + index * 1000 }),
  )
}
