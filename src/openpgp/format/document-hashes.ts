/** Hashes of a document in pieces, for its signatures (RFC 9580, 5.2.4). */
import { createHash, type Hash } from 'node:crypto'
import { BOUNDS } from '../bounds.ts'
import { BINARY, TEXT, canonicalText, type SignatureHead } from './signature-claim.ts'
import { statementDigest, trailerOf } from './packet-writer.ts'

/** Hashes that a signature on a message may have (RFC 9580, 9.5), as node:crypto names them. */
const HASHES = new Map([
  [8, 'sha256'],
  [9, 'sha384'],
  [10, 'sha512'],
  [11, 'sha224'],
  [12, 'sha3-256'],
  [14, 'sha3-512'],
])

/** A signature's type and hash algorithm, from its one-pass packet or from itself. */
export interface HashUse {
  type: number
  hashAlgorithm: number
}

/** Hashes a document once for each way in which its signatures do. */
export class DocumentHashes {
  /** By type and algorithm. */
  readonly #hashes = new Map<string, { type: number; hash: Hash }>()
  /** SHA-256 by type, for as long as the document may be that of a message. */
  readonly #small = new Map<number, Hash>()
  readonly #lineEnds = new LineEnds()
  #length = 0

  /** @param uses one for each signature of the document */
  constructor(uses: readonly HashUse[]) {
    for (const { type, hashAlgorithm } of uses) {
      // All others are never on a message, and each would be one more hash of the whole.
      if (type !== BINARY && type !== TEXT) continue
      const name = HASHES.get(hashAlgorithm)
      this.#small.set(type, createHash('sha256'))
      if (name === undefined) continue
      this.#hashes.set(keyOf({ type, hashAlgorithm }), { type, hash: createHash(name) })
    }
  }

  /** Hashes the next piece of the document. */
  update(piece: Uint8Array): void {
    this.#length += piece.length
    if (this.#length > BOUNDS.textBytes) this.#small.clear()
    this.#feed(piece, (bytes) => this.#lineEnds.update(bytes))
  }

  end(): void {
    this.#feed(Buffer.alloc(0), () => this.#lineEnds.end())
  }

  /**
   * The hash that a signature is made over; empty where its algorithm is none that is accepted.
   * @param head of a signature of version 4
   */
  digest(head: SignatureHead): Buffer {
    const found = this.#hashes.get(keyOf(head))
    if (found === undefined) return Buffer.alloc(0)
    const { hashedPart } = head
    return found.hash.copy().update(hashedPart).update(trailerOf(hashedPart)).digest()
  }

  /**
   * The identity of a signed statement: the same as of a message's where the document is no longer
   * than one can be, and else the hash that is signed, which is there already.
   */
  statement(head: SignatureHead): string {
    const small = this.#small.get(head.type)
    if (small !== undefined) return statementDigest(small.copy().digest(), head.hashedPart)
    return statementDigest(this.digest(head), head.hashedPart)
  }

  #feed(piece: Uint8Array, canonical: (piece: Uint8Array) => Uint8Array): void {
    const small = [...this.#small].map(([type, hash]) => ({ type, hash }))
    const all = [...this.#hashes.values(), ...small]
    const text = all.some(({ type }) => type === TEXT) ? canonical(piece) : piece
    for (const { type, hash } of all) hash.update(type === TEXT ? text : piece)
  }
}

const keyOf = ({ type, hashAlgorithm }: HashUse): string => `${type}:${hashAlgorithm}`

const CR = 0x0d

/** A text's line ends as they are signed, while it goes by in pieces. */
export class LineEnds {
  /** A carriage return whose line feed may begin the next piece. */
  #held: Buffer = Buffer.alloc(0)

  /** Gives the next piece with canonical line ends, without a carriage return at its end. */
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
