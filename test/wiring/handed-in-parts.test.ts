import { expect, test, vi } from 'vitest'
import { createSidecar } from '../../src/context.ts'
import { createLink } from '../../src/wiring/link.ts'
import { createEngine } from '../../src/openpgp/create.ts'
import type { Engine } from '../../src/openpgp/engine.ts'
import { createSandbox } from '../../src/sandbox/create.ts'
import { callAt } from '../support/bot-call.ts'
import { until } from '../support/sidecar.ts'
import { flags, open, put, temporary } from '../store/support.ts'
import { sidecarOptions } from './sidecar-options.ts'

test('a sidecar uses the engine, store and link that are handed in, and leaves them open', async () => {
  await using sandbox = await createSandbox({ rates: 'off' })
  const options = sidecarOptions(sandbox)
  await using real = createEngine()
  const engine = {
    ...real,
    sealKnown: vi.fn((request: Parameters<Engine['sealKnown']>[0]) => real.sealKnown(request)),
  }
  const store = await open(temporary(), { protection: 'none', isRequired: true })
  await using link = createLink(options.settings, options.secrets, { log: options.log, ways: [] })
  {
    await using sidecar = await createSidecar({ ...options, parts: { engine, store, link } })
    const { bot } = await sidecar.listen()
    await until(async () => (await sidecar.operations.status()).ready, 'the sidecar is ready')
    const { alice, privateChat } = sandbox.home
    await sandbox.phone(alice.id)
    const body = { chatId: privateChat, text: 'hello' }
    const call = { method: 'POST', path: '/messages', body }
    expect((await callAt(bot, sandbox.token, call)).status).toBe(201)
  }
  expect(engine.sealKnown).toHaveBeenCalledOnce()
  const key = { userId: 'somebody', createdMs: Date.now(), passphrase: 'of nobody' }
  expect((await engine.generate(key)).fingerprint).toMatch(/^[0-9a-f]{40}$/)
  const keys = await store.read((db) => db.selectFrom('own_keys').selectAll().execute())
  expect(keys.map(({ state }) => state)).toEqual(['active'])
  await put(store, 'after', 'the end')
  expect((await flags(store))['after']).toBe('the end')
  expect(await link.metrics.registry.text()).toContain('postern_seals_total 1')
  expect((await link.calls.me()).id).toBe(link.botId())
})
