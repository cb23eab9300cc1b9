/** A sealed message on its way out. */
/** What a sealed message is known again by. */
export interface SealedDigests {
    /** As `OpenedText.dataDigest`. */
    dataDigest: string;
    /** As `SignatureClaim.digest` of our signature. */
    statementDigest: string;
}
/** Made by sealing alone, so that whoever is given one knows that no words are readable in it. */
export declare class Sealed implements SealedDigests {
    #private;
    /**
     * The armor as it stands inside a JSON string, in pieces: ASCII, in which only line breaks were
     * escaped, since nothing else in it has to be.
     */
    readonly json: readonly Buffer[];
    /** Characters of the armor. */
    readonly chars: number;
    readonly dataDigest: string;
    readonly statementDigest: string;
    constructor(json: readonly Buffer[], chars: number, digests: SealedDigests);
    /** The same for armor that is at hand as text. */
    static of(armored: string, digests: SealedDigests): Sealed;
    static isReal(value: unknown): value is Sealed;
    /** The armor as text. */
    get armored(): string;
}
