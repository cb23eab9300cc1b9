import { filetypeinfo } from 'magic-bytes.js'

/** How much of a file is looked at. */
export const TYPE_BYTES = 512
const UNKNOWN = 'application/octet-stream'
/** What no browser runs, whatever stands in it; SVG is a document with scripts. */
const GIVEN = /^(?:(?:image|audio|video)\/(?!svg)[a-z0-9.+-]+|application\/(?:pdf|zip|ogg))$/

/**
 * The media type of a file by its first bytes. Only what is known to be harmless in a browser has a
 * type of its own; all else is `application/octet-stream`.
 */
export function contentTypeOf(head: Uint8Array): string {
  const [first] = filetypeinfo(head.subarray(0, TYPE_BYTES))
  const type = first?.mime ?? UNKNOWN
  return GIVEN.test(type) ? type : UNKNOWN
}
