/**
 * ASCII armor (RFC 9580, 6) read: one block with nothing around it. Its checksum decides nothing (6.1).
 * The armor that programs write is decoded in one go; all other is read line by line.
 */
import { dearmorLines, HEADER_LINE } from './armor-lines.ts'
import { beginLine, CHECKSUM_CHARS, endLine, type ArmorType } from './armor-writer.ts'

/**
 * Gives the bytes of one armored block, or null when the text is anything but exactly one block of
 * that type: text around it, another END line, bad base64.
 * @param room a buffer for the bytes, in place of a new one
 */
export const dearmor = (text: string, type: ArmorType, room?: Buffer): Uint8Array | null =>
  plainArmor(text, type, room) ?? dearmorLines(text, type)

const LINE_FEED = 10
/**
 * Characters above U+00FF, of which Node decodes the low eight bits. V8 keeps most texts as Latin-1
 * and needs no scan to exclude them. Node skips U+0080 to U+00FF, which the count of bytes detects.
 */
const WIDE = /[\u0100-\uffff]/
const CHECKSUM = /^\n=[A-Za-z0-9+/]{4}$/
/** Headers that programs write stay well below. */
const HEADERS_MAX = 1024

/**
 * Gives the bytes of one armored block whose lines, all but the last, have the same length; null
 * for everything else, which `dearmor` reads line by line.
 * @param room a buffer for the bytes, if they fit; a new one where it is absent
 */
export function plainArmor(text: string, type: ArmorType, room?: Buffer): Buffer | null {
  const span = dataOf(text, type)
  if (span === null || WIDE.test(text)) return null
  const { start, end } = span
  const chars = charsIn(text, span)
  if (chars === null || chars % 4 !== 0) return null
  // Node also decodes base64url and skips characters of neither alphabet; both are refused here.
  const dash = text.indexOf('-', start)
  if (text.indexOf('_', start) !== -1 || (dash !== -1 && dash < end)) return null
  const bytes = decode(text.slice(start, end), room)
  const padding = text[end - 2] === '=' ? 2 : text[end - 1] === '=' ? 1 : 0
  if (bytes.length !== (chars / 4) * 3 - padding) return null
  const last = bytes.subarray(bytes.length - (3 - padding)).toString('base64')
  return last === text.slice(end - 4, end) ? bytes : null
}

/** Bytes that do not fit are cut off, which the length of the result reveals. */
function decode(base64: string, room: Buffer | undefined): Buffer {
  if (room === undefined) return Buffer.from(base64, 'base64')
  return room.subarray(0, room.write(base64, 0, 'base64'))
}

interface Span {
  start: number
  end: number
}

/** The position of the base64. */
function dataOf(text: string, type: ArmorType): Span | null {
  const begin = `${beginLine(type)}\n`
  const close = `\n${endLine(type)}`
  const stop = text.endsWith('\n') ? text.length - 1 : text.length
  if (!text.startsWith(begin) || !text.endsWith(close, stop)) return null
  const blank = text.indexOf('\n\n', begin.length - 1)
  const headers = text.slice(begin.length, Math.max(begin.length, blank))
  if (blank === -1 || headers.length > HEADERS_MAX) return null
  if (headers !== '' && !headers.split('\n').every((line) => HEADER_LINE.test(line))) return null
  const start = blank + 2
  const whole = stop - close.length
  const tail = text.slice(whole - CHECKSUM_CHARS, whole)
  const hasChecksum = tail[1] === '=' && CHECKSUM.test(tail)
  const end = hasChecksum ? whole - CHECKSUM_CHARS : whole
  return end <= start ? null : { start, end }
}

/** How many characters the lines hold; null where they are not of one length. */
function charsIn(text: string, { start, end }: Span): number | null {
  const first = text.indexOf('\n', start)
  const width = first === -1 || first >= end ? end - start : first - start
  if (width === 0) return null
  let breaks = 0
  for (let at = start + width; at < end; at += width + 1) {
    if (text.charCodeAt(at) !== LINE_FEED) return null
    breaks++
  }
  return end - start - breaks
}
