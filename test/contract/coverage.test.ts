import { describe, expect, it } from 'vitest'
import { ALL_CASES } from './cases/all.ts'
import { NOT_CHECKED } from './not-checked.ts'
import { sentences } from './spec/statements.ts'
import { everything, TABLES } from './spec/tables.ts'
import { SandboxDriver } from './ways/sandbox-driver.ts'

const proven = new Set<string>(ALL_CASES.flatMap(({ proves }) => proves))
const excused = new Set(Object.keys(NOT_CHECKED))

describe.each(Object.entries(TABLES))('the specification’s table of %s', (_table, rows) => {
  it.each(rows)('%s: a case shows it, or a line says why none does', (row) => {
    expect(proven.has(row) || excused.has(row)).toBe(true)
  })
})

describe('the specification’s sentences', () => {
  it.each(sentences())('$section: $text', ({ name }) => {
    expect(proven.has(name) || excused.has(name)).toBe(true)
  })

  it('have each a name of their own', () => {
    const names = sentences().map(({ name }) => name)
    expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([])
  })
})

describe('the list of what is not checked', () => {
  it('names only what there is, with a reason', () => {
    const known = new Set<string>(everything())
    for (const [name, why] of Object.entries(NOT_CHECKED)) {
      expect(known).toContain(name)
      expect(why).not.toBe('')
    }
  })

  it('names nothing that a case shows', () => {
    expect([...excused].filter((name) => proven.has(name))).toEqual([])
  })

  it('holds no endpoint, no error code and no transition', () => {
    const rows: string[] = [...TABLES.endpoints, ...TABLES.errors, ...TABLES.transitions]
    expect(rows.filter((row) => excused.has(row))).toEqual([])
  })
})

describe('the cases', () => {
  it('have each a name of their own under their heading', () => {
    const names = ALL_CASES.map(({ section, name }) => `${section}: ${name}`)
    expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([])
  })

  it('reach every endpoint through the sidecar too, but for those that it refuses as yet', () => {
    for (const way of ['direct', 'protected', 'open'] as const) {
      const driver = new SandboxDriver(way)
      const played = ALL_CASES.filter((one) => driver.whyNot(one) === null)
      const reached = new Set<string>(played.flatMap(({ proves }) => proves))
      const missing = TABLES.endpoints.filter((row) => !reached.has(row))
      expect(missing.every((row) => way !== 'direct' && row.endsWith('Webhook'))).toBe(true)
    }
  })
})
