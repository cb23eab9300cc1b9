import { z } from 'zod'

/** An attachment. The spec shows an id, a url of the form `/media/<id>`, and a duration in ms. */
export const MediaItem = z.looseObject({
  id: z.union([z.int(), z.string()]),
  url: z.string(),
})
export type MediaItem = z.infer<typeof MediaItem>

/** Media ids that are ever put into a path. */
export const MEDIA_ID = /^[A-Za-z0-9_-]{1,128}$/
