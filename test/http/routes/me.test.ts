/** The route of the bot itself, over a service and a webhook that are played. */
import { expect, test, vi } from 'vitest'
import { meRoute, type MeRouteParts } from '../../../src/http/routes/me.ts'
import { unobserved } from '../../../src/kernel/index.ts'
import { no, playedRoute, playedUpstream, yes } from '../played-route.ts'

const BOT = { id: 42, mode: 'protected', fingerprint: 'AB', queued: 5 }
const KEY = { state: 'published', fingerprint: 'CD' }
const OWN = { url: 'https://bot.example/', secret: null, failures: 0, lastError: null }
const postern = { mode: 'protected', fingerprint: 'AB', key: 'CD', publication: 'published' }
const open = { mode: 'open', fingerprint: null, postern }
const webhook = { url: OWN.url, hasSecret: false, failures: 0, lastError: null }

function scene(o: { key?: object | null; own?: object | null; answer?: ReturnType<typeof yes> }) {
  const { key = null, own = null, answer = yes(BOT) } = o
  const { upstream, asked } = playedUpstream(answer)
  const observe = vi.fn(unobserved)
  const parts = { upstream, observe, key: () => key, webhook: { own, unconfirmedCount: 2 } }
  return { asked, observe, call: playedRoute(meRoute(parts as unknown as MeRouteParts)) }
}

test.each([
  ['its key alone', { key: KEY }, { ...BOT, ...open }],
  ['its webhook alone', { own: OWN }, { ...BOT, queued: 3, webhook }],
  ['both', { key: KEY, own: OWN }, { ...BOT, ...open, queued: 3, webhook }],
])('a bot sees %s beside what the service has of it', async (_what, o, expected) => {
  const { call, asked, observe } = scene(o)
  const { status, result } = await call('GET', '/me?a=1')
  expect([status, result, asked]).toEqual([200, expected, ['GET /me?a=1']])
  expect(observe).toHaveBeenCalledOnce()
})

test('a bot without a key and a webhook sees the answer as it came, which is observed', async () => {
  const { call, observe } = scene({})
  expect((await call('GET', '/me')).text).toBe(yes(BOT).body.toString())
  expect(observe).toHaveBeenCalledOnce()
})

test('a refusal of the service passes unread, and a result that is no bot is not handed on', async () => {
  const refused = scene({ key: KEY, answer: no(429, 'rate_limited') })
  expect(await refused.call('GET', '/me')).toMatchObject({ status: 429, code: 'rate_limited' })
  expect(refused.observe).not.toHaveBeenCalled()
  const { error } = await scene({ key: KEY, answer: yes('a bot') }).call('GET', '/me')
  expect(error).toMatchObject({ code: 'postern_upstream_invalid' })
  expect(error?.['message']).toContain('a bot')
})
