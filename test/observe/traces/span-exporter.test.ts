import { expect, test } from 'vitest'
import { createSpanExporter } from '../../../src/observe/traces/span-exporter.ts'
import { SPAN_KIND, TraceSpan } from '../../../src/observe/traces/tracer.ts'
import { rawService } from '../../service/support.ts'
import { startCollector } from '../../support/collector.ts'
import { watchedLog } from '../../support/watched-log.ts'

const WAITING = 2048

function ended(name = 'door'): TraceSpan {
  const span = new TraceSpan({ name, kind: SPAN_KIND.server }, null)
  span.end({ attributes: { size: 3, missing: undefined } })
  return span
}

function exporterTo(url: string, { timeoutMs = 10_000, headers = [] as [string, string][] } = {}) {
  const counts = { exported: 0, failed: 0, dropped: 0 }
  const lines: Record<string, unknown>[] = []
  const exporter = createSpanExporter({
    url,
    timeoutMs,
    headers,
    resource: [['service.name', 'postern']],
    log: watchedLog((line) => lines.push(line)),
    onOutcome: (outcome, count) => (counts[outcome] += count),
  })
  const add = (count: number): void => {
    for (let n = 0; n < count; n++) exporter.add(ended())
  }
  return { exporter, counts, lines, add }
}

test('the span exporter sends a full batch at once, and the remaining spans at its disposal', async () => {
  const collector = await startCollector()
  const { exporter, counts, add } = exporterTo(collector.url)
  add(512)
  await expect.poll(() => counts.exported).toBe(512)
  add(3)
  expect(collector.spans).toHaveLength(512)
  await exporter[Symbol.asyncDispose]()
  expect(collector.exports).toHaveLength(2)
  expect(counts).toEqual({ exported: 515, failed: 0, dropped: 0 })
  expect(collector.spans[0]).toMatchObject({ name: 'door', kind: 2, attributes: { size: '3' } })
  expect(collector.spans[0]?.attributes).not.toHaveProperty('missing')
})

test('a collector that answers 100 (Continue) unrequested has the spans once', async () => {
  const { url, sockets } = await rawService((socket, _nth, bytes) => {
    if (!bytes.includes('resourceSpans')) return
    socket.write('HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n')
  })
  const { counts, add } = exporterTo(url)
  add(512)
  await expect.poll(() => counts.exported).toBe(512)
  expect([counts.failed, sockets.length]).toEqual([0, 1])
})

test('a collector that hangs makes the span exporter drop spans beyond a bound, and delays no stop', async () => {
  const collector = await startCollector(() => null)
  const { exporter, counts, add } = exporterTo(collector.url, { timeoutMs: 999_999 })
  add(512 + WAITING + 100)
  expect(counts.dropped).toBe(100)
  await exporter[Symbol.asyncDispose]()
  expect(counts).toEqual({ exported: 0, failed: 512, dropped: 100 + WAITING })
  add(1)
  expect(counts.dropped).toBe(101 + WAITING)
})

test('an unreachable collector is tried once for many spans, and logged once', async () => {
  const { exporter, counts, lines, add } = exporterTo('http://127.0.0.1:9/')
  add(512)
  await expect.poll(() => counts.failed).toBe(512)
  add(600)
  expect(counts.failed).toBe(512)
  await exporter[Symbol.asyncDispose]()
  expect(counts.failed + counts.dropped).toBe(1112)
  expect(lines).toHaveLength(1)
  expect(lines[0]).toMatchObject({
    level: 40,
    msg: 'the collector accepts no spans: they are lost',
  })
})

test('the span exporter logs the start and the end of an outage of the collector', async () => {
  let status = 503
  const collector = await startCollector(() => status)
  const { exporter, counts, lines, add } = exporterTo(collector.url)
  add(512)
  await expect.poll(() => counts.failed).toBe(512)
  status = 200
  add(1)
  await exporter[Symbol.asyncDispose]()
  expect(lines.map(({ msg }) => msg)).toEqual([
    'the collector accepts no spans: they are lost',
    'the collector accepts spans again',
  ])
  expect(lines[0]).toMatchObject({ status: 503 })
})

test('the span exporter does not follow a redirect with its headers', async () => {
  const collector = await startCollector(() => 307)
  const { exporter, counts, lines, add } = exporterTo(collector.url, {
    headers: [['x-key', 'of the collector']],
  })
  add(1)
  await exporter[Symbol.asyncDispose]()
  expect(counts.failed).toBe(1)
  expect(collector.exports).toHaveLength(1)
  expect(JSON.stringify(lines)).not.toContain('of the collector')
})

test('a configured header does not replace the content type of an export', async () => {
  const collector = await startCollector()
  const { exporter, add } = exporterTo(collector.url, { headers: [['Content-Type', 'text/plain']] })
  add(1)
  await exporter[Symbol.asyncDispose]()
  expect(collector.exports[0]?.headers['content-type']).toBe('application/json')
})
