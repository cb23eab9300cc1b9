import { SecretSource } from './secrets.ts';
/** Their names in the environment; each can be given as a file by adding `_FILE`. */
export declare const PASSPHRASES: {
    /** What an exported key is locked under, on its way out and in. */
    readonly export: 'POSTERN_EXPORT_PASSPHRASE';
    /** What a store is moved under. */
    readonly new: 'POSTERN_NEW_PASSPHRASE';
};
/** Every variable that holds such a passphrase or names its file. */
export declare const PASSPHRASE_VARIABLES: string[];
/**
 * Reads the passphrase of a command.
 * @param sources `cwd` is what a relative file name starts from
 * @returns null when it is not given
 * @throws OperatorError `settings` when it is given twice, cannot be read, or is no passphrase
 */
export declare function commandPassphrase(name: (typeof PASSPHRASES)[keyof typeof PASSPHRASES], { env, cwd }: {
    env: Readonly<Record<string, string>>;
    cwd: string;
}): SecretSource | null;
