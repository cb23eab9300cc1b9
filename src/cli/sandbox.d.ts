import { Command } from 'commander';
/** `postern sandbox`: the service alone, on this machine, until it is told to stop. */
export declare function sandboxCommand(): Command;
