import { expect, test } from 'vitest'
import { useStage } from '../support/double-stage.ts'
import { no } from '../support/double-wire.ts'

const stage = useStage({
  before: ({ world }) => Object.assign(world.bot, { unknown: { kept: true } }),
})

test('`GET /me` shows the bot as open, with its mode and key in `postern`', async () => {
  const { status, json } = await stage.sidecar.call('GET', '/me')
  const { fingerprint } = stage.double.world.published ?? {}
  expect(status).toBe(200)
  const { postern, ...rest } = json.result
  expect(rest).toEqual({ ...stage.double.world.bot, mode: 'open', fingerprint: null })
  expect(postern).toMatchObject({ mode: 'protected', fingerprint: fingerprint?.toUpperCase() })
})

test('`GET /me` keeps the spelling of large numbers and drops a `postern` of the service', async () => {
  const bot = JSON.stringify({ ...stage.double.world.bot, postern: { mode: 'open' }, n: 'N' })
  const body = `{"ok":true,"result":${bot.replace('"N"', '9007199254740993')}}`
  using _exact = stage.double.script('GET', '/me', { body })
  const called = await stage.sidecar.call('GET', '/me')
  expect(called.text).toContain('"n":9007199254740993')
  expect(called.json.result.postern.mode).toBe('protected')
})

const CHAT = '/chats/77'
const REFUSALS = [
  ['/me', no(429, 'rate_limited', { error: { retryAfter: 60 }, headers: { 'retry-after': '5' } })],
  [CHAT, no(404, 'chat_not_found', { error: { n: 1 } })],
  [`${CHAT}/keys`, no(404, 'chat_not_found')],
  [`${CHAT}/keys`, no(429, 'rate_limited', { headers: { 'retry-after': '9' } })],
  ['/updates?offset=-1&limit=1000&timeout=abc', no(400, 'bad_request', { error: { n: 1 } })],
  ['/commands', no(418, 'teapot_only', { error: { pots: 3 }, headers: { sunset: '1' } })],
] as const

test.each(REFUSALS)('a refusal of `GET %s` returns to the byte', async (target, refusal) => {
  const [path = '', query = ''] = target.split('?')
  using _refusal = stage.double.script('GET', path, refusal, 1)
  const called = await stage.sidecar.call('GET', target)
  const asked = stage.double.calls('GET', path).findLast(({ answered }) => {
    return answered?.status === refusal.status
  })
  expect(asked?.query).toBe(query)
  expect([called.status, called.text]).toEqual([refusal.status, asked?.answered?.body.toString()])
  expect(called.headers).toMatchObject(refusal.headers ?? {})
})

test.each(['/me', CHAT])('`GET %s` is 502 for a result of another type', async (path) => {
  using _lie = stage.double.script('GET', path, { json: { ok: true, result: 'text' } })
  const { status, json } = await stage.sidecar.call('GET', path)
  expect([status, json.error.code]).toEqual([502, 'postern_upstream_invalid'])
})
