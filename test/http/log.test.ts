import { expect, it } from 'vitest'
import { call, head, openDoor, raw } from './support.ts'

it('each request is one log line with the pattern of its route, without ids, paths and queries', async () => {
  const world = await openDoor()
  // a line is written a moment after its answer
  const requests = [
    () => call(world, 'GET', '/bot/v1/chats/-777000777000/members/888000888000?canary=1'),
    () => call(world, 'POST', '/bot/v1/canary/path', { body: { words: 'canary' } }),
    () => call(world, 'GET', '/canary'),
    () => raw(world.port, head('GET /bot/v1/canary/%zz')),
    () => raw(world.port, 'canary\r\n\r\n'),
  ]
  for (const [index, request] of requests.entries()) {
    await request()
    await expect.poll(() => world.lines).toHaveLength(index + 1)
  }
  const common = { requestId: expect.any(String), ms: expect.any(Number), msg: 'request' }
  expect(world.lines).toMatchObject([
    { ...common, method: 'GET', route: '/bot/v1/chats/:chatId/members/:userId', status: 400 },
    { ...common, method: 'POST', route: '/bot/v1/*', status: 403, code: 'postern_route_refused' },
    { ...common, method: 'GET', route: 'none', status: 404, code: 'not_found' },
    { ...common, method: 'GET', route: 'none', status: 400, code: 'bad_request' },
    { ...common, method: '', route: 'none', status: 400, code: 'bad_request' },
  ])
  const text = JSON.stringify(world.lines)
  for (const word of ['canary', '777000777', '888000888', 'localhost'])
    expect(text).not.toContain(word)
  expect(new Set(world.lines.map(({ requestId }) => requestId)).size).toBe(5)
})

it('the log has the service’s error code, and `other` for a malformed one', async () => {
  let code = 'chat_not_found'
  const world = await openDoor({
    answering: (_seen, response) => {
      const error = { status: 404, code, message: 'canary' }
      response.writeHead(404).end(JSON.stringify({ ok: false, error }))
    },
  })
  await call(world, 'GET', '/bot/v1/chats/5/members')
  code = 'Canary\nwords'
  await call(world, 'GET', '/bot/v1/chats/5/members')
  expect(world.lines.map((line) => line['code'])).toEqual(['chat_not_found', 'other'])
})

it('an answer of the service has `no-store` as its only additional header', async () => {
  const world = await openDoor()
  const { headers } = await call(world, 'GET', '/bot/v1/commands')
  expect(headers.get('cache-control')).toBe('no-store')
  expect([...headers.keys()].sort()).toEqual([
    'cache-control',
    'connection',
    'content-length',
    'content-type',
    'date',
    'keep-alive',
  ])
})

it('the metrics count requests and refusals', async () => {
  const world = await openDoor()
  await call(world, 'GET', '/bot/v1/commands')
  await call(world, 'POST', '/bot/v1/nowhere', { body: {} })
  await raw(world.port, head('GET /bot/v1/commands', 'Origin: x'))
  const text = await world.metrics.registry.text()
  expect(text).toContain(
    'postern_requests_total{method="GET",route="/bot/v1/commands",status="200"} 1',
  )
  expect(text).toContain('postern_refusals_total{code="postern_route_refused"} 1')
  expect(text).toContain('postern_refusals_total{code="postern_browser_refused"} 1')
})

it('a refusal of the sidecar carries the request id of its log line', async () => {
  const world = await openDoor()
  const refused = await call(world, 'POST', '/bot/v1/nowhere', { body: {} })
  const turnedAway = await raw(world.port, head('GET /bot/v1/commands', 'Origin: x'))
  await raw(world.port, 'canary\r\n\r\n').then((text) =>
    expect(text).toMatch(/postern-request-id: /),
  )
  const ids = world.lines.map(({ requestId }) => requestId)
  expect(refused.headers.get('postern-request-id')).toBe(ids[0])
  expect(/^postern-request-id: (.+)$/m.exec(turnedAway)?.[1]?.trim()).toBe(ids[1])
})

it('repeated failures while the service is down become one log line with their count', async () => {
  let isDown = true
  const world = await openDoor({
    answering: (_seen, response) => {
      if (isDown) response.destroy()
      else response.end(JSON.stringify({ ok: true, result: [] }))
    },
  })
  for (let again = 0; again < 4; again += 1) await call(world, 'GET', '/bot/v1/commands')
  isDown = false
  await call(world, 'GET', '/bot/v1/commands')
  const failed = { route: '/bot/v1/commands', status: 502 }
  await expect
    .poll(() => world.lines)
    .toMatchObject([failed, { ...failed, again: 3 }, { route: '/bot/v1/commands', status: 200 }])
})
