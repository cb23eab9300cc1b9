import type { Sources } from '../config/sources.ts';
/** Everything that is to be written. Paths absolute. */
export interface Answers {
    /** What the settings file is to say, by dotted path. */
    values: Map<string, unknown>;
    /** The file that is to be made with a new passphrase, or null. */
    newPassphrase: string | null;
    /** The file that is to be made with a token that was typed, or null. */
    newToken: {
        file: string;
        token: string;
    } | null;
}
/** What flags and environment have answered already. */
export interface Given extends Answers {
    /** Absolute. */
    dataDir: string;
    /** The questions that are left, each with the flags that answer it. */
    missing: Map<Question, string>;
}
export type Question = 'service' | 'token' | 'protection' | 'dataDir';
/**
 * Reads flags and environment. What the environment gives is not asked for, and not written.
 * @throws OperatorError `settings` for every wrong value; `refused` when a passphrase file is to be
 *   made where something is, or inside the data folder
 */
export declare function givenAnswers(sources: Sources, o: {
    makePassphrase: boolean;
}): Given;
/** Where a secret of ours is kept when nobody says otherwise. */
export declare function defaultFile(name: string, dataDir: string, sources: Sources): string;
/** @throws OperatorError `refused`, unless a file with a secret can be made there */
export declare function refuseFile(file: string, dataDir: string): void;
/** Why no file with a secret is to be made there, or null. */
export declare function describeFile(file: string, dataDir: string): {
    message: string;
    hint: string;
} | null;
/** What is wrong with the text of a setting, or null. */
export declare function describeValue(path: string, text: string): string | null;
/** What is wrong with a secret, or with the file that is said to hold it, or null. */
export declare function describeSecret(secret: {
    file: string;
} | {
    value: string;
}, rule: 'token' | 'passphrase'): string | null;
