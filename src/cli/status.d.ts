import { Command } from 'commander';
/** `postern status`: how the running sidecar is doing. */
export declare function statusCommand(): Command;
