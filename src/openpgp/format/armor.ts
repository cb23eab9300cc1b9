/**
 * ASCII armor (RFC 9580, 6) read: one block with nothing around it. Its checksum decides nothing (6.1).
 * The armor that programs write is decoded in one go; all other is read line by line, of a text at
 * hand or of bytes as they arrive.
 */
import { beginLine, CHECKSUM_CHARS, endLine } from './armor-writer.ts'
import type { ArmorType } from './armor-writer.ts'
import { FramingError } from './packets.ts'
import type { ByteReader } from './packet-stream.ts'

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

/** A key of any words (RFC 9580, 6.2.2). */
const HEADER_LINE = /^[^:\s][^:]*:(?: |$)/
/** Base64, with the checksum where that has no line of its own. */
const DATA_LINE = /^([A-Za-z0-9+/]+={0,2})(=[A-Za-z0-9+/]{4})?$/
const BLANKS = /[ \t]+/g
const PIECE_BYTES = 65_536
/** A whole message may be one line. */
const LINE_CHARS = 131_072

/** Gives the bytes of one armored block; null when it is anything but exactly that. */
export function dearmorLines(text: string, type: ArmorType): Buffer | null {
  const block = new ArmoredBlock(type)
  const bytes = block.takes(linesOf(Buffer.from(text))) ? block.decoded() : null
  return block.isWhole ? bytes : null
}

/**
 * Gives the bytes at the start of an armored message, of which only the start is at hand.
 * @returns null for what does not begin as one; no bytes where its data is not reached, or is none
 */
export function armorStart(head: Uint8Array): Buffer | null {
  const block = new ArmoredBlock('MESSAGE')
  const lines = linesOf(head)
  const cut = lines.pop() ?? ''
  let bytes: Buffer | null = null
  if (block.takes(lines)) {
    block.takes([cut])
    bytes = block.decoded()
  }
  return block.isBegun ? (bytes ?? Buffer.alloc(0)) : null
}

/**
 * Gives the bytes of an armored message that is arriving.
 * @throws FramingError `armor` for anything but one block, alone
 */
export async function* dearmored(reader: ByteReader): AsyncGenerator<Uint8Array> {
  const block = new ArmoredBlock('MESSAGE')
  let partial = ''
  for (let piece = await reader.some(PIECE_BYTES); piece !== null;) {
    const lines = linesOf(piece, partial)
    partial = lines.pop() ?? ''
    if (partial.length > LINE_CHARS) throw new FramingError('armor')
    const bytes = block.takes(lines) ? block.decoded() : null
    if (bytes === null) throw new FramingError('armor')
    if (bytes.length > 0) yield bytes
    piece = await reader.some(PIECE_BYTES)
  }
  if (!block.takes([partial]) || !block.isWhole) throw new FramingError('armor')
}

/** A character for each byte, also of a text: so both readers see the same. */
const linesOf = (bytes: Uint8Array, before = ''): string[] =>
  (before + Buffer.from(bytes).toString('latin1')).split('\n')

/** The part of a block that the next line belongs to. */
type State = 'before' | 'start' | 'headers' | 'body' | 'bare' | 'padded' | 'ending' | 'after'

/** The grammar of armor: one block, nothing around it. */
class ArmoredBlock {
  #state: State = 'before'
  #base64 = ''
  #any = false
  readonly #begin: string
  readonly #end: string
  readonly #next: Readonly<Record<State, (line: string) => State | null>> = {
    before: (line) => (line === '' ? 'before' : line === this.#begin ? 'start' : null),
    start: (line) => this.#headers(line) ?? this.#data(line, 'bare'),
    headers: (line) => this.#headers(line),
    body: (line) => (line === '' ? 'body' : this.#data(line, 'body')),
    // Without the empty line before the data, an empty one in it could begin the data elsewhere.
    bare: (line) => this.#data(line, 'bare'),
    padded: (line) => (line === '' ? 'padded' : this.#ends(line)),
    ending: (line) => (line === '' ? 'ending' : line === this.#end ? 'after' : null),
    after: (line) => (line === '' ? 'after' : null),
  }

  constructor(type: ArmorType) {
    this.#begin = beginLine(type)
    this.#end = endLine(type)
  }

  get isBegun(): boolean {
    return this.#state !== 'before'
  }

  get isWhole(): boolean {
    return this.#state === 'after' && this.#base64 === ''
  }

  /** Whether the grammar allows each of the next lines where it is. */
  takes(lines: readonly string[]): boolean {
    return lines.every((line) => {
      const next = this.#next[this.#state](line.trim())
      this.#state = next ?? this.#state
      return next !== null
    })
  }

  /** Bytes of the lines so far that were not given yet; null for bad base64. */
  decoded(): Buffer | null {
    const whole = this.#base64.slice(0, this.#base64.length - (this.#base64.length % 4))
    this.#base64 = this.#base64.slice(whole.length)
    const bytes = Buffer.from(whole, 'base64')
    return bytes.toString('base64') === whole ? bytes : null
  }

  #headers(line: string): State | null {
    return line === '' ? 'body' : HEADER_LINE.test(line) ? 'headers' : null
  }

  #data(line: string, state: State): State | null {
    const [, data, checksum] = DATA_LINE.exec(line.replace(BLANKS, '')) ?? []
    if (data === undefined) return this.#any ? this.#ends(line) : null
    this.#any = true
    this.#base64 += data
    if (checksum !== undefined) return 'ending'
    return data.endsWith('=') ? 'padded' : state
  }

  /** The state after the last line of base64: the checksum, of any form, or the END line. */
  #ends(line: string): State | null {
    return line === this.#end ? 'after' : line.startsWith('=') ? 'ending' : null
  }
}
