import { expect, test } from 'vitest'
import { canary, useStage } from '../support/double-stage.ts'

const stage = useStage()

test('`PUT /key` is refused with `postern_key_managed` and does not reach the service', async () => {
  const since = stage.double.mark()
  const body = { publicKey: canary(), fingerprint: 'ab'.repeat(20) }
  const called = await stage.sidecar.call('PUT', '/key', body)
  expect([called.status, called.json.error.code]).toEqual([403, 'postern_key_managed'])
  expect(called.json.error.message).toContain('postern key')
  expect(stage.double.mark()).toBe(since)
  stage.expectNowhere(body.publicKey)
})

// Last: the token is gone afterwards.
test('`POST /token/revoke` makes every later call 401, /readyz name `token`, and the sidecar stop its own calls', async () => {
  const called = await stage.sidecar.call('POST', '/token/revoke')
  expect([called.status, called.text]).toEqual([200, stage.lastAnswer('POST', '/token/revoke')])
  expect((await stage.sidecar.readiness()).reasons).toEqual(['token'])
  const since = stage.double.mark()
  for (const path of ['/me', '/updates', '/commands']) {
    const after = await stage.sidecar.call('GET', path)
    expect([after.status, after.json.error.code]).toEqual([401, 'unauthorized'])
  }
  expect((await stage.sidecar.readiness()).reasons).toEqual(['token'])
  expect(stage.double.names(since)).toEqual(['GET /me', 'GET /updates', 'GET /commands'])
})
