/** Encrypted messages packet by packet (RFC 9580, 5.1 and 5.13), on node:crypto alone. */
import { createCipheriv, createHash, hkdfSync, type CipherGCM } from 'node:crypto'
import { packet } from './openpgp-framing.ts'
import { concat, mpi, seeded, u16, u32 } from './openpgp-bytes.ts'
import { shared, type EncryptionKey } from './openpgp-key.ts'

export type CipherId = 2 | 7 | 8 | 9 | 11 | 12 | 13

export interface SessionKey {
  /** 2 Triple-DES, 7 to 9 AES, 11 to 13 Camellia (RFC 9580, 9.3). */
  cipher: CipherId
  data: Buffer
}

const KEY_OCTETS = { 2: 24, 7: 16, 8: 24, 9: 32, 11: 16, 12: 24, 13: 32 } as const
const blockOctets = (cipher: number): number => (cipher === 2 ? 8 : 16)
const CFB = {
  2: 'des-ede3-cfb',
  7: 'aes-128-cfb',
  8: 'aes-192-cfb',
  9: 'aes-256-cfb',
  11: 'camellia-128-cfb',
  12: 'camellia-192-cfb',
  13: 'camellia-256-cfb',
} as const

export function sessionKey(label: string, cipher: SessionKey['cipher'] = 9): SessionKey {
  return { cipher, data: seeded(`session key ${label}`, KEY_OCTETS[cipher]) }
}

/** Body of a version 3 recipient packet, with a session key padded to so many bytes. */
export function pkeskBody(
  recipient: EncryptionKey,
  key: SessionKey,
  label: string,
  how: Wrapping = {},
): Buffer {
  const sum = key.data.reduce((total, octet) => (total + octet) & 0xffff, 0)
  const message = concat(key.cipher, key.data, u16(sum))
  const { point, wrapped } = wrap(recipient, message, label, how)
  return concat(3, recipient.keyId, 18, point, wrapped.length, wrapped)
}

export const pkesk = (recipient: EncryptionKey, key: SessionKey, label = 'pkesk'): Buffer =>
  packet(1, pkeskBody(recipient, key, label))

/** The same as programs wrote it that left out the zeros of a shared secret, at one of its ends. */
export function shortenedPkesk(
  recipient: EncryptionKey,
  key: SessionKey,
  isAtEnd: boolean,
): Buffer {
  const hashed = ({ secret }: { secret: Buffer }): Buffer =>
    isAtEnd
      ? secret.subarray(0, secret.findLastIndex((byte) => byte !== 0) + 1)
      : secret.subarray(secret.findIndex((byte) => byte !== 0))
  for (let at = 0; ; at++) {
    const label = `shortened ${at}`
    if (hashed(shared(label, recipient)).length < 32) {
      return packet(1, pkeskBody(recipient, key, label, { hashed }))
    }
  }
}

/** A recipient packet that names nobody. */
export function anonymousPkesk(recipient: EncryptionKey, key: SessionKey, label = 'pkesk'): Buffer {
  const body = pkeskBody(recipient, key, label)
  body.fill(0, 1, 9)
  return packet(1, body)
}

/** A recipient packet that looks right, for a key that nobody has. */
export function strangerPkesk(label: string, keyId?: string): Buffer {
  const point = seeded(`stranger point ${label}`, 32)
  const wrapped = seeded(`stranger wrapped ${label}`, 48)
  const named = keyId ?? seeded(`stranger ${label}`, 8).toString('hex')
  return packet(1, concat(3, named, 18, u16(263), 0x40, point, 48, wrapped))
}

/** A version 6 recipient packet; it names a v4 or v6 fingerprint (RFC 9580, 5.1.2). */
export function pkesk6(recipient: EncryptionKey, key: SessionKey, label = 'pkesk6'): Buffer {
  const sum = key.data.reduce((total, octet) => (total + octet) & 0xffff, 0)
  const { point, wrapped } = wrap(recipient, concat(key.data, u16(sum)), label)
  return packet(1, concat(6, 21, 4, recipient.fingerprint, 18, point, wrapped.length, wrapped))
}

