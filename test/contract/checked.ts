import { NOT_CHECKED } from './not-checked.ts'
import { sentences, type Proof } from './spec/statements.ts'
import { TABLES } from './spec/tables.ts'

/** Lines with the proven statements of the specification, heading by heading. */
export function checkedLines(proven: ReadonlySet<Proof>): string[] {
  const headings = new Map<string, Proof[]>()
  for (const { section, name } of sentences()) {
    headings.set(section, [...(headings.get(section) ?? []), name])
  }
  for (const [table, rows] of Object.entries(TABLES)) headings.set(`table of ${table}`, [...rows])
  const all = [...headings.values()].flat()
  const count = (of: Proof[]): number => of.filter((one) => proven.has(one)).length
  return [
    `${count(all)} of ${all.length} statements of the specification were shown to hold`,
    ...[...headings].map(([heading, statements]) => {
      const missing = statements.filter((one) => !proven.has(one)).map(nameOf)
      const rest = missing.length === 0 ? '' : `; not: ${missing.join(', ')}`
      return `  ${heading}: ${count(statements)} of ${statements.length}${rest}`
    }),
  ]
}

/** With the reason, where no case can show it. */
function nameOf(statement: Proof): string {
  const why = NOT_CHECKED[statement]
  return why === undefined ? statement : `${statement} (${why})`
}
