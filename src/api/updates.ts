import { z } from 'zod'
import { int } from './common.ts'
import { LIMITS, type Limits } from './limits.ts'

/**
 * One update. `updateId` grows and is the identity of a delivery. `message` is present when kind
 * is `message`; the name of a press's payload is not shown by the spec and is left open here.
 */
export const Update = z.looseObject({ updateId: int, kind: z.string() })
export type Update = z.infer<typeof Update>

/** Result of `GET /updates`: oldest first. */
export const Updates = z.array(Update)

const whole = z.coerce.number().int()

/** Query of `GET /updates`, with the spec's limits by default; `timeout` is in seconds. */
export const updatesQueryOf = ({ pollLimitMax, pollTimeoutMaxS }: Limits = LIMITS) =>
  z.strictObject({
    offset: whole.min(0).optional(),
    limit: whole.min(1).max(pollLimitMax).default(Math.min(LIMITS.pollLimitMax, pollLimitMax)),
    timeout: whole.min(0).max(pollTimeoutMaxS).default(0),
  })

/** Media ids that are ever put into a path. */
export const MEDIA_ID = /^(?!\.{1,2}$)[A-Za-z0-9._~-]{1,128}$/

/**
 * The id in a url of the form `/media/<id>`, with or without the service's base url before it.
 * @param baseUrl without a slash at its end
 * @returns null for any other url
 */
export function mediaIdOf(url: string, baseUrl: string): string | null {
  const path = url.startsWith(`${baseUrl}/`) ? url.slice(baseUrl.length) : url
  const id = path.startsWith('/media/') ? path.slice('/media/'.length) : ''
  return MEDIA_ID.test(id) ? id : null
}

/** Body of `POST /webhook` by type and length; a forbidden target is `bad_webhook`. */
export const SetWebhook = z.strictObject({
  url: z.string(),
  secret: z
    .string()
    .regex(/^[A-Za-z0-9_-]{1,256}$/, 'must be 1 to 256 of A-Z, a-z, 0-9, _ and -')
    .optional(),
})
export type SetWebhook = z.infer<typeof SetWebhook>

/**
 * Why a webhook url is refused by its form (spec, POST /webhook), or null. The delivery checks
 * whether its host resolves to a public address.
 */
export function webhookUrlProblem(text: string): string | null {
  if (!/^[a-z][a-z0-9+.-]*:\/\/[^\s\\]+$/i.test(text) || !URL.canParse(text)) {
    return 'url: must be absolute'
  }
  const url = new URL(text)
  if (url.protocol !== 'https:') return 'url: must be https'
  if (url.username !== '' || url.password !== '') return 'url: must have no credentials'
  if (url.hash !== '' || text.includes('#')) return 'url: must have no fragment'
  return null
}
