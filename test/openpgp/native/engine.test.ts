/** Native code put together: what it does itself, what threads and the library do, and its end. */
import { setImmediate as immediate } from 'node:timers/promises'
import { readPrivateKey } from 'openpgp'
import { afterAll, beforeEach, expect, test, vi } from 'vitest'
import { judgeFully, describeOwnKey } from '../../../src/openpgp/library/certificate-info.ts'
import type { Library } from '../../../src/openpgp/library/library.ts'
import { lock } from '../../../src/openpgp/library/secret-key.ts'
import { NativeEngine } from '../../../src/openpgp/native/engine.ts'
import { NativeOwnKeys } from '../../../src/openpgp/native/own-keys.ts'
import { NATIVE_JOBS } from '../../../src/openpgp/native/worker.ts'
import { Pool } from '../../../src/openpgp/pool.ts'
import {
  armoredCertificate,
  boundSubkey,
  keyPacket,
  userId,
} from '../../support/openpgp-certificate.ts'
import { concat } from '../../support/openpgp-bytes.ts'
import { KEY, hello, openInner, parsePackets } from '../../support/openpgp-engine.ts'
import { armor, packet } from '../../support/openpgp-framing.ts'
import { signedLiteral } from '../../support/openpgp-inner.ts'
import {
  MADE_MS,
  NOW_MS,
  alice,
  bot,
  mallory,
  personOf,
  rsaKey,
  testPerson,
} from '../../support/openpgp-people.ts'
import { ed25519Native, x25519Native } from '../../support/openpgp-x25519.ts'

/** What threads would do is done here. */
const run = vi.spyOn(Pool.prototype, 'run')
const jobs: Record<string, (...args: never[]) => unknown> = NATIVE_JOBS
beforeEach(() => {
  run.mockReset().mockImplementation(async (name: string, args: unknown[]) => {
    return await jobs[name]?.(...(args as never[]))
  })
})
afterAll(() => run.mockRestore())

/** Native code over a library in this thread, which notes what it is asked. */
function made() {
  const library = {
    judgeForNative: vi.fn(judgeFully),
    describe: vi.fn(describeOwnKey),
    packetsFor: vi.fn(),
    readAes256: vi.fn(),
  }
  const told = { onPrepared: vi.fn(), onDisagreement: vi.fn(), onSealed: vi.fn() }
  const bounds = { maxBytes: 1e6, keepMs: 60_000 }
  const engine = new NativeEngine({
    library: library as unknown as Library,
    threads: 1,
    events: {},
    bounds,
    nowMs: () => NOW_MS,
    ...told,
  })
  return { engine, library, ...told }
}

const at = { nowMs: NOW_MS }
const signed = async () => {
  const opened = await openInner(signedLiteral('hello', { signer: alice.primary, atMs: NOW_MS }))
  if (opened.outcome !== 'opened') throw new Error(opened.outcome)
  return opened.signed
}
const message = { text: 'hello', certificates: [alice.certificate], cipher: 'aes256' } as const
const newer = [ed25519Native('new', MADE_MS), x25519Native('new', MADE_MS)] as const
const modern = personOf('new', ...newer).certificate
const toRsa = armoredCertificate(
  keyPacket(alice.primary),
  userId(alice.primary, 'alice'),
  boundSubkey(alice.primary, rsaKey(2048)),
)
const twoNames = armoredCertificate(
  keyPacket(alice.primary),
  userId(alice.primary, 'alice'),
  userId(alice.primary, 'Alice'),
  boundSubkey(alice.primary, alice.subkey),
)

test('a lock that takes no time is opened here, any other in a thread', async () => {
  const { engine } = made()
  const key = await readPrivateKey({ binaryKey: alice.secret })
  const quick = await lock(key, { to: 'x', isRandom: true })
  expect(await engine.unlock(quick, 'x')).toMatchObject({ fingerprint: alice.primary.fingerprint })
  expect(run).not.toHaveBeenCalled()
  run.mockResolvedValueOnce('unlocked')
  expect(await engine.unlock('slow', 'y')).toBe('unlocked')
  expect(run.mock.calls).toEqual([['unlock', ['slow', 'y']]])
})

test('a certificate is judged once, and an earlier copy of it is merged by the library', async () => {
  const { engine, library } = made()
  for (let time = 0; time < 2; time++) {
    expect((await engine.certificates.check(alice.certificate)).status).toMatchObject({
      unusable: null,
    })
  }
  expect(engine.certificates.lookups).toEqual({ hits: 1, misses: 1 })
  expect(library.judgeForNative).not.toHaveBeenCalled()
  await engine.certificates.check(alice.certificate, twoNames)
  expect(library.judgeForNative.mock.calls).toEqual([[alice.certificate, NOW_MS, twoNames]])
  expect(engine.threads.load).toEqual({ busy: 0, waiting: 0 })
})

