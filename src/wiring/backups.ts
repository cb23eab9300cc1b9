/** Looking into a backup and restoring it: what needs a store's file and OpenPGP, and no sidecar. */
import type { StoreAccess } from '../config/store-access.ts'
import { OperatorError } from '../errors.ts'
import { createEngine } from '../openpgp/index.ts'
import { readBackup, type Backup } from '../store/backup.ts'
import { unsoundBackup } from '../store/refusals.ts'
import { refuseOccupied, restore } from '../store/restore.ts'

/** What a backup holds, without anything secret. */
export interface BackupReport extends Pick<
  Backup,
  'takenAt' | 'bytes' | 'version' | 'method' | 'counts'
> {
  keys: { fingerprint: string; state: string }[]
}

/**
 * Opens a backup, its protection, every sealed secret and every key in it; changes nothing.
 * @throws OperatorError `failed` when it is not sound; `store-newer`, `store-locked`,
 *   `store-passphrase`, `keychain`
 */
export async function verifyBackup(file: string, access: StoreAccess): Promise<BackupReport> {
  const { takenAt, bytes, version, method, masterSecret, keys, counts } = await readBackup(file, {
    passphrase: access.passphrase?.reveal() ?? null,
  })
  await using engine = createEngine({ threads: 1 })
  for (const { fingerprint, locked } of keys) {
    if (locked === '') continue
    const unlocked = await engine.unlock(locked, masterSecret ?? '').catch(() => null)
    if (unlocked?.fingerprint !== fingerprint) {
      throw unsoundBackup(file, `the key ${fingerprint} in it does not open`)
    }
  }
  const shown = keys.map(({ fingerprint, state }) => ({ fingerprint, state }))
  return { takenAt, bytes, version, method, counts, keys: shown }
}

/**
 * Verifies a backup and puts it where `dataDir` says, which must hold no store.
 * @throws OperatorError `refused` when it holds one, or when the store is in a database; and what
 *   `verifyBackup` throws
 */
export async function restoreBackup(file: string, access: StoreAccess): Promise<BackupReport> {
  if (access.storeUrl !== null) throw intoFolderAlone()
  refuseOccupied(access.dataDir)
  const report = await verifyBackup(file, access)
  restore(file, access.dataDir)
  return report
}

function intoFolderAlone(): OperatorError {
  return new OperatorError(
    'refused',
    'a backup is restored into a data directory, and store.url names a database',
    'restore it without store.url, and bring it into the database with `postern store move`',
  )
}
