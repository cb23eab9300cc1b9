/** ASCII armor (RFC 9580, 6.2) written: as text, and as it stands inside a JSON string. */
import { bufferOf } from '../bytes.ts'
import { Crc24 } from './crc24.ts'

/** Block types that are ever read or written. */
export type ArmorType = 'MESSAGE' | 'PUBLIC KEY BLOCK' | 'PRIVATE KEY BLOCK'

export const beginLine = (type: ArmorType): string => `-----BEGIN PGP ${type}-----`
export const endLine = (type: ArmorType): string => `-----END PGP ${type}-----`

/** Bytes on a line of 76 characters. */
const LINE_BYTES = 57
const LINE_CHARS = 76
/** A line break, `=` and four characters. */
export const CHECKSUM_CHARS = 6
/** A line break inside a JSON string. */
const BREAK = Buffer.from('\\n')

/** What surrounds the lines of a message, escaped for JSON. */
export const ARMOR_START = Buffer.from(`${beginLine('MESSAGE')}\\n\\n`)
export const ARMOR_END = Buffer.from(`${endLine('MESSAGE')}\\n`)
/** Characters around the lines. */
const FRAME_CHARS = `${beginLine('MESSAGE')}\n\n${endLine('MESSAGE')}\n`.length

/** Writes an armored message, as `armorBlock` does. */
export const armorMessage = (bytes: Uint8Array): string => armorBlock('MESSAGE', bytes)

/**
 * Writes an armored block without headers (RFC 9580, 6.1). The checksum is there only where a
 * reader needs it: GnuPG 2.2 takes the END line for data when nothing before it ends the base64,
 * neither padding nor a checksum.
 */
export function armorBlock(type: ArmorType, bytes: Uint8Array): string {
  const base64 = bufferOf(bytes).toString('base64')
  const lines: string[] = base64.match(new RegExp(`.{1,${LINE_CHARS}}`, 'g')) ?? []
  if (needsChecksum(bytes.length)) lines.push(checksumLine(bytes))
  return `${beginLine(type)}\n\n${lines.join('\n')}\n${endLine(type)}\n`
}

/** Length in characters of what `armorMessage` makes of so many bytes. */
export function armoredLength(bytes: number): number {
  const base64 = Math.ceil(bytes / 3) * 4
  const lines = Math.ceil(bytes / LINE_BYTES)
  return FRAME_CHARS + base64 + lines + (needsChecksum(bytes) ? CHECKSUM_CHARS : 0)
}

/** Whether the checksum of an armored message of so many bytes is written. */
export const needsChecksum = (bytes: number): boolean => bytes % 3 === 0

/** CRC-24 (RFC 9580, 6.1.1), as the line that stands after the base64. */
function checksumLine(bytes: Uint8Array): string {
  const crc = new Crc24()
  crc.update(bytes)
  return `=${crc.base64}`
}

/** Writes bytes as lines for JSON, each with its break, the last of which may be shorter. */
export function armorLines(bytes: Uint8Array): Buffer {
  const base64 = Buffer.from(bufferOf(bytes).toString('base64'), 'latin1')
  const lines = Math.ceil(base64.length / LINE_CHARS)
  const out = Buffer.allocUnsafe(base64.length + lines * BREAK.length)
  let to = 0
  for (let from = 0; from < base64.length; from += LINE_CHARS) {
    to += base64.copy(out, to, from, Math.min(from + LINE_CHARS, base64.length))
    to += BREAK.copy(out, to)
  }
  return out
}

/** Recipient packets as they stand at the start of a message. All of it is public. */
export interface ArmoredPackets {
  /** As far as they fill whole lines, escaped for JSON. */
  lines: Uint8Array
  /** Their bytes after that, fewer than a line holds. */
  rest: Uint8Array
  /** The register of `Crc24` after all of them. */
  crc: number
  bytes: number
}

export function armorPackets(packets: Uint8Array): ArmoredPackets {
  const whole = packets.length - (packets.length % LINE_BYTES)
  const crc = new Crc24()
  crc.update(packets)
  return {
    lines: armorLines(packets.subarray(0, whole)),
    rest: new Uint8Array(packets.subarray(whole)),
    crc: crc.register,
    bytes: packets.length,
  }
}

/** The same of packets that come in parts, in memory that other threads can be let see. */
export function armorShared(parts: Uint8Array[]): ArmoredPackets {
  const armored = armorPackets(Buffer.concat(parts))
  const lines = new Uint8Array(new SharedArrayBuffer(armored.lines.length))
  lines.set(armored.lines)
  return { ...armored, lines }
}
