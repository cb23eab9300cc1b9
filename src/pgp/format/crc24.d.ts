/** CRC-24 (RFC 9580, 6.1.1) of bytes that go by in pieces. */
export declare class Crc24 {
    #private;
    /** @param register of one that is gone on with */
    constructor(register?: number);
    /** Stands for all that went by. */
    get register(): number;
    update(bytes: Uint8Array): void;
    /** As it stands on the line after the base64, behind the `=`. */
    get base64(): string;
}
