/** Any armor (RFC 9580, 6) read line by line, of a text at hand or of bytes as they arrive. */
import { beginLine, endLine, type ArmorType } from './armor-writer.ts'
import { FramingError } from './packets.ts'
import type { ByteReader } from './packet-stream.ts'

/** A key of any words (RFC 9580, 6.2.2). */
export const HEADER_LINE = /^[^:\s][^:]*:(?: |$)/
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
