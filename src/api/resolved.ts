import { z } from 'zod'
import { int } from './common.ts'

/** Handles that can be resolved, without `@`. */
export const USERNAME = /^[A-Za-z0-9_]{3,32}$/

/** Result of `GET /resolve/{username}`. Values of `kind` are not shown by the spec. */
export const Resolved = z.looseObject({ id: int, kind: z.string(), username: z.string() })
export type Resolved = z.infer<typeof Resolved>
