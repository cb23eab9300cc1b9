import { z } from 'zod'
import { int } from './common.ts'

/** A person in a member list. The spec names no field, so all but the id is open. */
export const Member = z.looseObject({
  id: int,
  username: z.string().nullish(),
  firstName: z.string().optional(),
  lastName: z.string().nullish(),
  status: z.string().optional(),
  rights: int.optional(),
  title: z.string().nullish(),
})
export type Member = z.infer<typeof Member>

/** Result of `GET /chats/{chatId}/members`; `memberCount` counts the list as returned. */
export const Members = z.looseObject({ members: z.array(Member), memberCount: int })
