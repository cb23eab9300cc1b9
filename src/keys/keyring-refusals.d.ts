/** Why the keyring takes no key, or does not open. */
import { OperatorError } from '../errors.ts';
export declare function tooMany(open: number): OperatorError;
export declare function nothingToLockUnder(): OperatorError;
export declare function doesNotOpen(cause: unknown): OperatorError;
export declare function exchanged(fingerprint: string): OperatorError;
