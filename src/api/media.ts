import { z } from 'zod'

/** An attachment. The spec shows an id, a url of the form `/media/<id>`, and a duration in ms. */
export const MediaItem = z.looseObject({
  id: z.union([z.int(), z.string()]),
  url: z.string(),
})
export type MediaItem = z.infer<typeof MediaItem>

/** Media ids that are ever put into a path. */
export const MEDIA_ID = /^(?!\.{1,2}$)[A-Za-z0-9._~-]{1,128}$/

/**
 * The id in a url of the form `/media/<id>`, as it stands or behind the service's base url.
 * @param baseUrl without a slash at its end
 * @returns null for any other url
 */
export function mediaIdOf(url: string, baseUrl: string): string | null {
  const path = url.startsWith(`${baseUrl}/`) ? url.slice(baseUrl.length) : url
  const id = path.startsWith('/media/') ? path.slice('/media/'.length) : ''
  return MEDIA_ID.test(id) ? id : null
}
