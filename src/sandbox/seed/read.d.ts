import { Seed } from './schema.ts';
/**
 * Checks a parsed seed file and fills in all defaults.
 * @throws SeedError with everything that is wrong
 */
export declare function readSeed(raw: unknown): Seed;
