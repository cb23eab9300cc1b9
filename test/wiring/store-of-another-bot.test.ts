/** A sidecar on the store of another bot. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { onTestFinished, test } from 'vitest'
import { SecretSource } from '../../src/config/secrets.ts'
import { settingsFrom } from '../../src/config/settings.ts'
import { createSidecar } from '../../src/context.ts'
import { createSandbox } from '../../src/sandbox/create.ts'
import { until } from '../support/sidecar.ts'
import { watchedLog } from '../support/watched-log.ts'
import { open, temporary } from '../store/support.ts'

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
  await new Promise<void>((resolve) => service.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void service.close())
  const url = `http://127.0.0.1:${(service.address() as AddressInfo).port}`
  await using store = await open(temporary(), { protection: 'none', botId: me.result.id + 1 })
  await using sidecar = await createSidecar({
    settings: settingsFrom({
      upstream: { url },
      listen: { port: 0 },
      admin: { port: 0 },
      dataDir: temporary(),
      key: { protection: 'none' },
    }),
    secrets: {
      botToken: SecretSource.fromValue('a token of no shape'),
      clientToken: null,
      passphrase: null,
    },
    log: watchedLog(),
    parts: { store },
  })
  await sidecar.listen()
  const reasons = async () => (await sidecar.operations.status()).reasons.map(({ code }) => code)
  await until(async () => (await reasons()).includes('identity'), 'the refusal')
})
