/** ASCII armor written as it stands inside a JSON string: its line breaks are escaped. */
import { bufferOf } from '../bytes.ts'
import { beginLine, endLine } from './armor-lines.ts'
import { Crc24 } from './crc24.ts'

/** Bytes on a line of 76 characters. */
const LINE_BYTES = 57
const LINE_CHARS = 76
const BREAK = Buffer.from('\\n')

export const ARMOR_START = Buffer.from(`${beginLine('MESSAGE')}\\n\\n`)
export const ARMOR_END = Buffer.from(`${endLine('MESSAGE')}\\n`)
/** Characters of the armor around its lines. */
const FRAME_CHARS = `${beginLine('MESSAGE')}\n\n${endLine('MESSAGE')}\n`.length

/** Writes bytes as lines, each with its break, the last of which may be shorter. */
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

/** Characters of the armor itself, without a checksum, that so many bytes make. */
export function armorChars(bytes: number): number {
  return FRAME_CHARS + Math.ceil(bytes / 3) * 4 + Math.ceil(bytes / LINE_BYTES)
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
