import { Command } from 'commander';
/** `postern explain`: why an update was withheld, or whom a message was not sealed to. */
export declare function explainCommand(): Command;
