import { Command } from 'commander';
/** `postern chat bind`: the operator says whose a private chat is, where it was learned wrongly. */
export declare function chatBindCommand(): Command;
