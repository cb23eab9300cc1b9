/** Operations on copies of the whole store. */
import { OperatorError } from '../errors.ts'
import type { Keyring } from '../keys/keyring.ts'
import { acceptRestored, restoredFrom } from '../store/restored.ts'
import type { Store } from '../store/store.ts'
import type { Operations } from './operations.ts'

export interface BackupParts {
  store: Store
  keyring: Keyring
  /** Asks the service now which key it shows for the bot; null when none. */
  shownKey: () => Promise<string | null>
}

/** Makes the operations on backups that need the store open. */
export function backupOperations(
  parts: BackupParts,
): Pick<Operations, 'backupCreate' | 'backupAccept'> {
  const { store } = parts
  return {
    backupCreate: async () => ({ file: await store.copy(), protection: store.method }),
    backupAccept: async ({ isLatest }) => {
      const takenAt = await restoredFrom(store)
      if (takenAt === null) throw nothingToAccept()
      const shown = await compare(parts, takenAt)
      await acceptRestored(store, { isLatest })
      const memory = isLatest
        ? ''
        : `; messages signed between ${takenAt} and now will be withheld as replayed`
      return { message: `${shown}${memory}` }
    },
  }
}

/** Says what the service shows, when the restored keys can live with it. */
async function compare({ keyring, shownKey }: BackupParts, takenAt: string): Promise<string> {
  const shown = await shownKey()
  if (shown === null) return 'the service shows no key for the bot'
  const key = keyring.find(shown)
  if (key !== undefined) return `the service shows ${shown}, which is in the backup (${key.state})`
  throw new OperatorError(
    'store-restored',
    `the service shows ${shown}, which is not in this backup of ${takenAt}: the store is older than ` +
      'the service’s view',
    'restore a later backup that holds this key; if there is none, `postern key publish --replace` ' +
      'puts the backup’s key in its place, and what was sealed to the lost key stays unreadable',
  )
}

function nothingToAccept(): OperatorError {
  return new OperatorError(
    'refused',
    'this store was not restored from a backup, or is accepted already',
    '`postern status` shows how the sidecar is doing',
  )
}
