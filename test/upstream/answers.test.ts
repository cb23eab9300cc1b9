import { describe, expect, test } from 'vitest'
import { door, doorTo, no, ok, outbound, service, TOKEN } from './support.ts'

describe('what the door sends and hands back', () => {
  test('a call carries the token and a fixed set of headers, below the prefix of the base URL', async () => {
    const { url, seen } = await service((_request, response) => ok(response, { sent: true }))
    const { upstream } = door(`${url}/behind/a/path/`)
    await upstream.relay({ method: 'POST', path: '/chats/5/typing', body: '{"typing":true}' })
    await upstream.relay({ method: 'GET', path: '/me?x=a%20b' })
    await upstream.relay({ method: 'POST', path: '/chats/5/leave', body: '' })
    expect(seen.map(({ method, url: path, body }) => [method, path, body])).toEqual([
      ['POST', '/behind/a/path/bot/v1/chats/5/typing', '{"typing":true}'],
      ['GET', '/behind/a/path/bot/v1/me?x=a%20b', ''],
      ['POST', '/behind/a/path/bot/v1/chats/5/leave', ''],
    ])
    const [first, second, third] = seen.map(({ headers }) => headers)
    expect(Object.keys(first ?? {}).toSorted()).toEqual([
      'accept',
      'accept-encoding',
      'authorization',
      'connection',
      'content-length',
      'content-type',
      'host',
      'user-agent',
    ])
    expect(first).toMatchObject({
      authorization: `Bearer ${TOKEN}`,
      'accept-encoding': 'identity',
      'content-type': 'application/json',
      'user-agent': expect.stringMatching(/^postern\/\d+\.\d+\.\d+$/),
    })
    expect(second).not.toHaveProperty('content-type')
    expect(third).toMatchObject({ 'content-length': '0' })
    expect(third).not.toHaveProperty('content-type')
  })

  test('an answer is handed back byte for byte, with unknown fields, codes and large numbers', async () => {
    const body = '{ "ok":true, "result":{"id":9007199254740993,"new":[1.0,"\\u00e9"]},"later":{} }'
    const { url } = await service((_request, response) => {
      response.writeHead(201, { 'content-type': 'application/json', 'x-request-id': 'a1' })
      response.end(body)
    })
    const answer = await door(url).upstream.relay({ method: 'PUT', path: '/key', body: '{}' })
    expect(answer.status).toBe(201)
    expect(answer.body.toString()).toBe(body)
    expect(answer.headers).toEqual({ 'content-type': 'application/json', 'x-request-id': 'a1' })
  })

  test('a refusal of the service is an answer too, with its Retry-After', async () => {
    const { upstream, emitted } = await doorTo((_request, response) =>
      no(response, 429, 'flood_wait', {
        error: { retryAfter: 12 },
        headers: { 'retry-after': '3' },
      }),
    )
    const answer = await upstream.send(outbound.send())
    expect(answer).toMatchObject({ status: 429, headers: { 'retry-after': '3' } })
    expect(answer.envelope).toMatchObject({ ok: false, error: { code: 'flood_wait' } })
    const told = { route: 'POST /messages', status: 429, code: 'flood_wait', own: false }
    expect(emitted).toEqual([
      ['answered', { ...told, ms: expect.any(Number) }],
      ['clock', 0],
    ])
  })

  test('headers that concern one connection, cookies, CORS and the service itself are kept back', async () => {
    const { url } = await service((_request, response) => {
      response.writeHead(200, {
        'content-type': 'application/json',
        connection: 'close, x-hop',
        'x-hop': '1',
        'keep-alive': 'timeout=5',
        'set-cookie': ['a=b', 'c=d'],
        'access-control-allow-origin': '*',
        'access-control-max-age': '5',
        'strict-transport-security': 'max-age=1',
        'alt-svc': 'h3=":443"',
        server: 'x',
        'x-dropped': 'one',
        ratelimit: ['one', 'two'],
      })
      response.end('{"ok":true,"result":1}')
    })
    const { headers } = await door(url).upstream.relay({ method: 'GET', path: '/me' })
    expect(headers).toEqual({ 'content-type': 'application/json', ratelimit: 'one, two' })
  })

  test('our clock against the service’s Date: equal, ten minutes off either way, none, nonsense', async () => {
    const ahead = (ms: number) => (): string => new Date(Date.now() + ms).toUTCString()
    const dates = [ahead(0), ahead(600_000), ahead(-600_000)]
    const { upstream, emitted } = await doorTo((_request, response, nth) => {
      response.sendDate = false
      const date = [...dates, () => undefined, () => 'soon'][nth - 1]?.()
      if (date !== undefined) response.setHeader('date', date)
      ok(response, [])
    })
    for (let n = 0; n < 5; n++) await upstream.relay({ method: 'GET', path: '/me' })
    const skews = emitted.filter(([name]) => name === 'clock').map(([, skewMs]) => Number(skewMs))
    expect(skews).toHaveLength(3)
    expect(skews[0]).toBe(0)
    expect(skews[1]).toBeLessThan(-590_000)
    expect(skews[2]).toBeGreaterThan(590_000)
  })
})
