/** The part of a file that a request asks for (RFC 9110, 14). */

/** From the first octet up to, not including, the last. */
export interface Part {
  start: number
  end: number
}

const RANGE = /^bytes=(\d{0,15})-(\d{0,15})$/i

/**
 * Reads the `Range` of a GET against a file.
 * @param asked `ifRange` names the content that the range is of: of any other, all is given
 * @returns null where all is asked for, which is also what several ranges and malformed ones get;
 *   `unsatisfiable` where there is nothing of it
 */
export function partOf(
  asked: { range: string | undefined; ifRange: string | undefined },
  file: { octets: number; tag: string },
): Part | 'unsatisfiable' | null {
  const [, first = '', last = ''] = RANGE.exec(asked.range ?? '') ?? []
  if (first === '' && last === '') return null
  if (asked.ifRange !== undefined && asked.ifRange !== file.tag) return null
  if (first === '') {
    const start = Math.max(0, file.octets - Number(last))
    return start < file.octets ? { start, end: file.octets } : 'unsatisfiable'
  }
  const start = Number(first)
  const end = last === '' ? file.octets : Math.min(Number(last) + 1, file.octets)
  if (last !== '' && Number(last) < start) return null
  return start < file.octets ? { start, end } : 'unsatisfiable'
}
