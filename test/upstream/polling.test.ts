import { plain } from '../support/unseen.ts'
import { describe, expect, test } from 'vitest'
import { door, doorTo, failing, no, ok, outbound, rawService, service, waiting } from './support.ts'

describe('long polls', () => {
  test('a poll is passed on with its query and may take as long as it asked for, and more', async () => {
    const { url, seen } = await service((_request, response) => {
      setTimeout(() => ok(response, [{ updateId: 1 }]), 1800)
    })
    // an ordinary call would be over by then
    const { upstream } = door(url, { limits: { callMs: 100, pollSlackMs: 30_000, stallMs: 100 } })
    const query = 'offset=7&limit=3&timeout=1'
    const answer = await upstream.poll({ query, timeoutSeconds: 1, signal: waiting() })
    expect(plain(answer.envelope)).toEqual({ ok: true, result: [{ updateId: 1 }] })
    expect(seen[0]?.url).toBe(`/bot/v1/updates?${query}`)
  })

  test('when the bot hangs up, the service sees the connection close, and nothing is told', async () => {
    const bot = new AbortController()
    const { url, closed } = await rawService(() => bot.abort())
    const { upstream, emitted } = door(url)
    const polling = failing(
      upstream.poll({ query: 'timeout=50', timeoutSeconds: 50, signal: bot.signal }),
    )
    expect((await polling).code).toBe('postern_upstream_timeout')
    await expect.poll(closed).toBe(1)
    expect(emitted).toEqual([])
    const gone = upstream.poll({ query: '', timeoutSeconds: 0, signal: AbortSignal.abort() })
    expect((await failing(gone)).code).toBe('postern_upstream_timeout')
  })

  test('polls that hang take no connection from other calls', async () => {
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

  test('a query that could lead elsewhere is not sent', async () => {
    const { upstream, seen } = await doorTo((_request, response) => ok(response, []))
    for (const query of ['a\r\nb', 'a b', '#x', 'é']) {
      const polling = upstream.poll({ query, timeoutSeconds: 0, signal: waiting() })
      expect((await failing(polling)).code).toBe('bad_request')
    }
    expect(seen).toEqual([])
  })

  test('a 409 of a standing webhook comes as it is', async () => {
    const { url } = await service((_request, response) => no(response, 409, 'webhook_active'))
    const answer = await door(url).upstream.poll({
      query: '',
      timeoutSeconds: 0,
      signal: waiting(),
    })
    expect(answer.status).toBe(409)
  })

  test('closing the door ends whatever is under way', async () => {
    const arrived = Promise.withResolvers<void>()
    const { url, closed } = await rawService((_socket, nth) => {
      if (nth === 3) arrived.resolve()
    })
    const { upstream } = door(url)
    const calls = [
      failing(upstream.poll({ query: '', timeoutSeconds: 50, signal: waiting() })),
      failing(upstream.relay({ method: 'GET', path: '/me' })),
      failing(upstream.send(outbound.send())),
    ]
    await arrived.promise
    await upstream[Symbol.asyncDispose]()
    for (const error of await Promise.all(calls)) expect(error.code).toMatch(/^postern_upstream_/)
    await expect.poll(closed).toBe(3)
    expect((await failing(upstream.relay({ method: 'GET', path: '/me' }))).code).toMatch(
      /^postern_upstream_/,
    )
  })
})
