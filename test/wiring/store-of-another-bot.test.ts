/** A sidecar on the store of another bot. */
import { createServer } from 'node:http'
import { test } from 'vitest'
import { createSidecar } from '../../src/context.ts'
import { createSandbox } from '../../src/sandbox/create.ts'
import { listening } from '../support/listening.ts'
import { until } from '../support/sidecar.ts'
import { open, temporary } from '../store/support.ts'
import { sidecarOptions } from './sidecar-options.ts'

test('a sidecar with an opaque token is not ready while `/me` is of another bot than its store', async () => {
  await using sandbox = await createSandbox()
  const answer = await fetch(`${sandbox.url}/bot/v1/me`, {
    headers: { authorization: `Bearer ${sandbox.token}` },
  })
  const me = (await answer.json()) as { result: { id: number } }
  const service = createServer((_request, response) => {
    response.setHeader('content-type', 'application/json')
    response.end(JSON.stringify(me))
  })
  const url = await listening(service)
  await using store = await open(temporary(), { protection: 'none', botId: me.result.id + 1 })
  await using sidecar = await createSidecar({
    ...sidecarOptions({ url, token: 'a token of no shape' }),
    parts: { store },
  })
  await sidecar.listen()
  const reasons = async () => (await sidecar.operations.status()).reasons.map(({ code }) => code)
  await until(async () => (await reasons()).includes('identity'), 'the refusal')
})
