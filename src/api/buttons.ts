import { z } from 'zod'
import { isWebUrl } from './common.ts'
import { FIXED_LIMITS, LIMITS, type Limits } from './limits.ts'

// oxlint-disable-next-line no-control-regex -- the rule is about control characters
const CONTROL = /[\u0000-\u001f\u007f-\u009f]/

const bytes = (text: string): number => new TextEncoder().encode(text).length

/** The limits of the fields here, which are never encrypted. */
type ClearFieldLimits = Limits & { markupBytes: number }
const OF_SPEC: ClearFieldLimits = { ...LIMITS, ...FIXED_LIMITS }

const webUrl = (urlMax: number) =>
  z.string().max(urlMax).refine(isWebUrl, 'must be an http or https url').optional()

/** A button: a text and exactly one of `callbackData` and `url`. */
const buttonOf = ({ buttonTextMax, callbackDataBytes: most, urlMax }: Limits) =>
  z
    .strictObject({
      text: z.string().min(1).max(buttonTextMax),
      callbackData: z
        .string()
        .min(1)
        .refine((data) => bytes(data) <= most, `must be at most ${most} bytes`)
        .optional(),
      url: webUrl(urlMax),
    })
    .refine((button) => (button.callbackData === undefined) !== (button.url === undefined), {
      message: 'must have either callbackData or url',
    })

/** Inline keyboard with every limit, by default the spec's. A breach is `bad_markup`. */
export const markupOf = (limits: ClearFieldLimits = OF_SPEC) =>
  z
    .strictObject({
      inlineKeyboard: z
        .array(z.array(buttonOf(limits)).min(1).max(limits.buttonsPerRow))
        .min(1)
        .max(limits.keyboardRows),
    })
    .refine((markup) => markup.inlineKeyboard.flat().length <= limits.buttonsTotal, {
      message: `must have at most ${limits.buttonsTotal} buttons in all`,
    })
    .refine((markup) => bytes(JSON.stringify(markup)) <= limits.markupBytes, {
      message: `must be at most ${limits.markupBytes} bytes of JSON`,
    })
export const Markup = markupOf()
export type Markup = z.infer<typeof Markup>

/** Body of `POST /callbacks/{callbackId}/answer`, which may also be absent. */
export const callbackAnswerOf = (limits: Limits = LIMITS) =>
  z.strictObject({
    text: z
      .string()
      .transform((text) => text.trim())
      .pipe(z.string().max(limits.callbackAnswerMax))
      .refine((text) => !CONTROL.test(text), 'must be one line without control characters')
      .optional(),
    alert: z.boolean().default(false),
    url: webUrl(limits.urlMax),
  })
export const CallbackAnswer = callbackAnswerOf()
