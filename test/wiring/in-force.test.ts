/**
 * Guards, freshness, fence and deadlines of the parts as `src/wiring` joins them: a whole sidecar over
 * a store that says it is shared, in which a test plays the other sidecars.
 */
import { expect, onTestFinished, test, vi } from 'vitest'
import { createSidecar } from '../../src/context.ts'
import { Refusal } from '../../src/errors.ts'
import { Keyring } from '../../src/keys/keyring.ts'
import { createEngine } from '../../src/openpgp/create.ts'
import type { Engine } from '../../src/openpgp/engine.ts'
import { DEADLINES_MS } from '../../src/openpgp/library/library.ts'
import { Pool } from '../../src/openpgp/pool.ts'
import { createSandbox } from '../../src/sandbox/create.ts'
import { memoryOf } from '../../src/store/memory.ts'
import { UpstreamClient } from '../../src/service/client.ts'
import { SYSTEM_TIME } from '../../src/util/clock.ts'
import { LOOKUP_MS, PROBE_MS, PUBLISH_MS } from '../../src/wiring/link.ts'
import { callAt } from '../support/bot-call.ts'
import { passing } from '../support/fake-time.ts'
import { until } from '../support/sidecar.ts'
import { open, temporary } from '../store/support.ts'
import { PlayedStore } from './played-store.ts'
import { sidecarOptions } from './sidecar-options.ts'

const UNWRITABLE = 'postern_store_unwritable'
const refuse = (): Promise<never> => Promise.reject(new Refusal(UNWRITABLE, 'out of reach'))

/** A sidecar that is ready before a sandbox; both end with the test. */
async function scene({ hasPlayedEngine = true } = {}) {
  const sandbox = await createSandbox({ rates: 'off' })
  onTestFinished(() => sandbox[Symbol.asyncDispose]())
  const played = new PlayedStore(await open(temporary(), { protection: 'none', isRequired: true }))
  const engine = createEngine()
  onTestFinished(() => engine[Symbol.asyncDispose]())
  const during = { seal: async (): Promise<void> => {} }
  const sealKnown: typeof engine.sealKnown = async (request) => {
    await during.seal()
    return await engine.sealKnown(request)
  }
  const sidecar = await createSidecar({
    ...sidecarOptions(sandbox),
    parts: { store: played.shared, ...(hasPlayedEngine && { engine: { ...engine, sealKnown } }) },
  })
  onTestFinished(() => sidecar[Symbol.asyncDispose]())
  const { bot } = await sidecar.listen({ hasControl: false })
  await until(async () => (await sidecar.operations.status()).ready, 'the sidecar is ready')
  await sandbox.phone(sandbox.home.alice.id)
  const call = async (method: string, path: string, body?: object) => {
    const { status, json } = await callAt(bot, sandbox.token, { method, path, body })
    return (json.error?.code as string | undefined) ?? status
  }
  const send = (chatId: number) => call('POST', '/messages', { chatId, text: 'words' })
  const { readableGroup, privateChat } = sandbox.home
  const arrived = async () =>
    (
      await Promise.all(
        [readableGroup, privateChat].map(
          async (chatId) => (await sandbox.control.messages({ chatId })).length,
        ),
      )
    ).join(' ')
  return {
    sandbox,
    played,
    engine,
    during,
    sidecar,
    call,
    send,
    arrived,
    readableGroup,
    privateChat,
  }
}

/** The keyring of another sidecar of the bot. */
const otherKeyring = async ({ own }: PlayedStore, engine: Engine): Promise<Keyring> =>
  await Keyring.load(memoryOf(own), engine, {
    retainMs: 30 * 86_400_000,
    time: SYSTEM_TIME,
    serviceNowMs: () => Date.now(),
  })

test('a readable send is refused where the shared store was read two seconds ago', async () => {
  const { played, send, arrived, readableGroup } = await scene()
  const pass = passing()
  const before = await arrived()
  played.onFresh = async () => pass(2000)
  expect(await send(readableGroup)).toBe(UNWRITABLE)
  expect(await arrived()).toBe(before)
  played.onFresh = async () => pass(1500)
  expect(await send(readableGroup)).toBe(201)
})

