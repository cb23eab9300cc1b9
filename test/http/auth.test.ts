import { expect, it } from 'vitest'
import { TOKEN, call, openDoor } from './support.ts'

const PATH = '/bot/v1/commands'

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
