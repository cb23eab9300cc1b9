/**
 * Prints the interoperability matrix: `npm run interop`. Exits 0 when all that is offered is ok.
 */
import { TABLES } from './cases.ts'
import { cellName, ourSide, runProgram, type Cells } from './matrix.ts'
import { WRITER_NAMES } from '../support/peers/index.ts'

const SIGNS = { ok: 'ok', 'not offered': '-', refused: 'NO' } as const
const width = Math.max(...WRITER_NAMES.map((name) => name.length)) + 2

const rows = new Map<string, Cells>()
{
  await using ours = await ourSide()
  const all = await Promise.all(WRITER_NAMES.map((name) => runProgram(name, ours)))
  for (const [index, name] of WRITER_NAMES.entries()) rows.set(name, all[index] ?? null)
}

const refused: string[] = []
for (const { id, title, cases } of TABLES) {
  const columns = cases.map(({ name }) => name)
  process.stdout.write(`\n${title} (${id})\n${''.padEnd(width)}${columns.map(pad).join('')}\n`)
  for (const [program, cells] of rows) {
    const line = columns.map((column) => {
      const cell = cells?.get(cellName(id, column))
      if (cell?.is === 'refused') refused.push(`${program}, ${id}, ${column}: ${cell.why}`)
      return pad(cell === undefined ? ' ' : SIGNS[cell.is])
    })
    process.stdout.write(
      `${program.padEnd(width)}${cells === null ? 'not installed' : line.join('')}\n`,
    )
  }
}

function pad(text: string): string {
  return text.padEnd(Math.max(9, text.length + 2))
}

const all = [...rows.values()].flatMap((cells) => [...(cells?.values() ?? [])])
const offered = all.filter(({ is }) => is !== 'not offered').length
process.stdout.write(`\nok: agreed  -: not offered by the program  NO: refused\n`)
for (const line of refused) process.stdout.write(`NO ${line}\n`)
process.stdout.write(`${offered - refused.length} of ${offered} cells are ok\n`)
process.exitCode = refused.length === 0 ? 0 : 1
