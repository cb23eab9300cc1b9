import { Command } from 'commander';
/** `postern init`: from nothing to a settings file that works. */
export declare function initCommand(): Command;
