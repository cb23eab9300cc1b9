import type { Engine } from '../pgp/engine.ts';
import type { Relock } from '../store/move.ts';
/** Locks keys anew for the store, under its random master secret. */
export declare const relockFor: (engine: Engine) => Relock;
