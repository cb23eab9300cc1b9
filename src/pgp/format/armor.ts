/** ASCII armor (RFC 9580, 6), strict: one block, nothing around it, checksum checked if there. */
import { BASE64_LINE, CHECKSUM_LINE, HEADER_LINE, type ArmorType } from './armor-lines.ts'
import { Crc24 } from './crc24.ts'
import { plainArmor } from './armor-fast.ts'
import { bufferOf } from '../bytes.ts'

const LINE_CHARS = 76
/** A line break, `=` and four characters. */
const CHECKSUM_CHARS = 6

/**
 * Takes the text of one armored block. Gives its bytes, or null when it is anything but exactly
 * one block of that type: text around it, another END line, bad base64, a wrong checksum.
 * @param room where the bytes may be put, instead of into memory of their own
 */
export function dearmor(text: string, type: ArmorType, room?: Buffer): Uint8Array | null {
  return plainArmor(text, type, room) ?? dearmorLines(text, type)
}

/** The same, line by line. */
export function dearmorLines(text: string, type: ArmorType): Uint8Array | null {
  const lines = text.split('\n').map((line) => line.trimEnd())
  const begin = lines.findIndex((line) => line !== '')
  const end = lines.findLastIndex((line) => line !== '')
  if (begin === -1 || lines[begin] !== `-----BEGIN PGP ${type}-----`) return null
  if (lines[end] !== `-----END PGP ${type}-----`) return null
  const separator = lines.indexOf('', begin)
  if (separator === -1 || separator > end) return null
  if (!lines.slice(begin + 1, separator).every((line) => HEADER_LINE.test(line))) return null
  const body = lines.slice(separator + 1, end)
  const last = body.findLastIndex((line) => line !== '')
  const hasChecksum = CHECKSUM_LINE.test(body[last] ?? '')
  return decode(body.slice(0, hasChecksum ? last : last + 1), hasChecksum ? body[last] : undefined)
}

function decode(lines: string[], checksum: string | undefined): Uint8Array | null {
  if (lines.length === 0) return null
  for (const [index, line] of lines.entries()) {
    if (!BASE64_LINE.test(line)) return null
    if (line.endsWith('=') && index !== lines.length - 1) return null
  }
  const base64 = lines.join('')
  if (base64.length % 4 !== 0) return null
  const bytes = Buffer.from(base64, 'base64')
  if (bytes.toString('base64') !== base64) return null
  if (checksum !== undefined && checksum !== checksumLine(bytes)) return null
  return bytes
}

/**
 * Writes an armored message without headers (RFC 9580, 6.1). The checksum is there only where a
 * reader needs it: GnuPG 2.2 takes the END line for data when nothing before it ends the base64,
 * neither padding nor a checksum.
 */
export function armorMessage(bytes: Uint8Array): string {
  const base64 = bufferOf(bytes).toString('base64')
  const lines: string[] = base64.match(new RegExp(`.{1,${LINE_CHARS}}`, 'g')) ?? []
  if (needsChecksum(bytes.length)) lines.push(checksumLine(bytes))
  return `-----BEGIN PGP MESSAGE-----\n\n${lines.join('\n')}\n-----END PGP MESSAGE-----\n`
}

/** Length in characters of what `armorMessage` makes of so many bytes. */
export function armoredLength(bytes: number): number {
  const base64 = Math.ceil(bytes / 3) * 4
  const frame = '-----BEGIN PGP MESSAGE-----\n\n\n-----END PGP MESSAGE-----\n'.length
  const breaks = Math.max(0, Math.ceil(base64 / LINE_CHARS) - 1)
  return frame + base64 + breaks + (needsChecksum(bytes) ? CHECKSUM_CHARS : 0)
}

const needsChecksum = (bytes: number): boolean => bytes % 3 === 0

/** CRC-24 (RFC 9580, 6.1.1), as the line that stands after the base64. */
function checksumLine(bytes: Uint8Array): string {
  const crc = new Crc24()
  crc.update(bytes)
  return `=${crc.base64}`
}
