/** ASCII armor (RFC 9580, 6), strict: one block, nothing around it, checksum checked if there. */

const BASE64_LINE = /^[A-Za-z0-9+/]+={0,2}$/
const HEADER_LINE = /^[A-Za-z][A-Za-z0-9-]{0,31}: .*$|^[A-Za-z][A-Za-z0-9-]{0,31}:$/
const CHECKSUM_LINE = /^=[A-Za-z0-9+/]{4}$/
const LINE_CHARS = 76

/** Block types that are ever read. */
export type ArmorType = 'MESSAGE' | 'PUBLIC KEY BLOCK'

/**
 * Takes the text of one armored block. Gives its octets, or null when it is anything but exactly
 * one block of that type: text around it, another END line, bad base64, a wrong checksum.
 */
export function dearmor(text: string, type: ArmorType): Uint8Array | null {
  const lines = text.split('\n').map((line) => line.trimEnd())
  while (lines.length > 0 && lines[0]?.trim() === '') lines.shift()
  while (lines.length > 0 && lines.at(-1) === '') lines.pop()
  if (lines.shift() !== `-----BEGIN PGP ${type}-----`) return null
  if (lines.pop() !== `-----END PGP ${type}-----`) return null
  for (let line = lines.shift(); line !== ''; line = lines.shift()) {
    if (line === undefined || !HEADER_LINE.test(line)) return null
  }
  while (lines.at(-1) === '') lines.pop()
  const checksum = CHECKSUM_LINE.test(lines.at(-1) ?? '') ? lines.pop() : undefined
  return decode(lines, checksum)
}

function decode(lines: string[], checksum: string | undefined): Uint8Array | null {
  const bodyLines = lines.filter((line) => line !== '')
  if (bodyLines.length === 0 || bodyLines.length !== lines.length) return null
  for (const [index, line] of bodyLines.entries()) {
    if (!BASE64_LINE.test(line)) return null
    if (line.endsWith('=') && index !== bodyLines.length - 1) return null
  }
  const base64 = bodyLines.join('')
  if (base64.length % 4 !== 0) return null
  const octets = Buffer.from(base64, 'base64')
  if (octets.toString('base64') !== base64) return null
  if (checksum !== undefined && checksum !== checksumLine(octets)) return null
  return octets
}

/** Writes an armored message without headers and without a checksum (RFC 9580, 6.1). */
export function armorMessage(octets: Uint8Array): string {
  const base64 = Buffer.from(octets.buffer, octets.byteOffset, octets.length).toString('base64')
  const lines = base64.match(new RegExp(`.{1,${LINE_CHARS}}`, 'g')) ?? []
  return `-----BEGIN PGP MESSAGE-----\n\n${lines.join('\n')}\n-----END PGP MESSAGE-----\n`
}

/** Length in characters of what `armorMessage` makes of so many octets. */
export function armoredLength(octets: number): number {
  const base64 = Math.ceil(octets / 3) * 4
  const frame = '-----BEGIN PGP MESSAGE-----\n\n\n-----END PGP MESSAGE-----\n'.length
  return frame + base64 + Math.max(0, Math.ceil(base64 / LINE_CHARS) - 1)
}

/** CRC-24 (RFC 9580, 6.1.1), as the line that stands after the base64. */
function checksumLine(octets: Uint8Array): string {
  let crc = 0xb704ce
  for (const octet of octets) {
    crc ^= octet << 16
    for (let bit = 0; bit < 8; bit++) {
      crc <<= 1
      if ((crc & 0x1000000) !== 0) crc ^= 0x1864cfb
    }
  }
  const bytes = Buffer.from([(crc >> 16) & 0xff, (crc >> 8) & 0xff, crc & 0xff])
  return `=${bytes.toString('base64')}`
}
