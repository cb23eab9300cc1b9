/** Removes delivered updates from a batch of the service. */
import { createHash } from 'node:crypto'
import { isObject } from '../api/common.ts'
import type { UpdateHead } from '../kernel/index.ts'

const MARK_CHARS = 22

/** The update delivered last, recorded so that a restart repeats no delivery. */
export interface Delivered {
  updateId: number
  /** Distinguishes the update from a later one with its id, after the service's ids began anew. */
  mark: string
}

/** A mark over kind, ids and dates; nobody's words are in it. */
export function deliveredOf(update: UpdateHead): Delivered {
  const parts = Object.values(update)
    .filter(isObject)
    .map(({ id, date, chat }) => [id, date, isObject(chat) ? chat['id'] : null])
  const digest = createHash('sha256').update(JSON.stringify([update.kind, parts]))
  return { updateId: update.updateId, mark: digest.digest('base64url').slice(0, MARK_CHARS) }
}

/**
 * The updates that are still to be delivered. Only proven deliveries are left out: an id alone
 * proves nothing, since a service that lost its data restarts its numbering.
 * @param unseen oldest first
 */
export function afterDelivered(
  unseen: readonly UpdateHead[],
  last: Delivered | null,
): readonly UpdateHead[] {
  const at = unseen.findIndex(({ updateId }) => updateId === last?.updateId)
  const found = unseen[at]
  const isDelivered = found !== undefined && deliveredOf(found).mark === last?.mark
  return isDelivered ? unseen.slice(at + 1) : unseen
}
