import { readFileSync } from 'node:fs'
import { beforeAll, describe, expect, test } from 'vitest'
import { SHAPES, questionsOf } from './all.ts'
import { readKept, takersOf } from './kept.ts'
import { engineOf, resultOf, type OurResult } from './ours.ts'
import { MORE, PROMISES, PROMISES_PAGE, TRUE_OF } from './promises.ts'
import { promiseOf, verdictOf, type Compared } from './rule.ts'
import type { Question } from './shape.ts'

const kept = readKept()
const results = new Map<string, Record<'native' | 'library', OurResult>>()
const compared: Compared[] = []

beforeAll(async () => {
  const [native, library] = await Promise.all(
    (['native', 'library'] as const).map(async (kind) => {
      await using engine = engineOf(kind)
      const of: OurResult[] = []
      for (const shape of SHAPES.values()) of.push(await resultOf(shape, engine))
      return of
    }),
  )
  for (const [index, key] of [...SHAPES.keys()].entries()) {
    const [one, other] = [native?.[index], library?.[index]]
    if (one === undefined || other === undefined) continue
    results.set(key, { native: one, library: other })
    for (const [question, ours] of Object.entries(one.answers) as [Question, string][]) {
      compared.push({ key, question, ours, takers: takersOf(kept, key, question) })
    }
  }
}, 120_000)

const lineOf = ({ key, question, ours }: Compared): string => `${key}, ${question}: ${ours}`

describe('the rule', () => {
  test('each program has a kept answer for each of at least 400 shapes', () => {
    expect(SHAPES.size).toBeGreaterThanOrEqual(400)
    expect([...kept.shapes.keys()].toSorted()).toEqual([...SHAPES.keys()].toSorted())
    const missing = [...SHAPES].filter(([key, shape]) =>
      Object.keys(kept.versions).some((program) => {
        const answers = kept.shapes.get(key)?.get(program) ?? {}
        return questionsOf(shape).some((question) => answers[question] === undefined)
      }),
    )
    expect(missing.map(([key]) => key)).toEqual([])
  })

  test('each shape that three of the five programs accept is accepted, or a promise forbids it', () => {
    const short = compared.filter((one) => verdictOf(one) === 'short')
    expect(short.map(lineOf)).toEqual([])
  })

  test('each shape that fewer than three of the five programs accept is refused, or is one of `MORE`', () => {
    const more = compared.filter((one) => verdictOf(one) === 'more')
    expect(more.filter(({ key }) => !MORE.some((one) => one.test(key))).map(lineOf)).toEqual([])
    const idle = MORE.filter((one) => !more.some(({ key }) => one.test(key)))
    expect(idle.map(({ source }) => source)).toEqual([])
  })

  test('each shape that a promise forbids is refused for its reason', () => {
    const forbidden = compared.filter((one) => promiseOf(one) !== undefined)
    const other = forbidden.filter((one) => promiseOf(one)?.reasons[one.question] !== one.ours)
    expect(other.map(lineOf)).toEqual([])
  })

  test('each reason is given only for shapes of which it is true', () => {
    const untrue = compared.filter(({ key, ours }) => TRUE_OF[ours]?.test(key) === false)
    expect(untrue.map(lineOf)).toEqual([])
  })

  test('each promise forbids a shape that three programs accept, and is a sentence of its page', () => {
    const page = readFileSync(PROMISES_PAGE, 'utf8')
    const promised = compared.filter((one) => verdictOf(one) === 'promised').map(promiseOf)
    const idle = PROMISES.filter((one) => !promised.includes(one) || !page.includes(one.promise))
    const patterns = idle.map(({ shapes }) => shapes.source)
    expect(patterns).toEqual([])
  })
})

describe('both readers', () => {
  test('both engines have the same result for each shape', () => {
    const differing = [...results].filter(
      ([, { native, library }]) => JSON.stringify(native) !== JSON.stringify(library),
    )
    expect(differing).toEqual([])
  })

  test('the message of each shape is read as a file with the same outcome', () => {
    const differing = [...results].filter(([, { native }]) => {
      const [outcome = 'yes'] = native.answers.read?.split(':') ?? []
      return native.file !== outcome
    })
    expect(differing).toEqual([])
  })
})
