/** Operations on copies of the whole store. */
import { z } from 'zod'
import { OperatorError, refusedError } from '../errors.ts'
import { isOpen } from '../outbox/entries.ts'
import { listFirst } from '../printable.ts'
import { acceptRestored, restoredFrom } from '../store/flags.ts'
import { nothing, operation, type OperationParts } from './operation.ts'
import { RESTORED } from './outbox.ts'

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
      const undone = isLatest ? '' : await holdBack(parts, takenAt)
      await acceptRestored(parts.store, { isLatest })
      return { message: `${published}${undone}` }
    },
  ),
}

const MOST_NAMED = 20

/** Holds calls and suspends clients, which may be revoked since the backup. @returns a list for people */
async function holdBack({ outbox, clients }: OperationParts, takenAt: string): Promise<string> {
  const held: string[] = []
  for (const { id } of outbox.all) {
    const how = { state: 'held', code: RESTORED, settledAtMs: Date.now() } as const
    const isHeld = await outbox.change(id, (entry) => (isOpen(entry) ? how : null))
    if (isHeld) held.push(id)
  }
  const suspended = await clients.suspendAdded()
  return [
    `; messages signed between ${takenAt} and now will be withheld as replayed`,
    named('\nheld until `postern outbox retry ID`, or dropped: ', held),
    named('\nsuspended until `postern client confirm NAME`, or removed: ', suspended),
    `\nnot in the backup, to be made again: blocks and other decisions after ${takenAt}, clients ` +
      'removed since, people forgotten since',
  ].join('')
}

const named = (what: string, all: readonly string[]): string =>
  all.length === 0 ? '' : what + listFirst(all, MOST_NAMED)

/** Describes the key that the service shows, when the restored keys are compatible with it. */
async function comparePublished(parts: OperationParts, takenAt: string): Promise<string> {
  const published = await parts.publishedKey()
  if (published === null) return 'the service shows no key for the bot'
  const key = parts.keyring.find(published)
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
