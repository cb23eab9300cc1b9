/** Operations on copies of the whole store. */
import { z } from 'zod'
import { OperatorError, refusedError } from '../errors.ts'
import { acceptRestored, restoredFrom } from '../store/restored.ts'
import { nothing, operation, type OperationParts } from './operation.ts'

export const BACKUPS = {
  /** Copies the store to a file in `dataDir`, which the caller removes. */
  backupCreate: operation(nothing, async ({ store }) => ({
    file: await store.copy(),
    protection: store.method,
  })),
  /** Accepts a restored store; `isLatest`: no sidecar used the store since its backup. */
  backupAccept: operation(
    z.strictObject({ isLatest: z.boolean() }),
    async (parts, { isLatest }) => {
      const takenAt = await restoredFrom(parts.store)
      if (takenAt === null) {
        throw refusedError(
          'this store was not restored from a backup, or is accepted already',
          '`postern status` shows how the sidecar is doing',
        )
      }
      const published = await comparePublished(parts, takenAt)
      await acceptRestored(parts.store, { isLatest })
      const memory = isLatest
        ? ''
        : `; messages signed between ${takenAt} and now will be withheld as replayed`
      return { message: `${published}${memory}` }
    },
  ),
}

/** Describes the key that the service shows, when the restored keys are compatible with it. */
async function comparePublished(
  { keyring, publishedKey }: OperationParts,
  takenAt: string,
): Promise<string> {
  const published = await publishedKey()
  if (published === null) return 'the service shows no key for the bot'
  const key = keyring.find(published)
  if (key !== undefined)
    return `the service shows ${published}, which is in the backup (${key.state})`
  throw new OperatorError(
    'store-restored',
    `the service shows ${published}, which is not in this backup of ${takenAt}: the store is older than ` +
      'the service’s view',
    'restore a later backup that holds this key; if there is none, `postern key publish --replace` ' +
      'puts the backup’s key in its place, and what was sealed to the lost key stays unreadable',
  )
}
