/**
 * The part of a file that a request asks for (RFC 9110, 14). The package `range-parser` answers
 * `bytes=-N` for a longer N than the file, and `bytes=9-5`, as unsatisfiable; RFC 9110 gives all.
 */

/** Positions of bytes: from `start` up to, not including, `end`. */
export interface ByteRange {
  start: number
  end: number
}

const RANGE = /^bytes=(\d{0,15})-(\d{0,15})$/i

/**
 * Reads the `Range` of a GET against a file.
 * @param asked `ifRange` is the tag of the content for the range: other content is given whole
 * @returns null for the whole file, also for several ranges and malformed ones;
 *   `unsatisfiable` where the file has no byte of the range
 */
export function readRange(
  asked: { range: string | undefined; ifRange: string | undefined },
  file: { bytes: number; tag: string },
): ByteRange | 'unsatisfiable' | null {
  const [, first = '', last = ''] = RANGE.exec(asked.range ?? '') ?? []
  if (first === '' && last === '') return null
  if (asked.ifRange !== undefined && asked.ifRange !== file.tag) return null
  if (first === '') {
    const start = Math.max(0, file.bytes - Number(last))
    return start < file.bytes ? { start, end: file.bytes } : 'unsatisfiable'
  }
  const start = Number(first)
  const end = last === '' ? file.bytes : Math.min(Number(last) + 1, file.bytes)
  if (last !== '' && Number(last) < start) return null
  return start < file.bytes ? { start, end } : 'unsatisfiable'
}
