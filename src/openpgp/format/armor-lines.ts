/** ASCII armor (RFC 9580, 6.2) read line by line: of a text at hand, or of bytes as they arrive. */
import { beginLine, endLine, type ArmorType, Crc24 } from './armor-writer.ts'
import type { ByteReader } from './byte-reader.ts'
import { FramingError } from './packets.ts'

/** Lines that may stand in a block; line ends and trailing space are taken off before. */
const BASE64_LINE = /^[A-Za-z0-9+/]+={0,2}$/
export const HEADER_LINE = /^[A-Za-z][A-Za-z0-9-]{0,31}: .*$|^[A-Za-z][A-Za-z0-9-]{0,31}:$/
const CHECKSUM_LINE = /^=[A-Za-z0-9+/]{4}$/
const PIECE_BYTES = 65_536
/** A whole message may stand on one line. */
const LINE_CHARS = 131_072

/** Gives the bytes of one armored block; null when it is anything but exactly that. */
export function dearmorLines(text: string, type: ArmorType): Buffer | null {
  const block = new ArmoredBlock(type)
  try {
    for (const line of text.split('\n')) block.take(line.trimEnd())
    const bytes = block.decoded()
    return block.isWhole ? bytes : null
  } catch (error) {
    if (error instanceof FramingError) return null
    throw error
  }
}

/**
 * Gives the bytes of an armored message that is arriving.
 * @throws FramingError `armor` for anything but one block, alone, with a checksum that holds
 */
export async function* dearmored(reader: ByteReader): AsyncGenerator<Uint8Array> {
  const block = new ArmoredBlock('MESSAGE')
  let partial = ''
  for (let piece = await reader.some(PIECE_BYTES); piece !== null;) {
    const lines = (partial + Buffer.from(piece).toString('latin1')).split('\n')
    partial = lines.pop() ?? ''
    if (partial.length > LINE_CHARS) throw new FramingError('armor')
    for (const line of lines) block.take(line.trimEnd())
    const bytes = block.decoded()
    if (bytes.length > 0) yield bytes
    piece = await reader.some(PIECE_BYTES)
  }
  block.take(partial.trimEnd())
  if (!block.isWhole) throw new FramingError('armor')
}

/** Which line may come next. */
type State = 'before' | 'headers' | 'body' | 'padded' | 'ending' | 'after'

/** The grammar of armor: one block, nothing around it, checksum checked if there. */
class ArmoredBlock {
  #state: State = 'before'
  #base64 = ''
  #any = false
  readonly #ready: Buffer[] = []
  readonly #crc = new Crc24()
  readonly #begin: string
  readonly #end: string
  readonly #next: Readonly<Record<State, (line: string) => State | null>> = {
    before: (line) => (line === '' ? 'before' : line === this.#begin ? 'headers' : null),
    headers: (line) => (line === '' ? 'body' : HEADER_LINE.test(line) ? 'headers' : null),
    body: (line) => (BASE64_LINE.test(line) ? this.#add(line) : this.#ends(line)),
    padded: (line) => this.#ends(line),
    ending: (line) => (line === '' ? 'ending' : line === this.#end ? 'after' : null),
    after: (line) => (line === '' ? 'after' : null),
  }

  constructor(type: ArmorType) {
    this.#begin = beginLine(type)
    this.#end = endLine(type)
  }

  get isWhole(): boolean {
    return this.#state === 'after' && this.#base64 === ''
  }

  /** @throws FramingError when the line may not stand here */
  take(line: string): void {
    const next = this.#next[this.#state](line)
    if (next === null) throw new FramingError('armor')
    this.#state = next
  }

  /** Bytes of the lines so far that were not given yet. @throws FramingError for bad base64 */
  decoded(): Buffer {
    this.#decode()
    return Buffer.concat(this.#ready.splice(0))
  }

  #add(line: string): State {
    this.#any = true
    this.#base64 += line
    return line.endsWith('=') ? 'padded' : 'body'
  }

  /** What may follow the last line of base64. */
  #ends(line: string): State | null {
    if (!this.#any) return null
    if (line === '') return 'ending'
    if (line === this.#end) return 'after'
    return CHECKSUM_LINE.test(line) && this.#holds(line) ? 'ending' : null
  }

  #holds(checksum: string): boolean {
    this.#decode()
    return this.#base64 === '' && checksum === `=${this.#crc.base64}`
  }

  #decode(): void {
    const whole = this.#base64.slice(0, this.#base64.length - (this.#base64.length % 4))
    this.#base64 = this.#base64.slice(whole.length)
    const bytes = Buffer.from(whole, 'base64')
    if (bytes.toString('base64') !== whole) throw new FramingError('armor')
    this.#crc.update(bytes)
    this.#ready.push(bytes)
  }
}
