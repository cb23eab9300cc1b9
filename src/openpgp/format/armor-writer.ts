/** Writes ASCII armor (RFC 9580, 6.2): as text, and escaped for a JSON string. */
import { bufferOf } from '../bytes.ts'

/** Block types that are ever read or written. */
export type ArmorType = 'MESSAGE' | 'PUBLIC KEY BLOCK' | 'PRIVATE KEY BLOCK' | 'SIGNATURE'

export const beginLine = (type: ArmorType): string => `-----BEGIN PGP ${type}-----`
export const endLine = (type: ArmorType): string => `-----END PGP ${type}-----`

/** Bytes on a line of 76 characters. */
const LINE_BYTES = 57
const LINE_CHARS = 76
/** A line break, `=` and four characters. */
export const CHECKSUM_CHARS = 6
/** A line break inside a JSON string. */
const BREAK = Buffer.from('\\n')

/** The lines before and after the data of a message, escaped for JSON. */
export const ARMOR_START = Buffer.from(`${beginLine('MESSAGE')}\\n\\n`)
export const ARMOR_END = Buffer.from(`${endLine('MESSAGE')}\\n`)
/** Characters around the lines. */
const FRAME_CHARS = `${beginLine('MESSAGE')}\n\n${endLine('MESSAGE')}\n`.length

/** Writes an armored message, as `armorBlock` does. */
export const armorMessage = (bytes: Uint8Array): string => armorBlock('MESSAGE', bytes)

/**
 * Writes an armored block without headers, with a checksum (RFC 9580, 6.1): PGPy reads none without
 * it, and GnuPG 2.2 reads the END line as data where neither it nor padding ends the base64.
 */
export function armorBlock(type: ArmorType, bytes: Uint8Array): string {
  const base64 = bufferOf(bytes).toString('base64')
  const lines: string[] = base64.match(new RegExp(`.{1,${LINE_CHARS}}`, 'g')) ?? []
  lines.push(`=${checksumText(crc24(bytes))}`)
  return `${beginLine(type)}\n\n${lines.join('\n')}\n${endLine(type)}\n`
}

/** Length in characters of so many bytes after `armorMessage`. */
export function armoredLength(bytes: number): number {
  const base64 = Math.ceil(bytes / 3) * 4
  const lines = Math.ceil(bytes / LINE_BYTES)
  return FRAME_CHARS + base64 + lines + CHECKSUM_CHARS
}

/** A checksum from its register (`crc24`), in base64, as behind the `=` of its line. */
export const checksumText = (crc: number): string =>
  Buffer.from([crc >>> 24, (crc >>> 16) & 0xff, (crc >>> 8) & 0xff]).toString('base64')

/** Writes bytes as lines for JSON, each with its break, the last of which may be shorter. */
export function armorLines(bytes: Buffer): Buffer {
  const base64 = Buffer.from(bytes.toString('base64'), 'latin1')
  const lines = Math.ceil(base64.length / LINE_CHARS)
  const out = Buffer.allocUnsafe(base64.length + lines * BREAK.length)
  let to = 0
  for (let from = 0; from < base64.length; from += LINE_CHARS) {
    to += base64.copy(out, to, from, Math.min(from + LINE_CHARS, base64.length))
    to += BREAK.copy(out, to)
  }
  return out
}

/** Recipient packets, armored, at the start of a message. All of it is public. */
export interface ArmoredPackets {
  /** As far as they fill whole lines, escaped for JSON. */
  lines: Uint8Array
  /** Their bytes after that, fewer than a line holds. */
  rest: Uint8Array
  /** The register of `crc24` after all of them. */
  crc: number
  bytes: number
}

export function armorPackets(packets: Buffer): ArmoredPackets {
  const whole = packets.length - (packets.length % LINE_BYTES)
  return {
    lines: armorLines(packets.subarray(0, whole)),
    rest: new Uint8Array(packets.subarray(whole)),
    crc: crc24(packets),
    bytes: packets.length,
  }
}

/** As `armorPackets`, for packets in parts; `lines` is in memory that threads can share. */
export function armorShared(parts: Uint8Array[]): ArmoredPackets {
  const armored = armorPackets(Buffer.concat(parts))
  const lines = new Uint8Array(new SharedArrayBuffer(armored.lines.length))
  lines.set(armored.lines)
  return { ...armored, lines }
}

/** Digests that identify a sealed message. */
export interface SealedDigests {
  /** As `OpenedText.dataDigest`. */
  dataDigest: string
  /** As `SignatureClaim.digest` of our signature. */
  statementDigest: string
}

/** A sealed message. Only sealing constructs one, so its type proves that it is ciphertext. */
export class Sealed implements SealedDigests {
  /**
   * The armor inside a JSON string, in pieces of ASCII. Only its line breaks are escaped: no other
   * character of armor needs an escape.
   */
  readonly json: readonly Uint8Array[]
  /** Characters of the armor. */
  readonly chars: number
  readonly dataDigest: string
  readonly statementDigest: string
  readonly #made = true

  constructor(json: readonly Uint8Array[], chars: number, digests: SealedDigests) {
    this.json = json
    this.chars = chars
    this.dataDigest = digests.dataDigest
    this.statementDigest = digests.statementDigest
  }

  /** The same for armor that is at hand as text. */
  static of(armored: string, digests: SealedDigests): Sealed {
    return new Sealed([Buffer.from(armored.replaceAll('\n', '\\n'))], armored.length, digests)
  }

  static isReal(value: unknown): value is Sealed {
    return typeof value === 'object' && value !== null && #made in value && value.#made
  }

  /** The armor as text. */
  get armored(): string {
    return Buffer.concat(this.json).toString('latin1').replaceAll('\\n', '\n')
  }
}

/** Polynomial and register are the upper 24 bits of a word. */
const POLYNOMIAL = 0x864cfb00
const START = 0xb704ce00
/** The change of the register by each byte that no more bytes follow, then by each that 1 to 7 do. */
const CHANGES = new Int32Array(8 * 256)
const changeBy = (at: number): number => CHANGES[at] as number
for (let at = 0; at < CHANGES.length; at++) {
  let crc = at < 256 ? at << 24 : changeBy(at - 256)
  for (let bit = 0; bit < 8; bit++) crc = (crc << 1) ^ (crc < 0 ? POLYNOMIAL : 0)
  CHANGES[at] = crc
}

/**
 * The register of CRC-24 (RFC 9580, 6.1.1) after some bytes.
 * @param register after the bytes before them
 */
export function crc24(bytes: Uint8Array, register = START): number {
  const by = (byte: number, followers: number): number => changeBy((followers << 8) | byte)
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
  let crc = register
  let place = 0
  // Eight at a time: an armored message of a large group is a hundred thousand bytes.
  for (const whole = bytes.length - 7; place < whole; place += 8) {
    const high = crc ^ view.getInt32(place)
    const low = view.getInt32(place + 4)
    crc =
      by(high >>> 24, 7) ^
      by((high >>> 16) & 0xff, 6) ^
      by((high >>> 8) & 0xff, 5) ^
      by(high & 0xff, 4) ^
      by(low >>> 24, 3) ^
      by((low >>> 16) & 0xff, 2) ^
      by((low >>> 8) & 0xff, 1) ^
      by(low & 0xff, 0)
  }
  for (; place < bytes.length; place++) {
    crc = (crc << 8) ^ by((crc >>> 24) ^ view.getUint8(place), 0)
  }
  return crc
}
