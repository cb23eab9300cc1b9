import { canonicalText } from './signature-claim.ts'

const CR = 0x0d

/** A text's line ends as they are signed, while it goes by in pieces. */
export class LineEnds {
  /** A carriage return whose line feed may come with the next piece. */
  #held: Buffer = Buffer.alloc(0)

  /** Takes the next piece; gives what is certain of it. */
  update(piece: Uint8Array): Uint8Array {
    const joined = Buffer.concat([this.#held, piece])
    const end = joined.at(-1) === CR ? joined.length - 1 : joined.length
    this.#held = joined.subarray(end)
    return canonicalText(joined.subarray(0, end))
  }

  /** Gives the rest. */
  end(): Uint8Array {
    return this.#held
  }
}
