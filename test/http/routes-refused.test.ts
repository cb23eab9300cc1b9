import { expect, test } from 'vitest'
import { useStage } from '../support/double-stage.ts'

const stage = useStage()

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
