/**
 * Prints rows to stdout in columns, a line each.
 * @param rows the first is the head; a row may be shorter than the others
 */
export declare function printTable(rows: readonly (readonly string[])[]): void;
/**
 * Sets texts side by side, each wrapped within its column, so that a row fits the sum of the
 * widths and three for each gap.
 * @param cells one text a column; may hold newlines
 * @returns the lines of the row
 */
export declare function sideBySide(cells: readonly string[], widths: readonly number[]): string[];
