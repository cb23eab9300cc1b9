/** What stands inside an encrypted message: literal data, signatures, compression. */
import { deflateRawSync, deflateSync } from 'node:zlib'
import { packet } from './openpgp-framing.ts'
import { concat, u32 } from './openpgp-bytes.ts'
import { TYPE, onePass, signature, type SignatureOptions } from './openpgp-signature.ts'

export interface LiteralOptions {
  /** `b`, `t`, `u`, or anything else. */
  format?: string
  name?: Uint8Array
  atMs?: number
}

/** A literal data packet (RFC 9580, 5.9). */
export function literal(data: string | Uint8Array, options: LiteralOptions = {}): Buffer {
  const { format = 'u', name = Buffer.alloc(0), atMs = 0 } = options
  const body = concat(Buffer.from(format), name.length, name, u32(Math.floor(atMs / 1000)))
  return packet(11, concat(body, typeof data === 'string' ? Buffer.from(data) : data))
}

export type SigningOptions = Omit<SignatureOptions, 'over'>

/** One-pass signature, literal, signature: as every program writes it today. */
export function signedLiteral(
  text: string | Uint8Array,
  signing: SigningOptions | SigningOptions[],
  options: LiteralOptions = {},
): Buffer {
  const document = typeof text === 'string' ? Buffer.from(text) : Buffer.from(text)
  const all = Array.isArray(signing) ? signing : [signing]
  const openings = all.map((one, index) => onePass({ ...one, last: index === all.length - 1 }))
  const closings = all
    .toReversed()
    .map((one) => signature({ ...one, over: hashedForm(document, one) }))
  return concat(...openings, literal(document, options), ...closings)
}

/** What a signature of that type hashes: a text's line endings are made CRLF (RFC 9580, 5.2.4). */
export function hashedForm(document: Buffer, { type }: { type?: number }): Buffer {
  if (type !== TYPE.text) return document
  return Buffer.from(document.toString('latin1').replace(/\r?\n/g, '\r\n'), 'latin1')
}

/** A compressed data packet (RFC 9580, 5.6) by algorithm: 0 none, 1 zip, 2 zlib. */
export function compressed(inner: Uint8Array, algorithm: 0 | 1 | 2): Buffer {
  if (algorithm === 0) return packet(8, concat(0, inner))
  const data = algorithm === 1 ? deflateRawSync(inner) : deflateSync(inner)
  return packet(8, concat(algorithm, data))
}

/** A compressed data packet with any algorithm octet and any data. */
export const compressedOf = (algorithm: number, data: Uint8Array): Buffer =>
  packet(8, concat(algorithm, data))
