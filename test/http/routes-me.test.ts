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

test('`GET /me` returns a refusal of the service to the byte', async () => {
  using _refusal = stage.double.script(
    'GET',
    '/me',
    no(429, 'rate_limited', { error: { retryAfter: 60 }, headers: { 'retry-after': '5' } }),
    1,
  )
  const called = await stage.sidecar.call('GET', '/me')
  const asked = stage.double.calls('GET', '/me').find(({ answered }) => answered?.status === 429)
  expect([called.status, called.headers['retry-after']]).toEqual([429, '5'])
  expect(called.text).toBe(asked?.answered?.body.toString())
})

test('`GET /me` is 502 for a result that is no bot', async () => {
  using _lie = stage.double.script('GET', '/me', { json: { ok: true, result: 'a bot' } })
  const { status, json } = await stage.sidecar.call('GET', '/me')
  expect([status, json.error.code]).toEqual([502, 'postern_upstream_invalid'])
})

test('a malformed query of `GET /updates` reaches the service, and its refusal returns to the byte', async () => {
  using _refusal = stage.double.script(
    'GET',
    '/updates',
    no(400, 'bad_request', { error: { n: 1 } }),
  )
  const polled = await stage.sidecar.call('GET', '/updates?offset=-1&limit=1000&timeout=abc')
  const asked = stage.double.calls('GET', '/updates').at(-1)
  expect(asked?.query).toBe('offset=-1&limit=1000&timeout=abc')
  expect([polled.status, polled.text]).toEqual([400, asked?.answered?.body.toString()])
})
