/** The part of a file that a request asks for (RFC 9110, 14). */
import { parse } from 'range-parser'

/** Positions of bytes: from `start` up to, not including, `end`. */
export interface ByteRange {
  start: number
  end: number
}

/** Of the result of `range-parser`: a range beyond the end of the file. */
const UNSATISFIABLE = 2

/**
 * Reads the `Range` of a GET against a file.
 * @param asked `ifRange` is the tag of the content for the range: other content is given whole
 * @param file `tag` is that of its content, in quotes
 * @returns null for the whole file, also for several ranges and malformed ones;
 *   `unsatisfiable` where the file has no byte of the range
 */
export function readRange(
  { range = '', ifRange }: { range: string | undefined; ifRange: string | undefined },
  file: { bytes: number; tag: string },
): ByteRange | 'unsatisfiable' | null {
  const { code, type, ranges } = parse(file.bytes, range)
  if (type !== 'bytes' || range.includes(',')) return null
  if (ifRange !== undefined && ifRange !== file.tag) return null
  if (code === UNSATISFIABLE) return 'unsatisfiable'
  const [one] = ranges
  return one === undefined ? null : { start: one.start, end: one.end + 1 }
}
