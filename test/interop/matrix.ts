/** Running the matrix, and what a cell of it can be. */
import { createEngine } from '../../src/openpgp/create.ts'
import { openPeers } from '../support/peers/index.ts'
import { Row, TABLES, type Case, type Ours } from './cases.ts'

export type Cell = { is: 'ok' } | { is: 'not offered' } | { is: 'refused'; why: string }

/** Cells of one program by table and case name; null when it is not installed. */
export type Cells = Map<string, Cell> | null

export const cellName = (table: string, column: string): string => `${table}/${column}`

/** Our side, with a key dated back as the sidecar's. */
export async function ourSide(): Promise<Ours & AsyncDisposable> {
  const engine = createEngine({ threads: 2 })
  const passphrase = 'interop'
  const key = await engine.generate({ userId: 'bot', createdMs: Date.now() - 300_000, passphrase })
  const unlocked = await engine.unlock(key.locked, passphrase)
  return { engine, key, unlocked, [Symbol.asyncDispose]: () => engine[Symbol.asyncDispose]() }
}

/** Runs every case of one program; nothing is thrown for what does not agree. */
export async function runProgram(name: string, ours: Ours): Promise<Cells> {
  await using opened = await openPeers([name])
  const peer = opened.peers.get(name)
  if (peer === undefined) return null
  const row = new Row(peer, ours)
  const cells: NonNullable<Cells> = new Map()
  for (const { id, cases } of TABLES) {
    for (const one of cases) cells.set(cellName(id, one.name), await runCase(one, row))
  }
  return cells
}

/** Runs one case; nothing is thrown. */
export async function runCase(one: Case, row: Row): Promise<Cell> {
  if (!one.offered(row.writer)) return { is: 'not offered' }
  try {
    await one.check(row)
    return { is: 'ok' }
  } catch (error) {
    return { is: 'refused', why: error instanceof Error ? error.message : String(error) }
  }
}
