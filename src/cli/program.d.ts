/** How the command line is read. */
import { Command } from 'commander';
/**
 * Runs the command that the arguments name.
 * @param args without the names of program and script
 * @returns when the command is done
 * @throws what the command throws; OperatorError `usage` when the arguments are wrong
 */
export declare function runProgram(args: readonly string[]): Promise<void>;
/** Every command, with its options and help. */
export declare function createFullProgram(): Promise<Command>;
