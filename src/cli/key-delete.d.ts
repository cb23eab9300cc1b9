import { Command } from 'commander';
/** `postern key delete`: destroys an old secret key, after saying what becomes unreadable. */
export declare function keyDeleteCommand(): Command;
