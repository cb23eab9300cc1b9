import { Command } from 'commander';
import type { BackupReport } from '../context.ts';
/** `postern backup create`: the whole store in one file, while the sidecar runs or not. */
export declare function backupCreateCommand(): Command;
/** `postern backup verify`: opens a backup, and everything in it, and changes nothing. */
export declare function backupVerifyCommand(): Command;
/** `postern backup restore`: a backup becomes the store of an empty data directory. */
export declare function backupRestoreCommand(): Command;
/** `postern backup accept`: a restored store is the one that counts from now on. */
export declare function backupAcceptCommand(): Command;
/** Says what a backup holds, to people. */
export declare function printBackup({ takenAt, bytes, version, method, keys, counts }: BackupReport): void;
