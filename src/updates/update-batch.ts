/** A batch of updates as the service gives it: reading it, and leaving out what was delivered. */
import { createHash } from 'node:crypto'
import { isObject } from '../api/common.ts'
import { Updates, type Update } from '../api/updates.ts'
import { NoResponseError } from '../errors.ts'

const MARK_CHARS = 22

/** What was delivered last, distinguishable from what was not: a restart repeats nothing. */
export interface Delivered {
  updateId: number
  /** Tells the update from another that a service which began anew gave the same id. */
  mark: string
}

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

/**
 * The updates of a successful answer to `GET /updates`, as they were parsed.
 * @throws NoResponseError `postern_upstream_invalid` when it is no list of updates with growing ids: a
 *   batch that does not grow is confirmed wrongly by whoever takes it
 */
export function readUpdates(result: unknown): Update[] {
  if (!Array.isArray(result) || !Updates.safeParse(result).success || !grows(result as Update[])) {
    throw new NoResponseError('postern_upstream_invalid', 'a list of updates')
  }
  return result as Update[]
}

function grows(updates: Update[]): boolean {
  return updates.every(({ updateId }, index) => {
    const before = updates[index - 1]
    return before === undefined || updateId > before.updateId
  })
}
