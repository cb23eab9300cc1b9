import { expect, it } from 'vitest'
import { TOKEN, call, head, openDoor, turnedAway } from './support.ts'

const PATH = '/bot/v1/commands'

it('a call without a token is unauthorized, in the service’s envelope', async () => {
  const { url, seen } = await openDoor()
  const response = await fetch(url + PATH)
  expect(response.status).toBe(401)
  expect(await response.json()).toEqual({
    ok: false,
    error: { status: 401, code: 'unauthorized', message: expect.any(String) },
  })
  expect(seen).toEqual([])
})

it.each([
  ['another token of the same length', `Bearer bot_42.${'x'.repeat(43)}`],
  ['a shorter one', 'Bearer bot_42.t'],
  ['a longer one', `Bearer ${TOKEN}t`],
  ['one with something before it', `Bearer x${TOKEN}`],
  ['the right one of another scheme', `Basic ${TOKEN}`],
  ['the right one without a scheme', TOKEN],
  ['the right one twice', `Bearer ${TOKEN} ${TOKEN}`],
  ['the right one after a comma', `Bearer x, Bearer ${TOKEN}`],
  ['a scheme alone', 'Bearer'],
  ['nothing', ''],
])('%s is unauthorized', async (_what, authorization) => {
  const { url, seen } = await openDoor()
  const response = await fetch(url + PATH, { headers: { authorization } })
  expect(response.status).toBe(401)
  expect(seen).toEqual([])
})

it('the scheme may be written in any case', async () => {
  const { url } = await openDoor()
  const headers = { authorization: `bEARER ${TOKEN}` }
  expect((await fetch(url + PATH, { headers })).status).toBe(200)
})

it('two Authorization lines are a bad request, even when both are right', async () => {
  expect(
    await turnedAway(head(`GET ${PATH}`, `Authorization: Bearer ${TOKEN}`, 'Connection: close')),
  ).toMatchObject({ status: 400, code: 'bad_request' })
})

it('the token is asked for on each request, so that a new one holds at once', async () => {
  let expected = TOKEN
  const world = await openDoor({ parts: { expectedToken: () => expected } })
  expect((await call(world, 'GET', PATH)).status).toBe(200)
  expected = 'another'
  expect((await call(world, 'GET', PATH)).status).toBe(401)
  expect((await call(world, 'GET', PATH, { token: 'another' })).status).toBe(200)
})

it('a token that was issued since the last reading is read before it is refused', async () => {
  let expected = TOKEN
  const rereadToken = (): boolean => {
    expected = 'issued'
    return true
  }
  const world = await openDoor({ parts: { expectedToken: () => expected, rereadToken } })
  expect((await call(world, 'GET', PATH, { token: 'issued' })).status).toBe(200)
  expect((await call(world, 'GET', PATH, { token: TOKEN })).status).toBe(401)
})

it('an empty expected token lets nobody in', async () => {
  const { url } = await openDoor({ parts: { expectedToken: () => '' } })
  for (const authorization of ['Bearer ', 'Bearer', '']) {
    expect((await fetch(url + PATH, { headers: { authorization } })).status).toBe(401)
  }
})

it('an unknown path tells a stranger nothing: 401 before 403 or 404', async () => {
  const { url } = await openDoor()
  expect((await fetch(`${url}/bot/v1/nowhere`, { method: 'POST' })).status).toBe(401)
  expect((await fetch(`${url}/nowhere`)).status).toBe(401)
})

it('the token is never handed on or repeated', async () => {
  const world = await openDoor()
  const { text } = await call(world, 'GET', PATH)
  expect(JSON.stringify(world.seen) + JSON.stringify(world.lines) + text).not.toContain(TOKEN)
})

it('a token of any length is compared to its last character', async () => {
  const long = 'x'.repeat(300)
  const world = await openDoor({ parts: { expectedToken: () => long } })
  expect((await call(world, 'GET', PATH, { token: long })).status).toBe(200)
  expect((await call(world, 'GET', PATH, { token: `${long.slice(0, -1)}y` })).status).toBe(401)
  expect((await call(world, 'GET', PATH, { token: `${long}x` })).status).toBe(401)
  expect((await call(world, 'GET', PATH, { token: 'x'.repeat(256) })).status).toBe(401)
})
