/** Ways past the token that other doors once had: each is a header or a spelling, and none is one. */
import { expect, it } from 'vitest'
import { call, head, openDoor, outcome, raw, turnedAway } from './support.ts'

/** A request with everything that a good one has but the token. */
const stranger = (start: string, ...lines: string[]): string =>
  head(start, ...lines, 'Connection: close').replace(/Authorization: .*\r\n/, '')

it.each([
  ['a health checker’s name', 'User-Agent: GoogleHC/1.0'],
  ['another health checker’s name', 'User-Agent: ELB-HealthChecker/2.0'],
  ['a probe’s name', 'User-Agent: kube-probe/1.30'],
  ['a path for a proxy in front', 'X-Forwarded-Uri: /healthz'],
  ['a path with underscores in the header', 'X_Forwarded_Uri: /healthz'],
  ['a path before it was rewritten', 'X-Original-URL: /healthz'],
  ['the path of another router', 'X-Rewrite-URL: /healthz'],
  ['a method for a proxy in front', 'X-Forwarded-Method: OPTIONS'],
  ['another method to use', 'X-HTTP-Method-Override: OPTIONS'],
  ['an address of this machine', 'X-Forwarded-For: 127.0.0.1'],
  ['an address with underscores in the header', 'X_Forwarded_For: 127.0.0.1'],
  ['a user as a proxy names it', 'X-Forwarded-User: bot_42'],
  ['a user with underscores in the header', 'X_Auth_Request_User: bot_42'],
])('a request with %s (%s) and no token is unauthorized', async (_what, line) => {
  expect(await turnedAway(stranger('GET /bot/v1/commands', line))).toMatchObject({
    status: 401,
    code: 'unauthorized',
  })
})

it.each([
  '/bot/v1/commands?/healthz',
  '/bot/v1/commands?path=/healthz',
  '/bot/v1/commands#/healthz',
  '/bot/v1/commands;/healthz',
  '/healthz/bot/v1/commands',
  '/bot/v1/COMMANDS',
  '/BOT/v1/commands',
])('a request without a token is refused for every spelling of a path: %s', async (target) => {
  const { port, seen } = await openDoor({ parts: { allowUnknown: true } })
  const { status } = outcome(await raw(port, stranger(`GET ${target}`)))
  expect([400, 401, 404]).toContain(status)
  expect(seen).toEqual([])
})

it('neither query nor headers change the path and method of a call', async () => {
  const world = await openDoor()
  const headers = { 'x-forwarded-uri': '/bot/v1/token/revoke', 'x-http-method-override': 'DELETE' }
  await call(world, 'GET', '/bot/v1/commands?scope=/bot/v1/token/revoke', { headers })
  expect(world.seen.map(({ method, path }) => `${method} ${path}`)).toEqual([
    'GET /bot/v1/commands?scope=/bot/v1/token/revoke',
  ])
})
