import { tooLarge, unusable, type Failure } from './errors.ts'

/** Pieces of one body; each costs far more than the bytes in it. */
const MAX_PIECES = 65_536

/** A body that arrives in pieces, within bounds. */
export class Pieces {
  readonly #maxBytes: number
  readonly #status: number
  readonly #pieces: Buffer[] = []
  #size = 0

  /** @param status of the answer, which a failure names */
  constructor(maxBytes: number, status: number) {
    this.#maxBytes = maxBytes
    this.#status = status
  }

  /** Adds a piece. @returns why the rest need not be read, else null */
  take(piece: Buffer): Failure | null {
    this.#size += piece.length
    if (this.#size > this.#maxBytes) return tooLarge(this.#maxBytes, this.#status)
    if (this.#pieces.length === MAX_PIECES) return unusable('an answer in crumbs', this.#status)
    this.#pieces.push(alone(piece))
    return null
  }

  /** All of it. */
  joined(): Buffer {
    const [only, ...more] = this.#pieces
    return only !== undefined && more.length === 0 ? only : Buffer.concat(this.#pieces)
  }
}

/** A small piece holds on to all that was read from the socket with it: its bytes are copied out. */
const alone = (piece: Buffer): Buffer =>
  piece.length * 2 < piece.buffer.byteLength ? Buffer.from(piece) : piece
