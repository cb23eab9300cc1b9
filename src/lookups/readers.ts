import { Chat } from '../api/chat.ts'
import { ChatKeys, readUserKey } from '../api/user-key.ts'
import type { Readers } from '../kernel/sightings.ts'

/** How the kernel reads answers: by the contract of the service, with everything else kept as it came. */
export const READERS: Readers = {
  chat: (content) => Chat.safeParse(content).data ?? null,
  keyList: (content) => {
    const { data } = ChatKeys.safeParse(content)
    return data === undefined
      ? null
      : { records: data.keys.map(readUserKey), memberCount: data.memberCount }
  },
  userKey: readUserKey,
}
