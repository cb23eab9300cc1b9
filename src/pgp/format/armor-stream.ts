/** ASCII armor (RFC 9580, 6) of bytes as they arrive; as strict as `dearmor`. */
import { BASE64_LINE, CHECKSUM_LINE, HEADER_LINE } from './armor-lines.ts'
import { FramingError } from './packets.ts'
import { Crc24 } from './crc24.ts'
import type { OctetReader } from './byte-reader.ts'

const BEGIN = '-----BEGIN PGP MESSAGE-----'
const END = '-----END PGP MESSAGE-----'
const PIECE_BYTES = 65_536
/** A whole message may stand on one line. */
const LINE_CHARS = 131_072

/** Which line may come next. */
type State = 'before' | 'headers' | 'body' | 'padded' | 'ending' | 'after'

/**
 * Gives the bytes of an armored message.
 * @throws FramingError `armor` for anything but one block, alone, with a checksum that holds
 */
export async function* dearmored(reader: OctetReader): AsyncGenerator<Uint8Array> {
  const block = new Block()
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

class Block {
  #state: State = 'before'
  #base64 = ''
  #any = false
  readonly #ready: Buffer[] = []
  readonly #crc = new Crc24()
  readonly #next: Readonly<Record<State, (line: string) => State | null>> = {
    before: (line) => (line === '' ? 'before' : line === BEGIN ? 'headers' : null),
    headers: (line) => (line === '' ? 'body' : HEADER_LINE.test(line) ? 'headers' : null),
    body: (line) => (BASE64_LINE.test(line) ? this.#add(line) : this.#ends(line)),
    padded: (line) => this.#ends(line),
    ending: (line) => (line === '' ? 'ending' : line === END ? 'after' : null),
    after: (line) => (line === '' ? 'after' : null),
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
    if (line === END) return 'after'
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
