/** ASCII armor (RFC 9580, 6) read, strict: one block, nothing around it, checksum checked if there. */
import { dearmorLines, HEADER_LINE } from './armor-lines.ts'
import { beginLine, CHECKSUM_CHARS, endLine, type ArmorType, Crc24 } from './armor-writer.ts'

/**
 * Takes the text of one armored block. Gives its bytes, or null when it is anything but exactly
 * one block of that type: text around it, another END line, bad base64, a wrong checksum.
 * @param room where the bytes may be put, instead of into memory of their own
 */
export function dearmor(text: string, type: ArmorType, room?: Buffer): Uint8Array | null {
  return plainArmor(text, type, room) ?? dearmorLines(text, type)
}

const LINE_FEED = 10
/**
 * Characters of more than eight bits, of which Node takes the lowest eight. That there are none, V8
 * knows of most texts without a look; a character of eight bits is left out, which is found out by
 * counting.
 */
const WIDE = /[\u0100-\uffff]/
const CHECKSUM = /^\n=[A-Za-z0-9+/]{4}$/
/** Headers that programs write stay well below. */
const HEADERS_MAX = 1024

/**
 * Takes an armored text. Gives its bytes when it is one block whose lines, all but the last, have
 * the same length; null for everything else, which `dearmor` reads line by line.
 * @param room where they are put, if they fit; memory of their own where none is given
 */
export function plainArmor(text: string, type: ArmorType, room?: Buffer): Buffer | null {
  const span = dataOf(text, type)
  if (span === null || WIDE.test(text)) return null
  const { start, end, checksum } = span
  const chars = charsIn(text, span)
  if (chars === null || chars % 4 !== 0) return null
  // Node takes two alphabets, and leaves out what is in neither: both are found out here.
  const dash = text.indexOf('-', start)
  if (text.indexOf('_', start) !== -1 || (dash !== -1 && dash < end)) return null
  const bytes = decode(text.slice(start, end), room)
  const padding = text[end - 2] === '=' ? 2 : text[end - 1] === '=' ? 1 : 0
  if (bytes.length !== (chars / 4) * 3 - padding) return null
  const last = bytes.subarray(bytes.length - (3 - padding)).toString('base64')
  if (last !== text.slice(end - 4, end)) return null
  return checksum === null || checksum === checksumOf(bytes) ? bytes : null
}

/** What does not fit is cut off, which its length shows. */
function decode(base64: string, room: Buffer | undefined): Buffer {
  if (room === undefined) return Buffer.from(base64, 'base64')
  return room.subarray(0, room.write(base64, 0, 'base64'))
}

interface Span {
  start: number
  end: number
  /** As base64; null when there is none. */
  checksum: string | null
}

/** Where the base64 stands. */
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
  return end <= start ? null : { start, end, checksum: hasChecksum ? tail.slice(2) : null }
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

function checksumOf(bytes: Uint8Array): string {
  const crc = new Crc24()
  crc.update(bytes)
  return crc.base64
}
