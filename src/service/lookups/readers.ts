import { Chat } from '../../api/chat.ts'
import { Updates, type Update } from '../../api/updates.ts'
import { ChatKeys, readUserKey } from '../../api/user-key.ts'
import { NoResponseError } from '../../errors.ts'
import type { Readers } from '../../kernel/index.ts'

/** Readers of the service's answers for the kernel: by its contract, with all else unchanged. */
export const READERS: Readers = {
  chat: (content) => Chat.safeParse(content).data ?? null,
  keyList: (content) => {
    const { data } = ChatKeys.safeParse(content)
    return data === undefined
      ? null
      : { records: data.keys.map(readUserKey), memberCount: data.memberCount }
  },
  userKey: readUserKey,
  updates: readUpdates,
}

/**
 * The updates of a successful answer to `GET /updates`, as they were parsed.
 * @throws NoResponseError `postern_upstream_invalid` when it is no list of updates with ascending
 *   ids: a consumer would confirm other updates than it processed
 */
function readUpdates(result: unknown): Update[] {
  const updates = Updates.safeParse(result).success ? (result as Update[]) : null
  const isGrowing = updates?.every(
    ({ updateId }, index) => updateId > (updates[index - 1]?.updateId ?? -Infinity),
  )
  if (updates === null || isGrowing !== true) {
    throw new NoResponseError('postern_upstream_invalid', 'a list of updates')
  }
  return updates
}
