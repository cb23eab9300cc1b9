/** A sealed message on its way out. */

/** What a sealed message is known again by. */
export interface SealedDigests {
  /** As `OpenedText.dataDigest`. */
  dataDigest: string
  /** As `SignatureClaim.digest` of our signature. */
  statementDigest: string
}

/** Made by sealing alone, so that whoever is given one knows that no words are readable in it. */
export class Sealed implements SealedDigests {
  /**
   * The armor as it stands inside a JSON string, in pieces: ASCII, in which only line breaks were
   * escaped, since nothing else in it has to be.
   */
  readonly json: readonly Buffer[]
  /** Characters of the armor. */
  readonly chars: number
  readonly dataDigest: string
  readonly statementDigest: string
  readonly #made = true

  constructor(json: readonly Buffer[], chars: number, digests: SealedDigests) {
    this.json = json
    this.chars = chars
    this.dataDigest = digests.dataDigest
    this.statementDigest = digests.statementDigest
  }

  /** The same for armor that is at hand as text. */
  static of(armored: string, digests: SealedDigests): Sealed {
    return new Sealed([Buffer.from(armored.replaceAll('\n', '\\n'))], armored.length, digests)
  }

  static isReal(value: unknown): value is Sealed {
    return typeof value === 'object' && value !== null && #made in value && value.#made
  }

  /** The armor as text. */
  get armored(): string {
    return Buffer.concat(this.json).toString('latin1').replaceAll('\\n', '\n')
  }
}
