import { z } from 'zod'
import { isWebUrl } from './common.ts'
import { LIMITS, FIXED_LIMITS } from './limits.ts'

// oxlint-disable-next-line no-control-regex -- the rule is about control characters
const CONTROL = /[\u0000-\u001f\u007f-\u009f]/

const bytes = (text: string): number => new TextEncoder().encode(text).length

/** A button: a text and exactly one of `callbackData` and `url`. Buttons are never encrypted. */
export const Button = z
  .strictObject({
    text: z.string().min(1).max(LIMITS.buttonTextMax),
    callbackData: z
      .string()
      .min(1)
      .refine((data) => bytes(data) <= LIMITS.callbackDataBytes, 'must be at most 64 bytes')
      .optional(),
    url: z.string().max(LIMITS.urlMax).refine(isWebUrl, 'must be an http or https url').optional(),
  })
  .refine((button) => (button.callbackData === undefined) !== (button.url === undefined), {
    message: 'must have either callbackData or url',
  })
export type Button = z.infer<typeof Button>

/** Inline keyboard with every limit of the spec. A breach is `bad_markup`. */
export const Markup = z
  .strictObject({
    inlineKeyboard: z
      .array(z.array(Button).min(1).max(LIMITS.buttonsPerRow))
      .min(1)
      .max(LIMITS.keyboardRows),
  })
  .refine((markup) => markup.inlineKeyboard.flat().length <= LIMITS.buttonsTotal, {
    message: `must have at most ${LIMITS.buttonsTotal} buttons in all`,
  })
  .refine((markup) => bytes(JSON.stringify(markup)) <= FIXED_LIMITS.markupBytes, {
    message: 'must be at most 8 KiB of JSON',
  })
export type Markup = z.infer<typeof Markup>

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
