import { OWN_CALL } from '../../src/clients/may-client.ts'
import { expect, test } from 'vitest'
import { markupPermit } from '../support/permits.ts'
import { door, doorTo, failing, ok, outbound, service, waiting } from './support.ts'

const me = { method: 'GET', path: '/me' } as const
/** A service that answers from the nth request on, if ever. */
const answeringFrom = (first = Infinity, o: Parameters<typeof doorTo>[1] = {}) =>
  doorTo((_request, response, nth) => {
    if (nth >= first) ok(response, { id: 9 })
  }, o)
const LATE = 'postern_upstream_timeout'

test.each(['', '/', '/base', '/base///', '/a/b/'])(
  'a base URL that ends in %j prefixes the API and the media path',
  async (path) => {
    const { url, seen } = await answeringFrom(1)
    const { upstream } = door(`${url}${path}`)
    await upstream.ask(me)
    for await (const bytes of await upstream.media('a~b', waiting())) expect(bytes).toBeDefined()
    const base = path.replace(/\/+$/, '')
    expect(seen.map((request) => request.url)).toEqual([`${base}/bot/v1/me`, `${base}/media/a~b`])
  },
)

test('a poll without a query has no question mark in its URL', async () => {
  const { upstream, seen } = await answeringFrom(1)
  for (const query of ['', 'offset=3']) {
    await upstream.poll({ query, timeoutSeconds: 0, signal: waiting() })
  }
  const urls = seen.map((request) => request.url)
  expect(urls).toEqual(['/bot/v1/updates', '/bot/v1/updates?offset=3'])
})

test.each(['/messages/..', '/messages/%2e', '/messages/a b', '/messages/%2f'])(
  'a permitted edit is not sent to the path %s',
  async (path) => {
    const { url, seen } = await answeringFrom(1)
    const permit = markupPermit({ route: 'edit', path, later: null })
    expect((await failing(door(url).upstream.edit(permit, OWN_CALL))).code).toBe('bad_request')
    expect(seen).toEqual([])
  },
)

test('the deadline of a poll is its `timeout` and the slack, not that of an ordinary call', async () => {
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

test('the budget counts the sidecar’s own calls and polls, and none of the bot’s', async () => {
  const { upstream, emitted } = await answeringFrom(1)
  const poll = { query: '', timeoutSeconds: 0, signal: waiting() }
  await upstream.relay(me)
  await upstream.poll(poll)
  await upstream.poll({ ...poll, whose: 'bot' })
  await upstream.send(outbound.send(), OWN_CALL)
  await upstream.edit(outbound.edit(), OWN_CALL)
  await upstream.poll({ ...poll, whose: 'own' })
  await upstream.ask(me)
  const told = (of: string) => emitted.flatMap(([name, value]) => (name === of ? [value] : []))
  expect(told('budget')).toEqual([1, 2].map((used) => ({ usedLastMinute: used, limit: 100 })))
  const own = told('answered').map((value) => (value as { own: boolean }).own)
  expect(own).toEqual([...Array.from({ length: 5 }, () => false), true, true])
})

test('a poll beyond the budget waits until it is aborted or the sidecar stops; a call of the bot does not', async () => {
  const { upstream, seen } = await answeringFrom(1, { ownCallsPerMinute: () => 1 })
  await upstream.ask(me)
  const leaving = new AbortController()
  const own = { query: '', timeoutSeconds: 0, whose: 'own' } as const
  const left = failing(upstream.poll({ ...own, signal: leaving.signal }))
  expect((await upstream.relay(me)).status).toBe(200)
  leaving.abort()
  expect((await left).code).toBe(LATE)
  const ended = failing(upstream.poll({ ...own, signal: waiting() }))
  await upstream[Symbol.asyncDispose]()
  expect((await ended).code).toBe(LATE)
  expect(seen.length).toBe(2)
})

test('`UpstreamClient` reports the load of its pools, and its disposal ends calls, polls and downloads', async () => {
  const { upstream, seen, emitted } = await answeringFrom()
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
  expect(emitted).toEqual([])
})
