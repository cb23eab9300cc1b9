import { Command } from 'commander';
/** `postern trust log`: every change, in the order in which it was written down. */
export declare function trustLogCommand(): Command;
