/**
 * Text for terminals and logs: nothing in it moves the cursor, breaks a line unseen or turns the
 * direction of reading. This is the only list of such characters.
 */
const UNPRINTABLE = String.raw`\p{Bidi_Control}\u2028\u2029`
/** C0 but tab and newline, DEL, C1, and the rest. */
const CONTROLS = new RegExp(String.raw`(?![\n\t])[\p{Cc}${UNPRINTABLE}]`, 'gu')
const UNESCAPED = new RegExp(String.raw`[\u007f-\u009f${UNPRINTABLE}]`, 'gu')

/** Removes unprintable characters; newlines and tabs stay. */
export const stripControls = (text: string): string => text.replace(CONTROLS, '')

/** The same in one line: a newline or tab becomes a space. */
export const oneLine = (text: string): string => stripControls(text).replace(/[\n\t]/g, ' ')

/** A count with its noun: `1 chat`, `2 chats`. @param many where that is not the noun with an s */
export const counted = (count: number, one: string, many = `${one}s`): string =>
  `${count} ${count === 1 ? one : many}`

/** The first texts of a list, and how many there are more. */
export function listFirst(all: readonly (string | number)[], most = 10, and = ' and'): string {
  const more = all.length > most ? `${and} ${all.length - most} more` : ''
  return `${all.slice(0, most).join(', ')}${more}`
}

/** A value as JSON, in which everything unprintable is escaped. @param indent spaces; one line without */
export const printableJson = (value: unknown, indent?: number): string =>
  JSON.stringify(value, null, indent).replace(
    UNESCAPED,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