test('a message is opened with a key of ours, which is described without the library where it is plain', async () => {
  const { engine, library } = made()
  expect(await engine.open(armor(hello()), [bot.unlocked])).toMatchObject({ text: 'hello' })
  const found = await engine.unwrap(parsePackets(hello()) as never, [bot.unlocked])
  expect(found).toEqual([
    { algorithm: 'aes256', data: KEY.data, fingerprint: bot.primary.fingerprint },
  ])
  expect(library.describe).not.toHaveBeenCalled()
  const bytes = concat(bot.secret, packet(21, Buffer.alloc(4)))
  const padded = { ...bot.unlocked, fingerprint: '00'.repeat(20), bytes }
  expect(await engine.open(armor(hello()), [padded])).toMatchObject({ text: 'hello' })
  expect(library.describe).toHaveBeenCalledTimes(1)
})

test('a signature is verified with a certificate that can be read, for as long as it is asked for', async () => {
  const what = await signed()
  const { engine } = made()
  const verify = (certificate: string, signal?: AbortSignal) =>
    engine.verify(what, certificate, { ...at, signal })
  // read now, and known the second time
  for (let time = 0; time < 2; time++) expect(await verify(alice.certificate)).toEqual(['valid'])
  expect(await verify(mallory.certificate)).toEqual(['other-key'])
  expect(await verify(alice.certificate, new AbortController().signal)).toEqual(['valid'])
  expect(await verify(alice.certificate, AbortSignal.abort())).toBeNull()
  expect(await verify('hello')).toBeNull()
})

test('a certificate about which nothing can be learned verifies nothing here', async () => {
  const { engine, library } = made()
  library.judgeForNative.mockRejectedValue(new Error('no thread'))
  expect(await engine.verify(await signed(), twoNames, at)).toBeNull()
})

test('a message is sealed, and the next one for its place is prepared', async () => {
  const { engine, onPrepared, onSealed } = made()
  const request = { ...message, signer: bot.unlocked, place: 'here' }
  const sealed = await engine.sealer.seal(request)
  expect(onSealed).toHaveBeenCalledWith(request, sealed, expect.any(String))
  await expect.poll(() => onPrepared.mock.calls).toEqual([['here']])
})

test('kinds of recipient lists and of messages are told apart', async () => {
  const { engine, library, onSealed, onPrepared } = made()
  library.readAes256.mockResolvedValue(true)
  library.packetsFor.mockResolvedValue(packet(1, Buffer.alloc(40)))
  const kindOf = async (more: object): Promise<string> => {
    await engine.sealer.seal({ ...message, signer: bot.unlocked, ...more })
    return onSealed.mock.lastCall?.[2] as string
  }
  const crowd = ['a', 'b', 'c', 'd'].map((name) => testPerson(name).certificate)
  const plain = await kindOf({})
  const both = await kindOf({ certificates: [alice.certificate, modern] })
  const kinds = [
    plain,
    both,
    await kindOf({ certificates: crowd }),
    await kindOf({ certificates: [toRsa] }),
    await kindOf({ cipher: 'aes128' }),
    await kindOf({ isUnnamed: true }),
  ]
  await kindOf({ place: 'here' })
  await expect.poll(() => onPrepared.mock.calls.length).toBe(1)
  kinds.push(await kindOf({ place: 'here' }))
  expect(new Set(kinds).size).toBe(kinds.length)
  expect(await kindOf({ certificates: [modern, alice.certificate] })).toBe(both)
  for (const certificates of [[], [mallory.certificate], crowd.slice(0, 3)]) {
    expect(await kindOf({ certificates })).toBe(plain)
  }
})

test('nothing is known, held or done once it has ended', async () => {
  const { engine, onPrepared } = made()
  const what = await signed()
  await engine.sealer.seal({ ...message, signer: bot.unlocked, place: 'here' })
  expect(await engine.verify(what, alice.certificate, at)).toEqual(['valid'])
  let isOver = false
  const closing = Promise.resolve().then(() => (isOver = true))
  const threads = vi.spyOn(Pool.prototype, Symbol.asyncDispose).mockImplementation(async () => {
    await immediate()
    await closing
  })
  const forget = vi.spyOn(NativeOwnKeys.prototype, 'clear')
  await engine[Symbol.asyncDispose]()
  expect([threads.mock.calls.length, isOver]).toEqual([1, true])
  expect(forget).toHaveBeenCalledOnce()
  threads.mockRestore()
  expect(await engine.sealer.seal({ ...message, signer: bot.unlocked })).toBeNull()
  expect(await engine.verify(what, alice.certificate, at)).toBeNull()
  await immediate()
  expect(onPrepared).not.toHaveBeenCalled()
})