test('sends, edits, polls and `keyRotate` are refused while a shared store cannot be read', async () => {
  const { played, sidecar, call, send, arrived, readableGroup, privateChat } = await scene()
  expect(await send(privateChat)).toBe(201)
  const before = await arrived()
  played.onFresh = refuse
  expect(await send(readableGroup)).toBe(UNWRITABLE)
  expect(await send(privateChat)).toBe(UNWRITABLE)
  expect(await call('PATCH', '/messages/1', { chatId: privateChat, text: 'else' })).toBe(UNWRITABLE)
  expect(await call('GET', '/updates?timeout=0')).toBe(UNWRITABLE)
  await expect(sidecar.operations.keyRotate()).rejects.toMatchObject({ code: UNWRITABLE })
  expect(await arrived()).toBe(before)
})

test('`keyRotate` continues with a pending key that another sidecar has made', async () => {
  const { played, engine, sidecar } = await scene()
  const keys = await otherKeyring(played, engine)
  let made = ''
  played.onLock = async (name) => {
    if (name !== 'rotation' || made !== '') return
    await keys.makePending('another sidecar')
    made = keys.pending?.fingerprint ?? ''
    played.wrote('own_keys', made)
  }
  const { to } = await sidecar.operations.keyRotate()
  expect([to, (await sidecar.operations.keyList()).length]).toEqual([made, 2])
})

test('a sealed send is refused once the lock that keeps the key is lost', async () => {
  const { played, during, send, arrived, privateChat } = await scene()
  expect(await send(privateChat)).toBe(201)
  const before = await arrived()
  during.seal = async () => void (played.isHeld = false)
  expect(await send(privateChat)).toBe(UNWRITABLE)
  expect(await arrived()).toBe(before)
  during.seal = async () => {}
  played.isHeld = true
  expect(await send(privateChat)).toBe(201)
})

test('a sidecar reports `key-unpublished` once another sidecar has offered the next key', async () => {
  const { played, engine, sidecar, call } = await scene()
  const said: string[] = []
  sidecar.health.onChange(({ code, holds }) => said.push(`${code} ${holds}`))
  const keys = await otherKeyring(played, engine)
  await keys.makePending('another sidecar')
  const { fingerprint } = keys.pending ?? { fingerprint: '' }
  await keys.markOffered(fingerprint, Date.now())
  played.wrote('own_keys', fingerprint)
  await call('GET', '/updates?timeout=0')
  expect(said).toContain('key-unpublished true')
})

test('engine jobs have the deadline of the library, and calls to the service that of the link', async () => {
  const jobs = vi.spyOn(Pool.prototype, 'run')
  const asked = vi.spyOn(UpstreamClient.prototype, 'ask')
  onTestFinished(() => void vi.restoreAllMocks())
  const { send, privateChat, readableGroup } = await scene({ hasPlayedEngine: false })
  expect([await send(privateChat), await send(readableGroup)]).toEqual([201, 201])
  await expect.poll(() => jobs.mock.calls.map(([name]) => name)).toContain('judge')
  for (const [name, , deadlineMs] of jobs.mock.calls as [string, unknown, number | undefined][]) {
    if (name === 'judge') expect(deadlineMs).toBe(DEADLINES_MS.usual)
  }
  const calls = asked.mock.calls.map(([{ method, path, deadlineMs }]) => {
    const route = path.replaceAll(/\d+/g, '{id}')
    return `${method} ${route} ${deadlineMs}`
  })
  expect([...new Set(calls)].toSorted()).toEqual([
    `GET /chats/{id} ${LOOKUP_MS}`,
    `GET /chats/{id}/keys ${LOOKUP_MS}`,
    `GET /me ${PROBE_MS}`,
    'GET /me Infinity',
    `PUT /key ${PUBLISH_MS}`,
  ])
  expect([LOOKUP_MS, PROBE_MS, PUBLISH_MS]).toEqual([8000, 4000, 10_000])
})
