/** Texts in columns. Widths are those that a terminal gives: two for a wide character, none for an accent. */
import stringWidth from 'fast-string-width'
import { wrapAnsi } from 'fast-wrap-ansi'
import { stripControls, print } from './terminal.ts'

const GAP = ' │ '

/**
 * Prints rows to stdout in columns, a line each.
 * @param rows the first is the head; a row may be shorter than the others
 */
export function printTable(rows: readonly (readonly string[])[]): void {
  const lines = rows.map((row) => row.map((cell) => stripControls(cell).replace(/[\n\t]/g, ' ')))
  const widths: number[] = []
  for (const cells of lines) {
    cells.forEach((cell, column) => {
      widths[column] = Math.max(widths[column] ?? 0, stringWidth(cell))
    })
  }
  for (const cells of lines) {
    print(
      cells
        .map((cell, column) => pad(cell, widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    )
  }
}

/**
 * Sets texts side by side, each wrapped within its column, so that a row fits the sum of the
 * widths and three for each gap.
 * @param cells one text a column; may hold newlines
 * @returns the lines of the row
 */
export function sideBySide(cells: readonly string[], widths: readonly number[]): string[] {
  const columns = widths.map((width, index) =>
    wrapAnsi(stripControls(cells[index] ?? ''), width, { hard: true }).split('\n'),
  )
  const height = Math.max(...columns.map((lines) => lines.length))
  return Array.from({ length: height }, (_, row) =>
    columns
      .map((lines, index) => pad(lines[row] ?? '', widths[index] ?? 0))
      .join(GAP)
      .trimEnd(),
  )
}

function pad(text: string, width: number): string {
  return text + ' '.repeat(Math.max(0, width - stringWidth(text)))
}
