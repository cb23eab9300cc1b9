/** Codes of requests for a person's word: the approver and Postern alone know them (outbox, README). */

/** Without letters and digits that are read as one another. */
export const CODE_LETTERS = '23456789ABCDEFGHJKMNPQRSTUVWXYZ'
/** So many that nobody finds a code by the refusals of texts that hold it. */
export const CODE_CHARS = 10
/** Letters of other scripts, and those of ours that a hasty reader confuses; below, how they are read. */
const LETTERS = 'АВЕКМНРСТХУЅЈԌԚԜҮЗΑΒΕΖΗΚΜΝΡΤΥΧϹ2568V'
const READ_AS = 'ABEKMHPCTXYSJGQWY3ABEZHKMNPTYXCZSGBU'
const NO_LETTER = new RegExp(`[^${CODE_LETTERS}]`, 'gu')

/** How a text reads without case, blanks, punctuation and invisible characters. */
const fold = (text: string): string =>
  Array.from(text.normalize('NFKD').toUpperCase(), (one) => READ_AS[LETTERS.indexOf(one)] ?? one)
    .join('')
    .replaceAll(NO_LETTER, '')

/** Whether a value reads as one that holds a code, forwards or backwards, also across its texts. */
export function holdsCode(value: unknown, codes: readonly string[]): boolean {
  const known = new Set(codes.map(fold))
  const text =
    known.size === 0 ? '' : fold([...textsIn(value, false), ...textsIn(value, true)].join(''))
  return [text, Array.from(text).toReversed().join('')].some((one) =>
    Array.from(one, (_, at) => one.slice(at, at + CODE_CHARS)).some((part) => known.has(part)),
  )
}

function textsIn(value: unknown, areNames: boolean): string[] {
  if (typeof value !== 'object' || value === null) return areNames ? [] : [String(value)]
  const names = areNames ? Object.keys(value) : []
  return [...names, ...Object.values(value).flatMap((inner) => textsIn(inner, areNames))]
}
