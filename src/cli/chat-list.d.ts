import { Command } from 'commander';
/** `postern chat list`: what is known of the bot's chats. */
export declare function chatListCommand(): Command;
