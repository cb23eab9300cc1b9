import { OperatorError } from '../errors.ts';
import type { Owner } from './owner.ts';
import type { Method } from './protection.ts';
/** No database where one must be. `traces` is true when the directory shows that one was here. */
export declare function missing(dataDir: string, traces: 'traces' | 'none'): OperatorError;
/** Another process holds the store. */
export declare function inUse(dataDir: string, owner: Owner | null): OperatorError;
/** The passphrase is not the one that the store was made with. */
export declare function wrongPassphrase(): OperatorError;
/** The store has a passphrase and none was given. */
export declare function noPassphrase(): OperatorError;
/** The store rests under one thing and the settings name another. Nothing is moved by itself. */
export declare function otherProtection(is: Method, asked: Method): OperatorError;
/** The store rests without protection and no setting says that it may. */
export declare function unprotected(): OperatorError;
/** There is nothing that secrets could rest under. `keychain` says why that one will not do. */
export declare function nothingPossible(keychain: OperatorError | null, howToMakePassphrase?: string): OperatorError;
/** The database cannot be believed. `what` says how that was seen. */
export declare function corrupt(what: string, cause?: unknown): OperatorError;
/** A later Postern wrote the store. */
export declare function newer(version: number, ours: number): OperatorError;
/** The directory cannot be written although it may be sound. `what` is a short reason. */
export declare function unwritable(dataDir: string, what: string, cause?: unknown): OperatorError;
/** The disk failed while the protection was moved: the record may have reached it all the same. */
export declare function unsettledMove(dataDir: string, cause: unknown): OperatorError;
/** A file that is no backup, or was damaged. `what` says how that was seen. */
export declare function unsoundBackup(file: string, what: string, cause?: unknown): OperatorError;
/** A backup may only go where nothing is. */
export declare function occupied(dataDir: string): OperatorError;
/** The directory itself is unfit. */
export declare function unfit(message: string, hint: string): OperatorError;
