import { expect, test } from 'vitest'
import { Health, REASON_CODES } from '../../src/observe/health.ts'

test('every reason has a message with its detail, and a hint', () => {
  const health = new Health()
  for (const code of REASON_CODES) health.set(code, 'precisely')
  const reasons = health.all()
  expect(reasons.map(({ code }) => code)).toEqual(REASON_CODES)
  for (const { message, hint } of reasons) {
    expect(message).toMatch(/.: precisely$/)
    expect(hint.length).toBeGreaterThan(10)
  }
})

test('a repeated reason keeps its start time, and has the new detail', () => {
  const health = new Health()
  health.set('store', 'earlier')
  const [before] = health.all()
  health.set('store', 'later')
  const [after] = health.all()
  expect(after?.sinceMs).toBe(before?.sinceMs)
  expect(after?.message).toContain('later')
  expect(after?.message).not.toContain('earlier')
})

test('`Health` is ready without reasons, and reports each change once', () => {
  const changes: unknown[] = []
  const health = new Health()
  health.onChange((change) => changes.push(change))
  health.clear('token')
  expect(health.ready).toBe(true)
  health.set('token', 'a')
  health.set('token', 'b')
  health.set('clock', '')
  health.clear('token')
  expect(health.ready).toBe(false)
  health.clear('token')
  health.clear('clock')
  expect([health.ready, health.all()]).toEqual([true, []])
  expect(changes).toEqual([
    { code: 'token', holds: true },
    { code: 'clock', holds: true },
    { code: 'token', holds: false },
    { code: 'clock', holds: false },
  ])
})
