import type { Engine } from './engine.ts';
import { Library, type LibraryOptions } from './library/library.ts';
import type { PrecomputeBounds } from './native/precompute.ts';
import type { ThreadLoad } from './pool.ts';
export interface EngineOptions extends LibraryOptions {
    /** False for an engine that leaves everything to openpgp.js; to compare with. */
    native?: boolean;
    /** Bounds of what is prepared of next messages; 16 MiB and five minutes by default. */
    precompute?: PrecomputeBounds;
    /** Called when the next message of a place is ready but for its words. */
    onPrepared?: (place: string) => void;
    /**
     * Called once, if the library judges a certificate otherwise than it was read natively; from
     * then on it reads them all.
     */
    onDisagreement?: () => void;
}
/** An engine that says what it is doing. */
export interface MeasuredEngine extends Engine {
    load(): {
        /** By kind of thread: those at work, and the jobs that wait for one. */
        threads: Library['load'] & {
            native: ThreadLoad;
        };
        /** How often a certificate was judged already. */
        certificates: {
            hits: number;
            misses: number;
        };
    };
}
/** Makes an engine; nothing runs before it is first asked for something. */
export declare function createEngine(options?: EngineOptions): MeasuredEngine;
