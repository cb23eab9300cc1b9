import type { FileHandle } from 'node:fs/promises';
import type { RawFile } from '../pgp/stream/raw-file.ts';
/** The directory that a file is in. */
export interface SpoolFileOwner {
    /** Called before bytes are written. @throws Refusal when there is no room for them */
    reserve(bytes: number): void;
    onClosed(): void;
}
/** A file without a name. */
export declare class SpoolFile implements RawFile {
    #private;
    constructor(handle: FileHandle, owner: SpoolFileOwner);
    get bytes(): number;
    append(bytes: Uint8Array): Promise<void>;
    read(at: number, bytes: number): Promise<Buffer>;
    close(): Promise<void>;
}
/** Whatever a disk fails with is one thing to whoever waits for a file. */
export declare function onDisk<T>(work: () => Promise<T>): Promise<T>;
