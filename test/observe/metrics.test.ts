import { expect, test } from 'vitest'
import { Health } from '../../src/observe/health.ts'
import type { ResourceLevels } from '../../src/observe/expiry-warning.ts'
import { Metrics } from '../../src/observe/metrics.ts'
import {
  recordNoUpstreamAnswer,
  recordRequest,
  recordUpstreamAnswer,
} from '../../src/observe/record.ts'
import { showHealth, showKeys, showResources } from '../../src/observe/show.ts'

const setUp = () => {
  const health = new Health()
  const metrics = new Metrics()
  showHealth(metrics, health)
  return { health, metrics, text: () => metrics.registry.text() }
}

test('the metrics count calls to the service by owner and class of status, unknown codes as `other`', async () => {
  const { metrics, text } = setUp()
  recordUpstreamAnswer(metrics, { status: 201, ms: 10, own: false })
  recordUpstreamAnswer(metrics, { status: 429, ms: 10, own: true })
  recordNoUpstreamAnswer(metrics, 'postern_upstream_timeout')
  recordNoUpstreamAnswer(metrics, 'unknown')
  const shown = await text()
  expect(shown).toContain('postern_upstream_calls_total{owner="bot",status="2xx"} 1')
  expect(shown).toContain('postern_upstream_calls_total{owner="sidecar",status="4xx"} 1')
  expect(shown).toContain('postern_upstream_unanswered_total{code="postern_upstream_timeout"} 1')
  expect(shown).toContain('postern_upstream_unanswered_total{code="other"} 1')
})

test('requests are counted by route and status, and refusals only if they are of Postern', async () => {
  const { metrics, text } = setUp()
  const request = { method: 'POST', route: '/bot/v1/messages', ms: 20 }
  recordRequest(metrics, { ...request, status: 409, code: 'postern_no_recipient' })
  recordRequest(metrics, { ...request, status: 429, code: 'flood_wait' })
  recordRequest(metrics, { ...request, status: 201 })
  const shown = await text()
  expect(shown).toContain(
    'postern_requests_total{method="POST",route="/bot/v1/messages",status="409"} 1',
  )
  expect(shown).toContain('postern_refusals_total{code="postern_no_recipient"} 1')
  expect(shown).not.toContain('code="flood_wait"')
  expect(shown).toContain('postern_request_duration_seconds_count{route="/bot/v1/messages"} 3')
})

test('the registry shows the process and its event loop, all with help texts under one prefix', async () => {
  const { text } = setUp()
  const shown = await text()
  expect(shown).toContain('postern_nodejs_eventloop_lag_p99_seconds')
  expect(shown).toContain('postern_process_resident_memory_bytes')
  const names = [...shown.matchAll(/^# HELP (\S+) (.+)$/gm)]
  expect(names.length).toBeGreaterThan(30)
  for (const [, name, help] of names) {
    expect(name).toMatch(/^postern_/)
    expect(help?.length).toBeGreaterThan(5)
  }
})

test('`showKeys` shows the current keys, and no age of a key that was never published', async () => {
  const { metrics, text } = setUp()
  let publishedAtMs: number | null = null
  showKeys(metrics, { keys: () => [{ state: 'active', publishedAtMs }], situation: () => 'equal' })
  expect(await text()).not.toMatch(/^postern_key_age_seconds /m)
  publishedAtMs = Date.now() - 60_000
  const shown = await text()
  expect(Number(/^postern_key_age_seconds (\S+)$/m.exec(shown)?.[1])).toBeCloseTo(60, 0)
  expect(shown).toContain('postern_own_keys{state="active"} 1')
  expect(shown).toContain('postern_key_situation{situation="equal"} 1')
  expect(shown).toContain('postern_key_situation{situation="foreign"} 0')
})

test('`postern_rotations_total` has a zero for each outcome from the start', async () => {
  const { metrics, text } = setUp()
  expect(await text()).toContain('postern_rotations_total{outcome="done"} 0')
  metrics.count('postern_rotations_total', { outcome: 'done' })
  expect(await text()).toContain('postern_rotations_total{outcome="done"} 1')
})

test('`showResources` shows the last levels, and no metric of a resource without an end', async () => {
  const { metrics, text } = setUp()
  let latest: ResourceLevels | null = null
  showResources(metrics, () => latest)
  expect(await text()).not.toMatch(
    /^postern_(ends_in_seconds|disk_free_bytes|memory_used_ratio)[ {]/m,
  )
  latest = {
    keyEndsMs: Infinity,
    authorityEndsMs: Date.now() + 3_600_000,
    neededKeyEndsMs: Infinity,
    diskFreeBytes: 12_345,
    memoryUsed: 0.25,
  }
  const shown = await text()
  const left = /^postern_ends_in_seconds\{what="authority"\} (\S+)$/m.exec(shown)?.[1]
  expect(Number(left)).toBeCloseTo(3600, 0)
  expect(shown).not.toContain('what="key"')
  expect(shown).toContain('postern_disk_free_bytes 12345')
  expect(shown).toContain('postern_memory_used_ratio 0.25')
})
