/** Texts in columns. Widths are those that a terminal gives: two for a wide character, none for an accent. */
import stringWidth from 'fast-string-width'
import { wrapAnsi } from 'fast-wrap-ansi'
import {
  asTyped,
  isStdoutTerminal,
  print,
  printNotice,
  terminalWidth,
  wrapText,
} from './terminal.ts'
import { oneLine, stripControls } from '../printable.ts'

const GAP = '  '
const SIDE_GAP = ' │ '
/** A last column narrower than this begins on a line of its own. */
const LEAST_LAST = 24
const INDENT = 2

type Cells = readonly string[]

/**
 * Prints rows to stdout in columns, without those that are null. At a terminal that is too narrow the
 * last column is wrapped; else each row is one line.
 * @param rows a row may be shorter than the others
 */
export function printTable(rows: readonly (Cells | null)[]): void {
  const cells = rows.filter((row) => row !== null).map((row) => row.map(cleanCell))
  const widths = widthsOf(cells)
  const indent = sum(widths.slice(0, -1)) + GAP.length * (widths.length - 1)
  for (const row of cells) {
    const line = joinRow(row, widths)
    if (stringWidth(line) <= availableWidth()) print(line)
    else if (row.length < widths.length) print(wrapText(line, availableWidth()).join('\n'))
    else printLong(row, { widths, indent })
  }
}

/**
 * Prints a row for each thing, under the heads of its columns. At a terminal that is too narrow each
 * row is a block, with a line for each of its cells, so that nothing that somebody may copy is cut.
 * @param none the notice where there is nothing to list; null prints the heads alone
 * @param columns by its head, the text that a column has for a thing
 */
export function printList<T>(
  things: readonly T[],
  none: string | null,
  columns: Readonly<Record<string, (thing: T) => string>>,
): void {
  if (things.length === 0 && none !== null) return printNotice(none)
  const heads = Object.keys(columns)
  const rows = things.map((thing) => Object.values(columns).map((cell) => cell(thing)))
  const cells = [heads, ...rows].map((row) => row.map(cleanCell))
  const widths = widthsOf(cells)
  if (sum(widths) + GAP.length * (widths.length - 1) <= availableWidth()) {
    for (const row of cells) print(joinRow(row, widths))
    return
  }
  for (const [index, row] of rows.entries()) {
    if (index > 0) print('')
    printTable(row.map((cell, column) => [heads[column] ?? '', cell]))
  }
}

/**
 * Prints a text to stdout, at a terminal wrapped to its width.
 * @param o `first` precedes the text, as wide as displayed; further lines are indented by `indent`
 */
export function printWrapped(text: string, o: { first: string; indent: number }): void {
  const clean = asTyped(stripControls(text))
  const lines = wrapText(clean, availableWidth() - o.indent)
  print(o.first + lines.join(`\n${' '.repeat(o.indent)}`))
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
      .join(SIDE_GAP)
      .trimEnd(),
  )
}

/** What goes through a pipe is not wrapped: a row is a line. */
const availableWidth = (): number => (isStdoutTerminal() ? terminalWidth() : Infinity)

function printLong(row: Cells, { widths, indent }: { widths: readonly number[]; indent: number }) {
  const before = joinRow(row.slice(0, -1), widths)
  const last = row.at(-1) ?? ''
  if (availableWidth() - indent >= LEAST_LAST) {
    return printWrapped(last, { first: pad(before, indent), indent })
  }
  print(before)
  printWrapped(last, { first: ' '.repeat(INDENT), indent: INDENT })
}

const cleanCell = (text: string): string => asTyped(oneLine(text))

function widthsOf(rows: readonly Cells[]): number[] {
  const columns = Math.max(0, ...rows.map((row) => row.length))
  return Array.from({ length: columns }, (_, column) =>
    Math.max(...rows.map((row) => stringWidth(row[column] ?? ''))),
  )
}

const joinRow = (row: Cells, widths: readonly number[]): string =>
  row
    .map((cell, column) => pad(cell, widths[column] ?? 0))
    .join(GAP)
    .trimEnd()

const sum = (numbers: readonly number[]): number => numbers.reduce((total, one) => total + one, 0)

const pad = (text: string, width: number): string =>
  text + ' '.repeat(Math.max(0, width - stringWidth(text)))
