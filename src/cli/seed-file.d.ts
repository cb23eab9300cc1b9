import { OperatorError } from '../errors.ts';
import type { SeedError } from '../sandbox/seed/problem.ts';
/** A file's content, not yet looked at, and how to say what is wrong with it. */
export interface SeedFile {
    content: object;
    refusal(error: SeedError): OperatorError;
}
/**
 * @param file relative to the working directory, or absolute; at most 8 MiB
 * @throws OperatorError `settings` when it cannot be read, or is neither YAML nor JSON
 */
export declare function readSeedFile(file: string): SeedFile;
