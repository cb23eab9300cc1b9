import { Command } from 'commander';
/** `postern trust policy`: what a changed certificate does, for the bot or in one chat. */
export declare function trustPolicyCommand(): Command;
