import { expect, test } from 'vitest'
import { ServiceError } from '../../src/errors.ts'
import { door, failing, no, ok, service } from './support.ts'

const me = { method: 'GET', path: '/me' } as const

test('`ask` rejects with the service’s error and the unchanged answer', async () => {
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
])(
  'a 429 `%s` to a call of the sidecar’s own is not repeated and has the seconds to wait',
  async (code, body, header, wait) => {
    const { url, seen } = await service((_request, response) =>
      no(response, 429, code, {
        error: { retryAfter: body },
        headers: header === undefined ? {} : { 'retry-after': header },
      }),
    )
    const error = await failing(door(url).upstream.ask(me))
    expect(error).toMatchObject({ code, status: 429, retryAfterSeconds: wait })
    expect(seen).toHaveLength(1)
  },
)

test('a call whose turn would be too late is refused at once with `postern_busy` and Retry-After', async () => {
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
