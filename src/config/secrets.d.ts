import { inspect } from 'node:util';
import type { FileFacts } from './files.ts';
/** A secret value. However it is printed, logged or serialised, it shows `[secret]`. */
export declare class SecretSource {
    #private;
    private constructor();
    /**
     * @param value the secret itself
     * @throws OperatorError `settings` when it is empty or holds what it must not
     */
    static fromValue(value: string, rule?: SecretRule): SecretSource;
    /**
     * @param file its path; the trailing newline is no part of the secret
     * @throws OperatorError `settings` when it cannot be read, others can read it, or it holds what it must not
     */
    static fromFile(file: string, rule?: SecretRule): SecretSource;
    /** The file that it was read from; null when it was given itself. */
    get file(): string | null;
    /** The value; hand it to what needs it and to nothing else. */
    reveal(): string;
    /**
     * Reads its file again. A file that is gone or wrong now leaves the value as it was.
     * @returns true when the value changed
     */
    reload(): Promise<boolean>;
    /** Whether its file looks other than when it was read: a cheap look, for those who ask often. */
    looksChanged(): boolean;
    toString(): string;
    toJSON(): string;
    [inspect.custom](): string;
}
/**
 * `token`: goes into a header, so visible ASCII alone. `passphrase`: people's words, spaces between
 * them included. `url`: where something is POSTed to.
 */
export type SecretRule = 'token' | 'passphrase' | 'url';
/**
 * Says that a file of ours which holds a secret can be read by others, or null. A file of another
 * owner is not for us to mend, and one under /run/secrets is how containers get theirs.
 */
export declare function describeExposure(file: string, facts: FileFacts): string | null;
