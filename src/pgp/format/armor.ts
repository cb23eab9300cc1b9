/** ASCII armor (RFC 9580, 6), strict: one block, nothing around it, checksum checked if there. */
import { beginLine, dearmorLines, endLine, type ArmorType } from './armor-lines.ts'
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

/**
 * Writes an armored message without headers (RFC 9580, 6.1). The checksum is there only where a
 * reader needs it: GnuPG 2.2 takes the END line for data when nothing before it ends the base64,
 * neither padding nor a checksum.
 */
export function armorMessage(bytes: Uint8Array): string {
  const base64 = bufferOf(bytes).toString('base64')
  const lines: string[] = base64.match(new RegExp(`.{1,${LINE_CHARS}}`, 'g')) ?? []
  if (needsChecksum(bytes.length)) lines.push(checksumLine(bytes))
  return `${beginLine('MESSAGE')}\n\n${lines.join('\n')}\n${endLine('MESSAGE')}\n`
}

/** Length in characters of what `armorMessage` makes of so many bytes. */
export function armoredLength(bytes: number): number {
  const base64 = Math.ceil(bytes / 3) * 4
  const frame = `${beginLine('MESSAGE')}\n\n\n${endLine('MESSAGE')}\n`.length
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
