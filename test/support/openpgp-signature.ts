/** Signature packets of version 4 (RFC 9580, 5.2.3), with anything in them that a test wants. */
import { createHash } from 'node:crypto'
import { packet } from './openpgp-framing.ts'
import { concat, u16, u32 } from './openpgp-bytes.ts'

/** Hash algorithms by number (RFC 9580, 9.5). */
export const HASH = {
  md5: 1,
  sha1: 2,
  sha224: 11,
  sha256: 8,
  sha384: 9,
  sha512: 10,
  'sha3-256': 12,
  'sha3-512': 14,
} as const
export type HashName = keyof typeof HASH

/** Signature types (RFC 9580, 5.2.1). */
export const TYPE = {
  binary: 0x00,
  text: 0x01,
  standalone: 0x02,
  certification: 0x13,
  subkeyBinding: 0x18,
  primaryBinding: 0x19,
  directKey: 0x1f,
  keyRevocation: 0x20,
  subkeyRevocation: 0x28,
  certificationRevocation: 0x30,
  timestamp: 0x40,
} as const

/** Something that makes signatures. */
export interface Signer {
  algorithm: number
  /** 40 lower-case hexadecimal characters. */
  fingerprint: string
  /** Signs the hash of a message; gives the signature's own numbers as they stand in the packet. */
  sign(message: Buffer, hash: HashName): Buffer
}

/** One subpacket (RFC 9580, 5.2.3.7). */
export function subpacket(kind: number, body: Uint8Array, critical = false): Buffer {
  const length = body.length + 1
  const header =
    length < 192
      ? concat(length)
      : length < 8384
        ? u16(length - 192 + (192 << 8))
        : concat(255, u32(length))
  return concat(header, kind | (critical ? 0x80 : 0), body)
}

export const created = (atMs: number): Buffer => subpacket(2, u32(Math.floor(atMs / 1000)))
export const expiresAfter = (seconds: number): Buffer => subpacket(3, u32(seconds))
export const keyExpiresAfter = (seconds: number): Buffer => subpacket(9, u32(seconds))
export const issuer = (fingerprint: string): Buffer => subpacket(16, concat(fingerprint.slice(-16)))
export const issuerFingerprint = (fingerprint: string): Buffer =>
  subpacket(33, concat(fingerprint.length === 64 ? 6 : 4, fingerprint))
export const intendedRecipient = (fingerprint: string, critical = false): Buffer =>
  subpacket(35, concat(fingerprint.length === 64 ? 6 : 4, fingerprint), critical)
export const keyFlags = (flags: number): Buffer => subpacket(27, concat(flags))
export const preferredCiphers = (...ids: number[]): Buffer => subpacket(11, concat(...ids))
export const reason = (code: number): Buffer => subpacket(29, concat(code, Buffer.from('because')))
export const notation = (name: string, value: string, critical = false): Buffer =>
  subpacket(
    20,
    concat('80000000', u16(name.length), u16(value.length), Buffer.from(name), Buffer.from(value)),
    critical,
  )
export const embedded = (signaturePacket: Buffer): Buffer => subpacket(32, signaturePacket)

export interface SignatureOptions {
  signer: Signer
  /** What is signed, as it is hashed before the hashed part (RFC 9580, 5.2.4). */
  over: Uint8Array
  type?: number
  hash?: HashName
  atMs: number
  /** Further hashed subpackets, after the creation time. */
  hashed?: Buffer[]
  /** Instead of issuer fingerprint and key id. */
  unhashed?: Buffer[]
  /** Leaves the creation time out of the hashed area. */
  undated?: boolean
  /** Stands in for what the signer makes. */
  numbers?: Buffer
}

/** The body of a signature packet. */
export function signatureBody(options: SignatureOptions): Buffer {
  const { signer, over, type = TYPE.binary, hash = 'sha256', atMs } = options
  const hashedArea = concat(
    ...(options.undated === true ? [] : [created(atMs)]),
    ...(options.hashed ?? []),
  )
  const unhashed = options.unhashed ?? [
    issuerFingerprint(signer.fingerprint),
    issuer(signer.fingerprint),
  ]
  const unhashedArea = concat(...unhashed)
  const hashedPart = concat(
    4,
    type,
    signer.algorithm,
    HASH[hash],
    u16(hashedArea.length),
    hashedArea,
  )
  const message = concat(over, hashedPart, 4, 255, u32(hashedPart.length))
  return concat(
    hashedPart,
    u16(unhashedArea.length),
    unhashedArea,
    createHash(hash).update(message).digest().subarray(0, 2),
    options.numbers ?? signer.sign(message, hash),
  )
}

export const signature = (options: SignatureOptions): Buffer => packet(2, signatureBody(options))

/** A one-pass signature packet, version 3 (RFC 9580, 5.4). */
export function onePass(options: {
  signer: Signer
  type?: number
  hash?: HashName
  last?: boolean
}): Buffer {
  const { signer, type = TYPE.binary, hash = 'sha256', last = true } = options
  const keyId = signer.fingerprint.slice(-16)
  return packet(4, concat(3, type, HASH[hash], signer.algorithm, keyId, last ? 1 : 0))
}
