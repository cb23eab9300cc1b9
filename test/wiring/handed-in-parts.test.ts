import { onTestFinished, expect, test } from 'vitest'
import { SecretSource } from '../../src/config/secrets.ts'
import { settingsFrom } from '../../src/config/settings.ts'
import { createSidecar, type HandedInParts } from '../../src/context.ts'
import { createLink } from '../../src/wiring/link.ts'
import { createEngine, type MeasuredEngine } from '../../src/openpgp/create.ts'
import { createSandbox, type Sandbox } from '../../src/sandbox/create.ts'
import { until } from '../support/sidecar.ts'
import { watchedLog } from '../support/watched-log.ts'
import { flags, open, put, temporary } from '../store/support.ts'

/** What a sidecar before this sandbox is made of. */
function optionsFor(sandbox: Sandbox) {
  return {
    settings: settingsFrom({
      upstream: { url: sandbox.url },
      listen: { port: 0 },
      admin: { port: 0 },
      dataDir: temporary(),
      key: { protection: 'none' },
    }),
    secrets: {
      botToken: SecretSource.fromValue(sandbox.token),
      clientToken: null,
      passphrase: null,
    },
    log: watchedLog(),
  }
}

/** Lets a sidecar with these parts send one message, and stops it. */
async function sendOnce(
  sandbox: Sandbox,
  options: ReturnType<typeof optionsFor>,
  parts: HandedInParts,
) {
  await using sidecar = await createSidecar({ ...options, parts })
  const { bot } = await sidecar.listen()
  await until(async () => (await sidecar.operations.status()).ready, 'the sidecar is ready')
  const { alice, privateChat } = sandbox.home
  await sandbox.phone(alice.id)
  const answer = await fetch(`${bot}/bot/v1/messages`, {
    method: 'POST',
    headers: { authorization: `Bearer ${sandbox.token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ chatId: privateChat, text: 'hello' }),
  })
  expect(answer.status).toBe(201)
}

/** An engine that counts its seals; it stops when the test ends. */
function countingEngine(): { engine: MeasuredEngine; seals: () => number } {
  const engine = createEngine()
  onTestFinished(() => engine[Symbol.asyncDispose]())
  let seals = 0
  const sealKnown: MeasuredEngine['sealKnown'] = (request) => {
    seals++
    return engine.sealKnown(request)
  }
  return { engine: { ...engine, sealKnown }, seals: () => seals }
}

test(
  'an engine that is handed in seals, and outlives the sidecar',
  { timeout: 60_000 },
  async () => {
    await using sandbox = await createSandbox({ rates: 'off' })
    const { engine, seals } = countingEngine()
    await sendOnce(sandbox, optionsFor(sandbox), { engine })
    expect(seals()).toBe(1)
    const key = { userId: 'somebody', createdMs: Date.now(), passphrase: 'of nobody' }
    expect((await engine.generate(key)).fingerprint).toMatch(/^[0-9a-f]{40}$/)
  },
)

test('a store that is handed in keeps the key, and stays open after the sidecar', async () => {
  await using sandbox = await createSandbox({ rates: 'off' })
  const store = await open(temporary(), { protection: 'none', isRequired: true })
  await sendOnce(sandbox, optionsFor(sandbox), { store })
  const keys = await store.read((db) => db.selectFrom('own_keys').selectAll().execute())
  expect(keys.map(({ state }) => state)).toEqual(['active'])
  await put(store, 'after', 'the end')
  expect((await flags(store))['after']).toBe('the end')
})

test('a link that is handed in carries the calls, and works after the sidecar', async () => {
  await using sandbox = await createSandbox({ rates: 'off' })
  const options = optionsFor(sandbox)
  await using link = createLink(options.settings, options.secrets, { log: options.log, ways: [] })
  await sendOnce(sandbox, options, { link })
  expect(await link.metrics.registry.text()).toContain('postern_seals_total 1')
  expect((await link.calls.me()).id).toBe(link.botId())
})
