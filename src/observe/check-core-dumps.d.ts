import { type Finding } from './finding.ts';
/**
 * Looks at the limit of this process, where the system is Linux.
 * @param proc where the system shows itself
 * @returns nothing where the limit cannot be told
 */
export declare function checkCoreDumps(proc?: string): Finding[];
