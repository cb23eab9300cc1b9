/** A sidecar on the store of another bot. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { SecretSource } from '../../src/config/secrets.ts'
import { settingsFrom } from '../../src/config/settings.ts'
import { createSidecar } from '../../src/context.ts'
import { createSandbox } from '../../src/sandbox/create.ts'
import { until } from '../support/sidecar.ts'
import { watchedLog } from '../support/watched-log.ts'
import { open, temporary } from '../store/support.ts'

const optionsFor = (url: string, token: string, dataDir: string) => ({
  settings: settingsFrom({
    upstream: { url },
    listen: { port: 0 },
    admin: { port: 0 },
    dataDir,
    key: { protection: 'none' },
  }),
  secrets: { botToken: SecretSource.fromValue(token), clientToken: null, passphrase: null },
  log: watchedLog(),
})

test('does not start, whichever bot’s token it has but the one’s that ran on it', async () => {
  await using sandbox = await createSandbox()
  const { token } = await sandbox.control.addBot({ username: 'another_bot' })
  const dataDir = temporary()
  await (
    await createSidecar(optionsFor(sandbox.url, sandbox.token, dataDir))
  )[Symbol.asyncDispose]()
  const other = createSidecar(optionsFor(sandbox.url, token, dataDir))
  await expect(other).rejects.toMatchObject({ code: 'store-other-bot' })
  await using again = await createSidecar(optionsFor(sandbox.url, sandbox.token, dataDir))
  expect(again.operations).toBeDefined()
})

test('takes no other bot from the service, where the token does not tell whose it is', async () => {
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
  const options = optionsFor(url, 'a token of no shape', temporary())
  await using sidecar = await createSidecar({ ...options, parts: { store } })
  await sidecar.listen()
  const reasons = async () => (await sidecar.operations.status()).reasons.map(({ code }) => code)
  await until(async () => (await reasons()).includes('identity'), 'the refusal')
})
