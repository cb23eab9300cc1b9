import { Command } from 'commander';
/** `postern run`: the sidecar, until it is told to stop. */
export declare function runCommand(): Command;
