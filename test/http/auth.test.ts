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
  ['a shorter token', 'Bearer bot_42.t'],
  ['a longer token', `Bearer ${TOKEN}t`],
  ['a token with something before it', `Bearer x${TOKEN}`],
  ['the right token under another scheme', `Basic ${TOKEN}`],
  ['the right token without a scheme', TOKEN],
  ['the right token twice', `Bearer ${TOKEN} ${TOKEN}`],
  ['the right token after a comma', `Bearer x, Bearer ${TOKEN}`],
  ['a scheme alone', 'Bearer'],
  ['nothing', ''],
])('a call with %s as its Authorization is unauthorized', async (_what, authorization) => {
  const { url, seen } = await openDoor()
  const response = await fetch(url + PATH, { headers: { authorization } })
  expect(response.status).toBe(401)
  expect(seen).toEqual([])
})

it('the scheme Bearer is accepted in any case', async () => {
  const { url } = await openDoor()
  const headers = { authorization: `bEARER ${TOKEN}` }
  expect((await fetch(url + PATH, { headers })).status).toBe(200)
})

it('two Authorization lines are a bad request, even when both are right', async () => {
  expect(
    await turnedAway(head(`GET ${PATH}`, `Authorization: Bearer ${TOKEN}`, 'Connection: close')),
  ).toMatchObject({ status: 400, code: 'bad_request' })
})

it('a listener reads its token for each request, so that a new token holds at once', async () => {
  let expected = TOKEN
  const world = await openDoor({ parts: { expectedToken: () => expected } })
  expect((await call(world, 'GET', PATH)).status).toBe(200)
  expected = 'another'
  expect((await call(world, 'GET', PATH)).status).toBe(401)
  expect((await call(world, 'GET', PATH, { token: 'another' })).status).toBe(200)
})

it('a listener reads its token file again before it refuses a token', async () => {
  let expected = TOKEN
  const rereadToken = (): boolean => {
    expected = 'issued'
    return true
  }
  const world = await openDoor({ parts: { expectedToken: () => expected, rereadToken } })
  expect((await call(world, 'GET', PATH, { token: 'issued' })).status).toBe(200)
  expect((await call(world, 'GET', PATH, { token: TOKEN })).status).toBe(401)
})

it('a listener with an empty token refuses every call', async () => {
  const { url } = await openDoor({ parts: { expectedToken: () => '' } })
  for (const authorization of ['Bearer ', 'Bearer', '']) {
    expect((await fetch(url + PATH, { headers: { authorization } })).status).toBe(401)
  }
})

it('an unknown path without a token is 401, not 403 or 404', async () => {
  const { url } = await openDoor()
  expect((await fetch(`${url}/bot/v1/nowhere`, { method: 'POST' })).status).toBe(401)
  expect((await fetch(`${url}/nowhere`)).status).toBe(401)
})

it('the bot’s token reaches neither the service nor the log nor an answer', async () => {
  const world = await openDoor()
  const { text } = await call(world, 'GET', PATH)
  expect(JSON.stringify(world.seen) + JSON.stringify(world.lines) + text).not.toContain(TOKEN)
})

it('a token of 300 characters is compared to its last character', async () => {
  const long = 'x'.repeat(300)
  const world = await openDoor({ parts: { expectedToken: () => long } })
  expect((await call(world, 'GET', PATH, { token: long })).status).toBe(200)
  expect((await call(world, 'GET', PATH, { token: `${long.slice(0, -1)}y` })).status).toBe(401)
  expect((await call(world, 'GET', PATH, { token: `${long}x` })).status).toBe(401)
  expect((await call(world, 'GET', PATH, { token: 'x'.repeat(256) })).status).toBe(401)
})
