import { Command } from 'commander';
/** `postern demo`: sandbox, sidecar and an echo bot; nothing to configure. */
export declare function demoCommand(): Command;
