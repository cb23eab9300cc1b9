import { filetypeinfo } from 'magic-bytes.js'

/** How many bytes of a file are read. */
export const TYPE_BYTES = 512
const UNKNOWN = 'application/octet-stream'
/** Types that no browser executes, for any content; SVG is a document with scripts. */
const GIVEN = /^(?:(?:image|audio|video)\/(?!svg)[a-z0-9.+-]+|application\/(?:pdf|zip|ogg))$/

/**
 * The media type of a file by its first bytes. Only a type that is harmless in a browser is named;
 * all others are `application/octet-stream`.
 */
export function contentTypeOf(head: Uint8Array): string {
  const [first] = filetypeinfo(head.subarray(0, TYPE_BYTES))
  const type = first?.mime ?? UNKNOWN
  return GIVEN.test(type) ? type : UNKNOWN
}
