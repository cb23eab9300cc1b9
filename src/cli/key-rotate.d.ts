import { Command } from 'commander';
/** `postern key rotate`: a new key in the place of the published one, watched to its end. */
export declare function keyRotateCommand(): Command;
