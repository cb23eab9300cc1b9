/** Looking into a backup and restoring it: what needs a store's file and OpenPGP, and no sidecar. */
import type { Keeping } from '../config/load.ts';
import { type Backup } from '../store/backup.ts';
/** What a backup holds, without anything secret. */
export interface BackupReport extends Pick<Backup, 'takenAt' | 'bytes' | 'version' | 'method' | 'counts'> {
    keys: {
        fingerprint: string;
        state: string;
    }[];
}
/**
 * Opens a backup, its protection, every sealed secret and every key in it; changes nothing.
 * @throws OperatorError `failed` when it is not sound; `store-newer`, `store-locked`,
 *   `store-passphrase`, `keychain`
 */
export declare function verifyBackup(file: string, keeping: Keeping): Promise<BackupReport>;
/**
 * Verifies a backup and puts it where `dataDir` says, which must hold no store.
 * @throws OperatorError `refused` when it holds one, and what `verifyBackup` throws
 */
export declare function restoreBackup(file: string, keeping: Keeping): Promise<BackupReport>;
