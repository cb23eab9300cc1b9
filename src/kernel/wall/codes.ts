/** Codes of requests for a person's word: the approver and Postern alone know them (outbox, README). */

/** Without letters and digits that are read as one another. */
export const CODE_LETTERS = '23456789ABCDEFGHJKMNPQRSTUVWXYZ'
/** So many that nobody finds a code by the refusals of texts that hold it. */
export const CODE_CHARS = 10
/** Letters of other scripts, and those of ours that a hasty reader confuses; below, how they are read. */
const LETTERS = 'АВЕКМНРСТХУЅЈԌԚԜҮЗΑΒΕΖΗΚΜΝΡΤΥΧϹ2568V'
const READ_AS = 'ABEKMHPCTXYSJGQWY3ABEZHKMNPTYXCZSGBU'
/** By UTF-16 unit, the letter that it is read as; 0: none. */
const READ = new Uint8Array(2 ** 16)
for (const letter of CODE_LETTERS) READ[letter.charCodeAt(0)] = letter.charCodeAt(0)
for (let at = 0; at < LETTERS.length; at++) READ[LETTERS.charCodeAt(at)] = READ_AS.charCodeAt(at)

/** How a text reads without case, blanks, punctuation and invisible characters. */
function fold(text: string): string {
  const units = text.normalize('NFKD').toUpperCase()
  const letters = Buffer.allocUnsafe(units.length)
  let length = 0
  for (let at = 0; at < units.length; at++) {
    const letter = READ[units.charCodeAt(at)] ?? 0
    if (letter !== 0) letters[length++] = letter
  }
  return letters.toString('latin1', 0, length)
}

/** Whether a value reads as one that holds a code, forwards or backwards, also across its texts. */
export function holdsCode(value: unknown, codes: readonly string[]): boolean {
  if (codes.length === 0) return false
  const found = { values: [] as string[], names: [] as string[] }
  addTexts(value, found)
  // the text may be long, and anybody's
  const text = fold([...found.values, ...found.names].join(''))
  const ways = codes.map(fold).flatMap((code) => [code, Array.from(code).toReversed().join('')])
  return ways.some((code) => text.includes(code))
}

function addTexts(value: unknown, found: { values: string[]; names: string[] }): void {
  if (typeof value !== 'object' || value === null) return void found.values.push(String(value))
  if (!Array.isArray(value)) found.names.push(...Object.keys(value))
  for (const inner of Object.values(value)) addTexts(inner, found)
}
