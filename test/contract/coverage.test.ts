import { expect, it } from 'vitest'
import { ALL_CASES } from './cases/all.ts'
import { NOT_CHECKED } from './not-checked.ts'
import { everything, TABLES } from './spec/tables.ts'
import { SandboxDriver } from './ways/sandbox-driver.ts'

const proven = new Set<string>(ALL_CASES.flatMap(({ proves }) => proves))
const excused = new Set(Object.keys(NOT_CHECKED))
const repeated = (names: string[]): string[] =>
  names.filter((name, index) => names.indexOf(name) !== index)

it('every sentence and every row of a table has a case or a reason, and not both', () => {
  const all: string[] = everything()
  expect(all.filter((one) => !proven.has(one) && !excused.has(one))).toEqual([])
  expect([...excused].filter((one) => proven.has(one))).toEqual([])
})

it('every endpoint, error code and transition has a case', () => {
  const rows: string[] = [...TABLES.endpoints, ...TABLES.errors, ...TABLES.transitions]
  expect(rows.filter((row) => !proven.has(row))).toEqual([])
})

it('the names of sentences, and of the cases below a heading, are unique', () => {
  expect(repeated(everything())).toEqual([])
  expect(repeated(ALL_CASES.map(({ section, name }) => `${section}: ${name}`))).toEqual([])
})

it('the cases of each way cover every endpoint, but for the webhook through the sidecar', () => {
  for (const way of ['direct', 'protected', 'open'] as const) {
    const driver = new SandboxDriver(way)
    const played = ALL_CASES.filter((one) => driver.whyNot(one) === null)
    const reached = new Set<string>(played.flatMap(({ proves }) => proves))
    const missing = TABLES.endpoints.filter((row) => !reached.has(row))
    expect(missing.every((row) => way !== 'direct' && row.endsWith('Webhook'))).toBe(true)
  }
})
