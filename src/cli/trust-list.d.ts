import { Command } from 'commander';
/** `postern trust list`: whom we know by which fingerprint since when. */
export declare function trustListCommand(): Command;
