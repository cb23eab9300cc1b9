import { printable } from './terminal.ts'

const GAP = ' │ '

/**
 * Sets texts side by side, each wrapped within its column, so that a row fits the sum of the
 * widths and three for each gap.
 * @param cells one text a column; may hold newlines
 * @param widths of the columns, in UTF-16 units
 * @returns the lines of the row
 */
export function sideBySide(cells: readonly string[], widths: readonly number[]): string[] {
  const columns = widths.map((width, index) => wrap(printable(cells[index] ?? ''), width))
  const height = Math.max(...columns.map((lines) => lines.length))
  return Array.from({ length: height }, (_, row) =>
    columns
      .map((lines, index) => (lines[row] ?? '').padEnd(widths[index] ?? 0))
      .join(GAP)
      .trimEnd(),
  )
}

/** Breaks at blanks where it can, else anywhere. */
function wrap(text: string, width: number): string[] {
  return text.split('\n').flatMap((line) => {
    const lines: string[] = []
    let rest = line
    while (rest.length > width) {
      const blank = rest.lastIndexOf(' ', width)
      const at = blank > 0 ? blank : width
      lines.push(rest.slice(0, at))
      rest = rest.slice(at).trimStart()
    }
    return [...lines, rest]
  })
}
