/** What was delivered last, distinguishable from what was not: a restart repeats nothing. */
import { createHash } from 'node:crypto'
import { isObject } from '../api/common.ts'
import type { Update } from '../api/update.ts'

export interface Delivered {
  updateId: number
  /** Tells the update from another that a service which began anew gave the same id. */
  mark: string
}

const MARK_CHARS = 22

/** A mark over kind, ids and dates; nobody's words are in it. */
export function deliveredOf(update: Update): Delivered {
  const parts = Object.values(update)
    .filter(isObject)
    .map(({ id, date, chat }) => [id, date, isObject(chat) ? chat['id'] : null])
  const digest = createHash('sha256').update(JSON.stringify([update.kind, parts]))
  return { updateId: update.updateId, mark: digest.digest('base64url').slice(0, MARK_CHARS) }
}

/**
 * The updates that are still to be delivered. Only what is proven to have been is left out: an id
 * alone proves nothing, since a service that lost its memory counts from the beginning.
 * @param updates oldest first
 */
export function afterDelivered(updates: Update[], last: Delivered | null): Update[] {
  const at = updates.findIndex(({ updateId }) => updateId === last?.updateId)
  const found = updates[at]
  return found !== undefined && deliveredOf(found).mark === last?.mark
    ? updates.slice(at + 1)
    : updates
}
