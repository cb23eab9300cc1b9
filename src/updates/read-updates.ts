import { Updates, type Update } from '../api/update.ts'
import { Unanswered } from '../errors.ts'

/**
 * The updates of a successful answer to `GET /updates`, as they were parsed.
 * @throws Unanswered `postern_upstream_invalid` when it is no list of updates with growing ids: a
 *   batch that does not grow is confirmed wrongly by whoever takes it
 */
export function readUpdates(result: unknown): Update[] {
  if (!Array.isArray(result) || !Updates.safeParse(result).success || !grows(result as Update[])) {
    throw new Unanswered('postern_upstream_invalid', 'a list of updates')
  }
  return result as Update[]
}

function grows(updates: Update[]): boolean {
  return updates.every(({ updateId }, index) => {
    const before = updates[index - 1]
    return before === undefined || updateId > before.updateId
  })
}
