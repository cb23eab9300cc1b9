import type { Command } from 'commander';
import type { Sources } from '../config/sources.ts';
/**
 * Lets a command take every setting as a flag. Secrets are no flags: other users can see those.
 * @param o `isListed`: whether its help lists them
 */
export declare function addSettingFlags(command: Command, { isListed }: {
    isListed: boolean;
}): Command;
/** Shows one line of use below a command's help. */
export declare function addExample(command: Command, line: string): Command;
/** What a command was started with. Takes the secrets out of the environment, so: once. */
export declare function sourcesOf(command: Command): Sources;
/**
 * Reads the id of a person or a chat as it was typed.
 * @param what stands in the refusal, @param hint says where such ids are shown
 * @throws OperatorError `usage`
 */
export declare function parseId(text: string, what: 'chat' | 'person', hint: string): number;
