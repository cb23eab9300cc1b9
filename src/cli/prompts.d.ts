import { PASSPHRASES } from '../config/passphrases.ts';
import type { Sources } from '../config/sources.ts';
/**
 * Gives a passphrase that a command needs: from the environment or its file, else from the terminal.
 * @param o `which` variable; `question` for a person; `isNew`: typed twice, so that a slip does not
 *   lock anything for good
 * @throws OperatorError `passphrase` when it is not given and nobody can be asked, or the two differ;
 *   `settings` when it holds what it must not
 */
export declare function readPassphrase(sources: Sources, o: {
    which: keyof typeof PASSPHRASES;
    question: string;
    isNew: boolean;
}): Promise<string>;
/** Asks a question whose answer may be seen. @returns the line, or null when nobody sits there */
export declare function promptLine(question: string): Promise<string | null>;
/**
 * Asks on the terminal itself, whatever stdin and stdout are; what is typed is not shown.
 * @returns null when there is no terminal, or stderr, where the question stands, is none
 * @throws OperatorError `refused` when the person gives up (Ctrl-C, Ctrl-D)
 */
export declare function promptSecret(question: string): Promise<string | null>;
