/** `NativeEngine` over a library and threads in the test's own thread. */
import { setImmediate as immediate } from 'node:timers/promises'
import { afterAll, beforeEach, expect, test, vi } from 'vitest'
import { judgeFully, describeOwnKey } from '../../../src/openpgp/library/certificate-info.ts'
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
import { openInner } from '../../support/openpgp-engine.ts'
import { packet } from '../../support/openpgp-framing.ts'
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

/** Jobs of threads run here. */
const run = vi.spyOn(Pool.prototype, 'run')
const jobs: Record<string, (...args: never[]) => unknown> = NATIVE_JOBS
beforeEach(() => {
  run.mockReset().mockImplementation(async (name: string, args: unknown[]) => {
    return await jobs[name]?.(...(args as never[]))
  })
})
afterAll(() => run.mockRestore())

/** A native engine over a library in this thread that records its calls. */
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
    library,
    threads: 1,
    events: {},
    bounds,
    nowMs: () => NOW_MS,
    ...told,
  })
  return { engine, library, ...told }
}

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

test('a signature is verified with a readable certificate until its request is aborted', async () => {
  const what = await signed()
  const { engine } = made()
  const verify = (certificate: string, signal?: AbortSignal) =>
    engine.verify(what, certificate, NOW_MS, signal)
  // read now, and known the second time
  for (let time = 0; time < 2; time++) expect(await verify(alice.certificate)).toEqual(['valid'])
  expect(await verify(mallory.certificate)).toEqual(['other-key'])
  expect(await verify(alice.certificate, new AbortController().signal)).toEqual(['valid'])
  expect(await verify(alice.certificate, AbortSignal.abort())).toBeNull()
  expect(await verify('hello')).toBeNull()
})

test('a signature is left to openpgp.js when its certificate cannot be judged', async () => {
  const { engine, library } = made()
  library.judgeForNative.mockRejectedValue(new Error('no thread'))
  expect(await engine.verify(await signed(), twoNames, NOW_MS)).toBeNull()
})

test('`onSealed` distinguishes kinds of recipient lists, ciphers, names and preparation', async () => {
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

test('a disposed native engine clears its keys and caches, awaits its threads and seals nothing', async () => {
  const { engine, onPrepared } = made()
  const what = await signed()
  await engine.sealer.seal({ ...message, signer: bot.unlocked, place: 'here' })
  expect(await engine.verify(what, alice.certificate, NOW_MS)).toEqual(['valid'])
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
  expect(await engine.verify(what, alice.certificate, NOW_MS)).toBeNull()
  await immediate()
  expect(onPrepared).not.toHaveBeenCalled()
})
