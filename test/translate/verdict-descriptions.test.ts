import { globSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import {
  describeReason,
  REASON_DESCRIPTIONS,
  SKIP_REASONS,
} from '../../src/translate/reasons/reason-descriptions.ts'
import { VERDICTS } from '../../src/kernel/opening/verdict.ts'

const TABLES = /(reason-descriptions|opening\/verdict)\.ts$/
const code = globSync('src/{kernel,translate,openpgp,keys}/**/*.ts')
  .filter((file) => !TABLES.test(file))
  .map((file) => readFileSync(file, 'utf8'))
  .join('\n')

/** Verdict and reason where the code names both together. */
const PAIRS = [
  /(?:verdict|outcome): '([a-z-]+)',\s+reason: '([a-z-]+)'/g,
  /(?:failed|refusalOf)\('([a-z-]+)', '([a-z-]+)'/g,
]

test('each reason in the source has one of the verdicts of its table row', () => {
  const pairs = PAIRS.flatMap((pattern) => [...code.matchAll(pattern)]).filter(
    ([, verdict = '']) => verdict in VERDICTS,
  )
  expect(pairs.length).toBeGreaterThan(25)
  const others = pairs
    .map(([, verdict = '', reason = '']) => ({ verdict, reason }))
    .filter(({ verdict, reason }) => {
      return describeReason(reason)?.with.some((one) => one === verdict) !== true
    })
  expect(others).toEqual([])
})

test.each(Object.keys(REASON_DESCRIPTIONS))('the reason %s occurs in the source', (reason) => {
  expect(code).toContain(`'${reason}'`)
})

test.each(Object.keys(SKIP_REASONS))('the skip reason %s occurs in the source', (reason) => {
  expect(code).toContain(`'${reason}'`)
})
