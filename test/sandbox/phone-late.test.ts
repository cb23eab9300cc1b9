import { afterEach, expect, test, vi } from 'vitest'
import type { Engine } from '../../src/openpgp/engine.ts'
import { createSandbox } from '../../src/sandbox/create.ts'
import { SharedEngine } from '../../src/sandbox/phone/phones.ts'
import { ask, send } from './support.ts'

afterEach(() => void vi.restoreAllMocks())

/** Has phones open nothing before `until`. */
function openLate(until: Promise<void>): void {
  const opening = new WeakSet<Engine>()
  // oxlint-disable-next-line typescript/unbound-method -- the spy calls it on its phone
  const { get } = SharedEngine.prototype
  vi.spyOn(SharedEngine.prototype, 'get').mockImplementation(function (this: SharedEngine, clock) {
    const engine = get.call(this, clock)
    // it is the same one for all phones
    if (opening.has(engine)) return engine
    opening.add(engine)
    const open = engine.open.bind(engine)
    vi.spyOn(engine, 'open').mockImplementation(async (...message) => {
      await until
      return await open(...message)
    })
    return engine
  })
}

test('a phone verifies a message by the sender key at its arrival, even if it opens it later', async () => {
  const { promise, resolve: open } = Promise.withResolvers<void>()
  openLate(promise)
  await using sandbox = await createSandbox({ rates: 'off' })
  const { alice: person, privateChat: chatId } = sandbox.home
  const alice = await sandbox.phone(person.id)
  const [before, after] = await Promise.all(
    ['before', 'after'].map(async (username) => {
      const { id } = await sandbox.control.addPerson({ username, firstName: 'X' })
      return await sandbox.phone(id)
    }),
  )
  if (before === undefined || after === undefined) throw new Error('no phones')
  const publish = async ({ certificate: publicKey, fingerprint }: typeof alice) =>
    await ask(sandbox, 'PUT /key', { body: { publicKey, fingerprint } })
  await publish(before)
  const armored = await before.seal('words', [alice.certificate])
  await send(sandbox, chatId, { armored })
  await publish(after)
  open()
  await alice.settled()
  expect(alice.seenEvents).toMatchObject([
    { kind: 'key', fingerprint: before.fingerprint },
    { kind: 'message', text: 'words', verdict: 'verified', signer: before.fingerprint },
    { kind: 'key', fingerprint: after.fingerprint },
  ])
})
