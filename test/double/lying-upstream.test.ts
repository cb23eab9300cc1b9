import { expect, test } from 'vitest'
import { canary, useStage } from '../support/double-stage.ts'

const stage = useStage()

test('an unreachable service is reported to the bot and in /readyz, and the sidecar recovers', async () => {
  const { port } = stage.double
  await stage.double.rest()
  const answer = await stage.sidecar.call('GET', '/commands')
  expect([answer.status, answer.json.error.code]).toEqual([502, 'postern_upstream_unreachable'])
  expect((await stage.sidecar.readiness()).reasons).toContain('upstream')
  await stage.double.rise(port)
  await stage.sidecar.whenReady()
})

test('a refused answer of the service appears neither in the log nor in the answer to the bot', async () => {
  const words = canary()
  for (const body of [words, `{"ok":true,"result":${words}`, `HTTP/1.1 200 ${words}`]) {
    using _lie = stage.double.script('GET', '/commands', { body })
    const answer = await stage.sidecar.call('GET', '/commands')
    expect(answer.text).not.toContain(words)
  }
  stage.expectNowhere(words)
})
