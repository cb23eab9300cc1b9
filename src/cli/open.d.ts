import { Command } from 'commander';
/** `postern open`: opens a sealed message with the keyring. */
export declare function openCommand(): Command;
