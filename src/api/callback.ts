import { z } from 'zod'
import { isWebUrl } from './common.ts'
import { LIMITS } from './limits.ts'

// oxlint-disable-next-line no-control-regex -- the rule is about control characters
const CONTROL = /[\u0000-\u001f\u007f-\u009f]/

/** Body of `POST /callbacks/{callbackId}/answer`, which may also be absent. Never encrypted. */
export const CallbackAnswer = z.strictObject({
  text: z
    .string()
    .transform((text) => text.trim())
    .pipe(z.string().max(LIMITS.callbackAnswerMax))
    .refine((text) => !CONTROL.test(text), 'must be one line without control characters')
    .optional(),
  alert: z.boolean().default(false),
  url: z.string().max(LIMITS.urlMax).refine(isWebUrl, 'must be an http or https url').optional(),
})
export type CallbackAnswer = z.infer<typeof CallbackAnswer>

/**
 * A press of a button as we write it; readers find any Message inside by its shape, because the
 * spec shows no field beyond the id.
 */
export interface CallbackQuery {
  id: string
  from: { id: number }
  message: unknown
  data: string
}
