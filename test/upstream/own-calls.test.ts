import { contentOf } from '../../src/kernel/unseen.ts'
import { describe, expect, test } from 'vitest'
import { ServiceError } from '../../src/errors.ts'
import { door, failing, no, ok, service } from './support.ts'

const me = { method: 'GET', path: '/me' } as const

describe('calls of the sidecar’s own', () => {
  test('give the result', async () => {
    const { url } = await service((_request, response) => ok(response, { id: 7 }))
    expect(contentOf(await door(url).upstream.ask(me))).toEqual({ id: 7 })
  })

  test('throw what the service said, with the answer as it came', async () => {
    const { url } = await service((_request, response) =>
      no(response, 400, 'wrong_body_kind', { error: { expected: 'armored' } }),
    )
    const error = await failing(door(url).upstream.ask(me))
    expect(error).toBeInstanceOf(ServiceError)
    expect(error).toMatchObject({
      code: 'wrong_body_kind',
      status: 400,
      expected: 'armored',
      retryAfterSeconds: undefined,
    })
    expect(String((error['answer'] as { body: Buffer }).body)).toContain('the double says')
  })

  test.each([
    ['rate_limited', 60, '7', 7],
    ['flood_wait', 12, '3', 12],
    ['slow_mode', 12, undefined, 12],
  ])('a 429 %s says how long to wait and is not repeated', async (code, body, header, wait) => {
    const { url, seen } = await service((_request, response) =>
      no(response, 429, code, {
        error: { retryAfter: body },
        headers: header === undefined ? {} : { 'retry-after': header },
      }),
    )
    const error = await failing(door(url).upstream.ask(me))
    expect(error).toMatchObject({ code, status: 429, retryAfterSeconds: wait })
    expect(seen).toHaveLength(1)
  })

  test('beyond the budget they wait for their turn, in order, and the bot’s calls do not', async () => {
    const order: string[] = []
    const { url } = await service((request, response) => {
      order.push(request.url.replace('/bot/v1/chats/', ''))
      ok(response, {})
    })
    const limits = { budgetWindowMs: 700 }
    const { upstream, emitted } = door(url, { ownCallsPerMinute: () => 1, limits })
    const startedMs = performance.now()
    const own = [1, 2, 3, 4].map((id) => upstream.ask({ method: 'GET', path: `/chats/${id}` }))
    await Promise.all([6, 7].map((id) => upstream.relay({ method: 'GET', path: `/chats/${id}` })))
    expect(order).not.toContain('4')
    await Promise.all(own)
    expect(order.filter((id) => Number(id) < 6)).toEqual(['1', '2', '3', '4'])
    // not a bound on speed: three windows must have passed before the fourth call
    expect(performance.now() - startedMs).toBeGreaterThanOrEqual(2095)
    expect(emitted.filter(([name]) => name === 'budget')).toEqual(
      own.map(() => ['budget', { usedLastMinute: 1, limit: 1 }]),
    )
  })

  test('a turn that would come too late is refused at once, and says when to come again', async () => {
    const { url, seen } = await service((_request, response) => ok(response, {}))
    const { upstream } = door(url, { ownCallsPerMinute: () => 1 })
    await upstream.ask(me)
    for (const deadlineMs of [undefined, 5000]) {
      const error = await failing(upstream.ask({ ...me, ...(deadlineMs && { deadlineMs }) }))
      expect(error).toMatchObject({ code: 'postern_busy', status: 503 })
      const { retryAfter } = error['extra'] as { retryAfter: number }
      expect(retryAfter).toBeGreaterThan(50)
      expect(retryAfter).toBeLessThanOrEqual(60)
    }
    expect(seen).toHaveLength(1)
  })
})
