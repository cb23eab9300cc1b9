import { expect, test } from 'vitest'
import { Metrics, MetricRegistry } from '../../src/observe/metrics.ts'

/** Two bots and the process, in one registry. */
function several() {
  const registry = new MetricRegistry({ isOfSeveral: true })
  const [echo, news] = ['echo', 'news'].map((bot) => new Metrics(registry, bot))
  if (echo === undefined || news === undefined) throw new Error('two bots')
  return { registry, echo, news, all: new Metrics(registry) }
}

const linesOf = (text: string, name: string): string[] =>
  text.split('\n').filter((line) => line.startsWith(`${name}{`) || line.startsWith(`${name} `))

test('a metric of one of several bots has the label `bot`, and begins at zero', async () => {
  const { registry, echo } = several()
  echo.count('postern_seals_total', {})
  expect(linesOf(await registry.text(), 'postern_seals_total')).toEqual([
    'postern_seals_total{bot="echo"} 1',
    'postern_seals_total{bot="news"} 0',
  ])
})

test('a metric read at each scrape has a value for each bot', async () => {
  const { registry, echo, news } = several()
  let isReady = 1
  echo.show('postern_ready', () => [[{}, isReady]])
  news.show('postern_ready', () => [[{}, 0]])
  const look = async () => linesOf(await registry.text(), 'postern_ready')
  expect(await look()).toEqual(['postern_ready{bot="echo"} 1', 'postern_ready{bot="news"} 0'])
  isReady = 0
  expect(await look()).toEqual(['postern_ready{bot="echo"} 0', 'postern_ready{bot="news"} 0'])
})

test('a metric of the process has no label `bot`, and one value, also where each bot shows it', async () => {
  const { registry, all, news } = several()
  for (const one of [all, news]) one.show('postern_threads_busy', () => [[{ pool: 'native' }, 2]])
  all.count('postern_workers_killed_total', {})
  const text = await registry.text()
  expect(linesOf(text, 'postern_threads_busy')).toEqual(['postern_threads_busy{pool="native"} 2'])
  expect(linesOf(text, 'postern_workers_killed_total')).toEqual(['postern_workers_killed_total 1'])
})

test('`forget` removes the metrics of one bot, and keeps those of the others', async () => {
  const { registry, echo, news } = several()
  for (const one of [echo, news]) {
    one.count('postern_seals_total', {})
    one.observe('postern_seal_duration_seconds', {}, 0.2)
    one.set('postern_webhook_failures', {}, 3)
    one.show('postern_ready', () => [[{}, 1]])
  }
  await registry.forget('echo')
  const text = await registry.text()
  expect(text).not.toContain('echo')
  expect(text).toContain('postern_seals_total{bot="news"} 1')
  expect(text).toContain('postern_seal_duration_seconds_count{bot="news"} 1')
  expect(text).toContain('postern_webhook_failures{bot="news"} 3')
  expect(text).toContain('postern_ready{bot="news"} 1')
})