/** `hashed` is the part of the agreed secret that is hashed, `bytes` the length of a padded message. */
interface Wrapping {
  hashed?: (agreed: { secret: Buffer }) => Buffer
  bytes?: number
}

function wrap(recipient: EncryptionKey, message: Buffer, label: string, how: Wrapping = {}) {
  const { hashed = ({ secret }) => secret, bytes = message.length + 8 - (message.length % 8) } = how
  const agreed = shared(label, recipient)
  const [{ point }, secret] = [agreed, hashed(agreed)]
  const [hash, bits] = recipient.namedCurve === undefined ? ['sha256', 128] : ['sha512', 256]
  const kek = createHash(hash)
    .update(concat('00000001', secret, recipient.kdfPrefix, recipient.fingerprint))
    .digest()
    .subarray(0, bits / 8)
  const padding = bytes - message.length
  const padded = concat(message, Buffer.alloc(padding, padding))
  const cipher = createCipheriv(`id-aes${bits}-wrap`, kek, Buffer.alloc(8, 0xa6))
  const wrapped = concat(cipher.update(padded), cipher.final())
  return { point: mpi(point), wrapped }
}

/** How the hash at the end is spoilt. */
export interface Spoilt {
  /** Instead of the header of the hash packet, d3 14. */
  header?: string
  /** Instead of the hash. */
  hash?: Buffer
  /** Leaves the whole hash packet out. */
  without?: boolean
}

/** Body of a version 1 container (RFC 9580, 5.13.1). */
export function seipdBody(inner: Uint8Array, key: SessionKey, spoilt: Spoilt = {}): Buffer {
  const size = blockOctets(key.cipher)
  const prefix = seeded('prefix', size)
  const marked = concat(prefix, prefix.subarray(-2), inner, spoilt.header ?? 'd314')
  const hash = spoilt.hash ?? createHash('sha1').update(marked).digest()
  const plain = spoilt.without === true ? marked.subarray(0, -2) : concat(marked, hash)
  const cipher = createCipheriv(CFB[key.cipher], key.data, Buffer.alloc(size))
  return concat(1, cipher.update(plain), cipher.final())
}

export const seipd = (inner: Uint8Array, key: SessionKey, spoilt?: Spoilt): Buffer =>
  packet(18, seipdBody(inner, key, spoilt))

/** The packet that RFC 9580 (5.7) gave up: no hash over anything. */
export function sed(inner: Uint8Array, key: SessionKey): Buffer {
  const prefix = seeded('prefix', 16)
  const start = createCipheriv(CFB[key.cipher], key.data, Buffer.alloc(16))
  const head = concat(start.update(concat(prefix, prefix.subarray(14))), start.final())
  const rest = createCipheriv(CFB[key.cipher], key.data, head.subarray(2, 18))
  return packet(9, concat(head, rest.update(inner), rest.final()))
}

/** A version 2 container with AES-256-GCM in one chunk (RFC 9580, 5.13.2). */
export function seipd2(inner: Uint8Array, key: SessionKey): Buffer {
  const header = concat(2, key.cipher, 3, 16)
  const salt = seeded('salt', 32)
  const info = concat(0xd2, header)
  const size = KEY_OCTETS[key.cipher]
  const derived = Buffer.from(hkdfSync('sha256', key.data, salt, info, size + 4))
  const nonce = (index: number): Buffer => concat(derived.subarray(size), '00000000', u32(index))
  const name = `aes-${size * 8}-gcm` as 'aes-256-gcm'
  const seal = (index: number, data: Uint8Array, also: Uint8Array): Buffer => {
    const cipher: CipherGCM = createCipheriv(name, derived.subarray(0, size), nonce(index))
    cipher.setAAD(also)
    return concat(cipher.update(data), cipher.final(), cipher.getAuthTag())
  }
  const total = Buffer.alloc(8)
  total.writeBigUInt64BE(BigInt(inner.length))
  const last = seal(1, Buffer.alloc(0), concat(info, total))
  return packet(18, concat(header, salt, seal(0, inner, info), last))
}
