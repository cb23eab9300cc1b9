import { setTimeout as elapsed } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { createTracer, SPAN_KIND, type TraceSpan } from '../../../src/observe/traces/tracer.ts'

const ALL = { ratio: 1, followsParent: true }
const start = (name: string) => ({ name, kind: SPAN_KIND.internal })
const caller = { traceId: 'ab'.repeat(16), spanId: 'cd'.repeat(8) }
const shown = () => ({ attributes: {} })

function traced(sampler = ALL) {
  const ended: TraceSpan[] = []
  return { ended, tracer: createTracer(sampler, (span) => ended.push(span)) }
}

test('spans nest by the asynchronous context, and concurrent traces stay apart', async () => {
  const { ended, tracer } = traced()
  const one = async (name: string): Promise<void> => {
    await tracer.run(
      { ...start(name), beginsTrace: true },
      async () => {
        await elapsed(1)
        await tracer.run(start(`${name} inside`), () => elapsed(1), shown)
      },
      shown,
    )
  }
  await Promise.all([one('a'), one('b')])
  for (const name of ['a', 'b']) {
    const outer = ended.find((span) => span.name === name)
    const inner = ended.find((span) => span.name === `${name} inside`)
    expect(inner).toMatchObject({ parentId: outer?.spanId, traceId: outer?.traceId })
  }
  expect(ended).toHaveLength(4)
})

test('work outside a trace runs without a span', async () => {
  const { ended, tracer } = traced()
  expect(await tracer.run(start('store'), () => Promise.resolve(7), shown)).toBe(7)
  expect(ended).toEqual([])
})

test('work that continues after the end of a span is not part of the trace', async () => {
  const { ended, tracer } = traced()
  let later = Promise.resolve()
  await tracer.run(
    { ...start('door'), beginsTrace: true },
    async () => {
      later = elapsed(5).then(() => tracer.run(start('store'), async () => {}, shown))
    },
    shown,
  )
  await later
  expect(ended.map(({ name }) => name)).toEqual(['door'])
})

test.each([
  [Object.assign(new Error('words'), { code: 'postern_busy' }), 'postern_busy'],
  [Object.assign(new Error('words'), { code: 'words of somebody' }), 'other'],
  [Object.assign(new Error('words'), { code: 'a'.repeat(65) }), 'other'],
  [new TypeError('words'), 'TypeError'],
  [Object.assign(new Error('words'), { name: 'words!', code: 20 }), 'other'],
  ['words', 'other'],
])('the failure %o appears in its span as the code %s alone', async (failure, code) => {
  const { ended, tracer } = traced()
  const run = tracer.run(
    { ...start('door'), beginsTrace: true },
    () => Promise.reject(failure),
    shown,
  )
  await expect(run).rejects.toBe(failure)
  expect(ended[0]?.code).toBe(code)
  expect(JSON.stringify(ended)).not.toContain('words')
})

test('the sampling decision of the caller counts only with `followsParent`', () => {
  const off = { ratio: 0, followsParent: true }
  expect(traced(off).tracer.begin(start('door'), { ...caller, isSampled: true })).toMatchObject({
    traceId: caller.traceId,
    parentId: caller.spanId,
  })
  expect(traced(off).tracer.begin(start('door'))).toBeNull()
  expect(traced().tracer.begin(start('door'), { ...caller, isSampled: false })).toBeNull()
  const own = { ratio: 1, followsParent: false }
  expect(traced(own).tracer.begin(start('door'), { ...caller, isSampled: false })).not.toBeNull()
})

test('a sampler with `ratio` decides by the trace id', () => {
  const { tracer } = traced({ ratio: 0.5, followsParent: false })
  const low = { ...caller, traceId: `${'f'.repeat(18)}7${'0'.repeat(13)}`, isSampled: true }
  const high = { ...caller, traceId: `${'0'.repeat(18)}8${'0'.repeat(13)}`, isSampled: true }
  expect(tracer.begin(start('door'), low)).not.toBeNull()
  expect(tracer.begin(start('door'), high)).toBeNull()
})
