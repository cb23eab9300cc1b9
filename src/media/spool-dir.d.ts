import type { RawFile, Room } from '../pgp/stream/raw-file.ts';
/** The spool directory of one sidecar. */
export declare class SpoolDir implements Room, AsyncDisposable {
    #private;
    /**
     * @param dataDir of the store, which nobody else has open
     * @param maxBytes of all files together
     */
    constructor(dataDir: string, maxBytes: number);
    /** Size of all files together. */
    get bytes(): number;
    /** @throws Refusal `postern_store_unwritable` when the disk does not take a file */
    file(): Promise<RawFile>;
    [Symbol.asyncDispose](): Promise<void>;
}
