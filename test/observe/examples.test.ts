import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { parse } from 'yaml'
import { REASON_CODES } from '../../src/observe/health.ts'
import { REFUSALS } from '../../src/refusals.ts'
import { METRICS } from '../../src/observe/metric-catalogue.ts'
import { TRUST_ALARM_CODES } from '../../src/observe/trust-alarms.ts'
import { MetricRegistry } from '../../src/observe/metrics.ts'
import { VERDICTS } from '../../src/kernel/opening/verdict.ts'

const read = (name: string): string =>
  readFileSync(new URL(`../../config/examples/${name}`, import.meta.url), 'utf8')

const rules = (
  parse(read('prometheus-rules.yaml')) as { groups: { rules: { expr: string }[] }[] }
).groups.flatMap((group) => group.rules)
const dashboard = JSON.parse(read('grafana-dashboard.json')) as {
  panels: { title: string; targets: { expr: string }[] }[]
}
const expressions = [
  ...rules.map(({ expr }) => expr),
  ...dashboard.panels.flatMap(({ targets }) => targets.map(({ expr }) => expr)),
]

/** A histogram shows itself under three names. */
const known = new Set(
  [...(await new MetricRegistry().text()).matchAll(/^# TYPE (\S+)/gm)].flatMap(([, name]) => [
    name,
    `${name}_bucket`,
    `${name}_sum`,
    `${name}_count`,
  ]),
)

test('the example dashboard and alert rules query existing metrics only', () => {
  const asked = expressions.flatMap((expr) => expr.match(/\bpostern_\w+(?=[{ )[]|$)/g) ?? [])
  expect(asked.length).toBeGreaterThan(25)
  expect(asked.filter((name) => !known.has(name))).toEqual([])
})

test('the example dashboard shows every metric of Postern', () => {
  const shown = dashboard.panels.flatMap(({ targets }) => targets.map(({ expr }) => expr)).join()
  const own = Object.keys(METRICS)
  expect(own.filter((name) => !new RegExp(`\\b${name}(?:_bucket)?\\b`).test(shown))).toEqual([])
})

test('the label values in dashboard and alert rules exist', () => {
  const values = expressions.flatMap((expr) =>
    [...expr.matchAll(/(code|verdict|alarm)=~?"([^"]+)"/g)].flatMap(([, label, list]) =>
      String(list)
        .split('|')
        .map((value) => [String(label), value] as const),
    ),
  )
  expect(values.length).toBeGreaterThan(5)
  const sets: Record<string, ReadonlySet<string>> = {
    code: new Set<string>([...REASON_CODES, ...Object.keys(REFUSALS)]),
    verdict: new Set(Object.keys(VERDICTS)),
    alarm: new Set<string>(TRUST_ALARM_CODES),
  }
  const wrong = values.filter(([label, value]) => sets[label]?.has(value) !== true)
  expect(wrong).toEqual([])
})

test('every trust alarm and the reason `identity` have an alert rule', () => {
  const asked = rules.map(({ expr }) => expr).join()
  expect(TRUST_ALARM_CODES.filter((code) => !asked.includes(`alarm="${code}"`))).toEqual([])
  expect(asked).toContain('code="identity"')
})
