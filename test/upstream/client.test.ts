import { describe, expect, test } from 'vitest'
import { markupPermit } from '../support/permits.ts'
import { door, doorTo, failing, ok, outbound, service, waiting } from './support.ts'

const me = { method: 'GET', path: '/me' } as const
/** A service that answers from the nth request on, if ever. */
const answeringFrom = (first = Infinity, o: Parameters<typeof doorTo>[1] = {}) =>
  doorTo((_request, response, nth) => {
    if (nth >= first) ok(response, { id: 9 })
  }, o)
const LATE = 'postern_upstream_timeout'

describe('the base url', () => {
  test.each(['', '/', '/base', '/base///', '/a/b/'])('may end in %j', async (path) => {
    const { url, seen } = await answeringFrom(1)
    const { upstream } = door(`${url}${path}`)
    await upstream.ask(me)
    for await (const bytes of await upstream.media('a~b', waiting())) expect(bytes).toBeDefined()
    const base = path.replace(/\/+$/, '')
    expect(seen.map((request) => request.url)).toEqual([`${base}/bot/v1/me`, `${base}/media/a~b`])
  })
})

describe('what is sent', () => {
  test('is the body that is given, and none where it is empty', async () => {
    const { upstream, seen } = await answeringFrom(1)
    const leave = { method: 'POST', path: '/chats/5/leave' } as const
    for (const more of [{ body: '{"a":1}' }, { body: '' }, {}]) {
      await upstream.relay({ ...leave, ...more })
    }
    expect(seen.map(({ body, headers }) => [body, headers['content-type']])).toEqual([
      ['{"a":1}', 'application/json'],
      ['', undefined],
      ['', undefined],
    ])
  })

  test('by a poll has a query where there is one', async () => {
    const { upstream, seen } = await answeringFrom(1)
    for (const query of ['', 'offset=3']) {
      await upstream.poll({ query, timeoutSeconds: 0, signal: waiting() })
    }
    expect(seen.map((request) => request.url)).toEqual([
      '/bot/v1/updates',
      '/bot/v1/updates?offset=3',
    ])
  })
})

test.each(['/messages/..', '/messages/%2e', '/messages/a b', '/messages/%2f'])(
  'an edit that the guard let out is not sent to %s',
  async (path) => {
    const { url, seen } = await answeringFrom(1)
    const permit = markupPermit({ route: 'edit', path, isForSealed: false })
    expect((await failing(door(url).upstream.edit(permit))).code).toBe('bad_request')
    expect(seen).toEqual([])
  },
)

describe('time', () => {
  test('for a send ends its first attempt early, and the second with all of it', async () => {
    const first = await answeringFrom(2)
    // time enough to connect, so that what is counted is what was sent
    const limits = { callMs: 20, sendFirstMs: 700, sendTotalMs: 20_000 }
    expect((await door(first.url, { limits }).upstream.send(outbound.send())).status).toBe(200)
    expect(first.seen.length).toBe(2)
    const never = await answeringFrom()
    const short = door(never.url, { limits: { ...limits, sendFirstMs: 50, sendTotalMs: 200 } })
    expect((await failing(short.upstream.send(outbound.send()))).code).toBe(LATE)
  })

  test('for an edit is that of a call, and it is made once', async () => {
    const { url, seen } = await answeringFrom()
    const limits = { callMs: 100, sendFirstMs: 60_000, sendTotalMs: 60_000 }
    expect((await failing(door(url, { limits }).upstream.edit(outbound.edit()))).code).toBe(LATE)
    expect(seen.length).toBeLessThan(2)
  })

  test('for a poll is what it asks the service to wait, and some more', async () => {
    const { url } = await service(({ url: path }, response) => {
      if (path.includes('answer')) setTimeout(() => ok(response, []), 150)
    })
    const limits = { callMs: 20, pollSlackMs: 100 }
    const { upstream } = door(url, { limits })
    const poll = { query: 'answer', timeoutSeconds: 20, signal: waiting() }
    expect((await upstream.poll(poll)).status).toBe(200)
    const never = { ...poll, query: 'never', timeoutSeconds: 0 }
    expect((await failing(upstream.poll(never))).code).toBe(LATE)
  })

  test('for a call may be less than the usual', async () => {
    const { upstream } = await answeringFrom(Infinity, { limits: { callMs: 60_000 } })
    for (const call of [upstream.relay.bind(upstream), upstream.ask.bind(upstream)]) {
      expect((await failing(call({ ...me, deadlineMs: 50 }))).code).toBe(LATE)
    }
  })
})

