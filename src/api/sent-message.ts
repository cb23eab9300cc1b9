import { z } from 'zod'
import { int, ts } from './common.ts'

/** Result of a send (201, or 200 on a repeated `sendId`) and of an edit (200). */
export const SentMessage = z.looseObject({ id: int, date: ts })
export type SentMessage = z.infer<typeof SentMessage>
