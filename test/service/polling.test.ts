import { getEventListeners } from 'node:events'
import { expect, test } from 'vitest'
import { door, doorTo, failing, ok, rawService, service, waiting } from './support.ts'

test('a poll whose bot hangs up closes its connection to the service and emits no event', async () => {
  const bot = new AbortController()
  const { url, closed, sockets } = await rawService(() => bot.abort())
  const { upstream, emitted } = door(url)
  const polling = failing(
    upstream.poll({ query: 'timeout=50', timeoutSeconds: 50, signal: bot.signal }),
  )
  expect((await polling).code).toBe('postern_upstream_timeout')
  await expect.poll(closed).toBe(1)
  expect(emitted).toEqual([])
  const gone = upstream.poll({ query: '', timeoutSeconds: 0, signal: AbortSignal.abort() })
  expect((await failing(gone)).code).toBe('postern_upstream_timeout')
  expect(sockets).toHaveLength(1)
})

test('a poll that is over removes its abort listener', async () => {
  const { upstream } = await doorTo((_request, response) => ok(response, []))
  const signal = waiting()
  await upstream.poll({ query: '', timeoutSeconds: 0, signal })
  expect(getEventListeners(signal, 'abort')).toEqual([])
})

test('hanging polls occupy no connection of other calls', async () => {
  const { url } = await service((request, response) => {
    if (!request.url.includes('/updates')) ok(response, {})
  })
  const { upstream } = door(url, { limits: { connections: 1, pollConnections: 1 } })
  const bot = new AbortController()
  const polls = [1, 2, 3].map(() =>
    failing(upstream.poll({ query: 'timeout=50', timeoutSeconds: 50, signal: bot.signal })),
  )
  for (let n = 0; n < 5; n++) {
    expect((await upstream.relay({ method: 'GET', path: '/me' })).status).toBe(200)
  }
  bot.abort()
  await Promise.all(polls)
})

test('a poll with control characters, blanks or a fragment in its query is refused', async () => {
  const { upstream, seen } = await doorTo((_request, response) => ok(response, []))
  for (const query of ['a\r\nb', 'a b', '#x', 'é']) {
    const polling = upstream.poll({ query, timeoutSeconds: 0, signal: waiting() })
    expect((await failing(polling)).code).toBe('bad_request')
  }
  expect(seen).toEqual([])
})