describe('the budget of the sidecar’s own calls', () => {
  test('counts calls and polls of its own, and none of the bot’s', async () => {
    const { upstream, emitted } = await answeringFrom(1)
    const poll = { query: '', timeoutSeconds: 0, signal: waiting() }
    await upstream.relay(me)
    await upstream.poll(poll)
    await upstream.poll({ ...poll, whose: 'bot' })
    await upstream.send(outbound.send())
    await upstream.edit(outbound.edit())
    await upstream.poll({ ...poll, whose: 'own' })
    await upstream.ask(me)
    const told = (of: string) => emitted.flatMap(([name, value]) => (name === of ? [value] : []))
    expect(told('budget')).toEqual([1, 2].map((used) => ({ usedLastMinute: used, limit: 100 })))
    const own = told('answered').map((value) => (value as { own: boolean }).own)
    expect(own).toEqual([...Array.from({ length: 5 }, () => false), true, true])
  })

  test('lets a poll of its own wait for its turn, and whoever leaves or ends it all ends the wait', async () => {
    const { upstream, seen } = await answeringFrom(1, { ownCallsPerMinute: () => 1 })
    await upstream.ask(me)
    const leaving = new AbortController()
    const own = { query: '', timeoutSeconds: 0, whose: 'own' } as const
    const left = failing(upstream.poll({ ...own, signal: leaving.signal }))
    leaving.abort()
    expect((await left).code).toBe(LATE)
    const ended = failing(upstream.poll({ ...own, signal: waiting() }))
    await upstream[Symbol.asyncDispose]()
    expect((await ended).code).toBe(LATE)
    expect(seen.length).toBe(1)
  })

  test('ends the wait of a call when all ends', async () => {
    const { url, seen } = await answeringFrom(1)
    const limits = { budgetWindowMs: 5000 }
    const { upstream } = door(url, { ownCallsPerMinute: () => 1, limits })
    await upstream.ask(me)
    const ended = failing(upstream.ask(me))
    await upstream[Symbol.asyncDispose]()
    expect((await ended).code).toBe(LATE)
    expect(seen.length).toBe(1)
  })
})

test('the load is that of the pools, and the end of it all ends files that are under way', async () => {
  const { upstream, seen } = await answeringFrom()
  const calls = [
    failing(upstream.relay(me)),
    failing(upstream.media('abc', waiting())),
    failing(upstream.poll({ query: '', timeoutSeconds: 50, signal: waiting() })),
  ]
  await expect.poll(() => seen.length).toBe(3)
  const one = { busy: 1, waiting: 0 }
  expect(upstream.load()).toEqual({ calls: one, polls: one, media: one })
  await upstream[Symbol.asyncDispose]()
  for (const error of await Promise.all(calls)) expect(error.code).toMatch(/^postern_upstream_/)
  expect((await failing(upstream.relay(me))).code).toBe(LATE)
})

test('a file whose reader leaves is not fetched on', async () => {
  const { upstream, seen } = await answeringFrom()
  const leaving = new AbortController()
  const fetching = failing(upstream.media('abc', leaving.signal))
  await expect.poll(() => seen.length).toBe(1)
  leaving.abort()
  expect((await fetching).code).toBe(LATE)
})
