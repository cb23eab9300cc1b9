import { z } from 'zod'
import { int } from './common.ts'

/**
 * One update. `updateId` grows and is the identity of a delivery. `message` is present when kind
 * is `message`; the name of a press's payload is not shown by the spec and is left open here.
 */
export const Update = z.looseObject({ updateId: int, kind: z.string() })
export type Update = z.infer<typeof Update>

/** Result of `GET /updates`: oldest first. */
export const Updates = z.array(Update)

/** Query of `GET /updates`; `timeout` is in seconds. */
export const UpdatesQuery = z.strictObject({
  offset: z.coerce.number().int().min(0).optional(),
  limit: z.coerce.number().int().min(1).max(100).default(100),
  timeout: z.coerce.number().int().min(0).max(50).default(0),
})
export type UpdatesQuery = z.infer<typeof UpdatesQuery>
