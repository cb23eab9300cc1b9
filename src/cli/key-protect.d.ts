import { Command } from 'commander';
/** `postern key protect`: another passphrase, or another protection, for everything secret. */
export declare function keyProtectCommand(): Command;
