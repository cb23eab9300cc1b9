import { Command } from 'commander';
/** `postern chat allow-readable`: the operator says that chats have really become readable. */
export declare function chatAllowReadableCommand(): Command;
