/** The core of the matrix, for every run of the tests; `npm run interop` runs the whole. */
import { afterAll, beforeAll, test } from 'vitest'
import { isInstalled } from '../support/programs.ts'
import { Row, TABLES, type Case, type Ours } from './cases.ts'
import { ourSide, runCase } from './matrix.ts'
import { FEATURES, WRITER_NAMES, openPeers } from '../support/peers/index.ts'

/** Columns by table; each program is asked for those that it offers. */
const CORE: Record<string, string[]> = {
  'key-in': ['cv25519', 'rsa2048', 'p256', 'bp256'],
  'key-out': ['cv25519', 'rsa2048', 'p256', 'bp256'],
  'manner-in': FEATURES.filter((one) => !['plain', 'zip', 'aes192'].includes(one)),
  'file-in': ['plain', 'zip', 'padded', 'anonymous', 'cast5', 'lengths', 'text mode'],
  'text-out': ['unicode', 'lengths', 'names', 'stranger'],
}

/** A program that takes a second to start is asked for less. */
const SLOW = new Set(['pgpainless-cli'])
const FEW = new Set(['cv25519', 'unicode'])

const CASES: { table: string; one: Case }[] = TABLES.flatMap(({ id, cases }) =>
  cases.filter(({ name }) => CORE[id]?.includes(name)).map((one) => ({ table: id, one })),
)

let ours: Ours & AsyncDisposable
beforeAll(async () => {
  ours = await ourSide()
})
afterAll(() => ours[Symbol.asyncDispose]())

test.concurrent.for(WRITER_NAMES)(
  'the engine and %s open and verify messages of each other',
  { timeout: 120_000 },
  async (name, { skip, expect }) => {
    skip(!isInstalled(name), `${name} is not installed`)
    await using opened = await openPeers([name])
    const row = new Row(opened.peers.get(name) ?? expect.fail(`${name} does not start`), ours)
    const cells: Record<string, string> = {}
    for (const { table, one } of CASES) {
      if (SLOW.has(name) && !FEW.has(one.name)) continue
      const cell = await runCase(one, row)
      if (cell.is === 'refused') cells[`${table}: ${one.name}`] = cell.why
    }
    expect(cells).toEqual({})
  },
)
