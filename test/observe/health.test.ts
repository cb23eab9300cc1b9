import { expect, it } from 'vitest'
import { Health, REASON_CODES } from '../../src/observe/health.ts'

it('is ready until a reason is stated, and again once all are taken back', () => {
  const health = new Health()
  expect(health.ready).toBe(true)
  health.set('upstream', '')
  health.set('clock', '')
  expect(health.ready).toBe(false)
  health.clear('upstream')
  expect(health.ready).toBe(false)
  health.clear('clock')
  expect(health.ready).toBe(true)
  expect(health.all()).toEqual([])
})

it('every reason says what is the matter and what to do', () => {
  const health = new Health()
  for (const code of REASON_CODES) health.set(code, 'precisely')
  const reasons = health.all()
  expect(reasons.map(({ code }) => code)).toEqual(REASON_CODES)
  for (const { message, hint } of reasons) {
    expect(message).toMatch(/.: precisely$/)
    expect(hint.length).toBeGreaterThan(10)
  }
})

it('a reason stated again keeps its beginning and takes the new detail', () => {
  const health = new Health()
  health.set('store', 'earlier')
  const [before] = health.all()
  health.set('store', 'later')
  const [after] = health.all()
  expect(after?.sinceMs).toBe(before?.sinceMs)
  expect(after?.message).toContain('later')
  expect(after?.message).not.toContain('earlier')
})

it('a reason without a detail is a plain sentence', () => {
  const health = new Health()
  health.set('paused', '')
  expect(health.all()[0]?.message).toBe('the bot’s owner has paused it')
})

it('changes are told once each, repetitions not at all', () => {
  const changes: unknown[] = []
  const health = new Health()
  health.onChange((change) => changes.push(change))
  health.clear('token')
  health.set('token', 'a')
  health.set('token', 'b')
  health.clear('token')
  health.clear('token')
  expect(changes).toEqual([
    { code: 'token', holds: true },
    { code: 'token', holds: false },
  ])
})
