import { decryptSessionKeys, readMessage, readPrivateKey } from 'openpgp'
import { afterAll, expect, onTestFinished, test, vi } from 'vitest'
import { EngineUnavailableError } from '../../src/errors.ts'
import { createEngine } from '../../src/openpgp/create.ts'
import {
  armoredCertificate,
  boundSubkey,
  keyPacket,
  userId,
} from '../support/openpgp-certificate.ts'
import { KEY, hello, toBot } from '../support/openpgp-engine.ts'
import { armor, packet } from '../support/openpgp-framing.ts'
import { concat } from '../support/openpgp-bytes.ts'
import { pkesk, pkeskBody, seipd } from '../support/openpgp-sealed.ts'
import { compressed, literal, signedLiteral } from '../support/openpgp-inner.ts'
import { MADE_MS, NOW_MS, alice, bot } from '../support/openpgp-people.ts'
import { run } from '../support/programs.ts'
import { keyExpiresAfter } from '../support/openpgp-signature.ts'

/** Of the length of the wrapped session key, in the body of a recipient packet. */
const WRAPPED_AT = 45
const engine = createEngine({ threads: 2 })
afterAll(() => engine[Symbol.asyncDispose]())

/** An engine whose messages, signatures and certificates have a deadline of 1 ms. */
function hurried(): { engine: ReturnType<typeof createEngine>; killed: string[] } {
  const killed: string[] = []
  const made = createEngine({ threads: 1, deadlineMs: 1 })
  made.onThreadKilled((job) => killed.push(job))
  onTestFinished(() => made[Symbol.asyncDispose]())
  return { engine: made, killed }
}

/** A certificate that only the library judges, in many times a millisecond: with many user ids. */
const uncommon = armoredCertificate(
  keyPacket(alice.primary),
  ...Array.from({ length: 200 }, (_, at) => userId(alice.primary, `alice ${at}`)),
  boundSubkey(alice.primary, alice.subkey),
)

const signed = async (): Promise<Parameters<typeof engine.verify>[0]> => {
  const opened = await engine.open(
    armor(toBot(signedLiteral('hello', { signer: alice.primary, atMs: NOW_MS }))),
    [bot.unlocked],
  )
  if (opened.outcome !== 'opened') throw new Error('not opened')
  return opened.signed
}

/** A message that only the library opens: compressed. */
const uncommonMessage = armor(toBot(compressed(literal('hello'), 2)))

test('a message that overruns its deadline twice is damaged as `deadline`, and opens with more time', async () => {
  const { engine: fast, killed } = hurried()
  expect(await fast.open(uncommonMessage, [bot.unlocked])).toEqual({
    outcome: 'damaged',
    reason: 'deadline',
  })
  expect(killed).toEqual(['open', 'open'])
  expect(await engine.open(uncommonMessage, [bot.unlocked])).toMatchObject({ text: 'hello' })
})

test('a signature past its deadline is `deadline`, and a certificate past its deadline is unusable as `deadline`', async () => {
  const { engine: fast, killed } = hurried()
  expect(await fast.verify(await signed(), uncommon, NOW_MS)).toEqual(['deadline'])
  expect(await fast.judge(uncommon)).toMatchObject({
    fingerprint: null,
    unusable: 'deadline',
    armored: uncommon,
  })
  expect(killed).toEqual(['judge', 'judge', 'verify', 'verify'])
})

test('a message and a signature of the common form are handled without a thread or deadline', async () => {
  const { engine: fast, killed } = hurried()
  expect(await fast.open(armor(hello()), [bot.unlocked])).toMatchObject({ text: 'hello' })
  expect(await fast.verify(await signed(), alice.certificate, NOW_MS)).toEqual(['valid'])
  expect(killed.filter((job) => job !== 'judge')).toEqual([])
})

test('sealing succeeds although the deadline of received messages is 1 ms', async () => {
  const { engine: fast } = hurried()
  const request = { text: 'x', certificates: [alice.certificate], signer: bot.unlocked }
  expect(await fast.seal({ ...request, cipher: 'aes256' })).toContain('BEGIN PGP MESSAGE')
})

test('a message that the parser rejects never reaches a thread', async () => {
  const { engine: fast, killed } = hurried()
  expect(await fast.open('hello', [bot.unlocked])).toEqual({ outcome: 'damaged', reason: 'armor' })
  expect(await fast.open(armor(hello()), [alice.unlocked])).toEqual({ outcome: 'not-recipient' })
  expect(await fast.open(armor(literal('hello')), [bot.unlocked])).toMatchObject({
    outcome: 'not-encrypted',
  })
  expect(killed).toEqual([])
})

test('a signature is `failed` when its certificate cannot be parsed', async () => {
  expect(await engine.verify(await signed(), 'hello', NOW_MS)).toEqual(['failed'])
})

test('a closed engine rejects open, verify, judge and seal with `EngineUnavailableError`', async () => {
  const gone = createEngine({ threads: 1 })
  await gone[Symbol.asyncDispose]()
  const answers = [
    gone.open(armor(hello()), [bot.unlocked]),
    gone.verify(await signed(), alice.certificate, NOW_MS),
    gone.judge(alice.certificate),
  ]
  for (const answer of answers) await expect(answer).rejects.toThrow(EngineUnavailableError)
  const request = { text: 'x', certificates: [], signer: bot.unlocked, cipher: 'aes256' as const }
  await expect(gone.seal(request)).rejects.toThrow('closed')
})

const SOURCE = new URL('../../src/openpgp/create.ts', import.meta.url).href

const OPEN_DAMAGED = `
  import { createEngine } from '${SOURCE}'
  const engine = createEngine({ threads: 1 })
  const { MESSAGE, CERTIFICATE, KEY } = process.env
  const { bytes, ...ids } = JSON.parse(KEY)
  const key = { ...ids, bytes: new Uint8Array(Buffer.from(bytes, 'hex')) }
  const opened = await engine.open(MESSAGE, [key])
  const judged = await engine.judge(CERTIFICATE)
  process.stdout.write(opened.outcome + ' ' + judged.unusable)`

test('a process with flags and environment ends while its threads have neither and print nothing', async () => {
  const spoilt = pkesk(bot.subkey, KEY)
  spoilt[60] = (spoilt[60] ?? 0) ^ 1
  const env = {
    MESSAGE: armor(concat(spoilt, seipd(literal('hello'), KEY))),
    CERTIFICATE: armoredCertificate(keyPacket(alice.primary), packet(13, Buffer.from('alice'))),
    KEY: JSON.stringify({ ...bot.unlocked, bytes: bot.secret.toString('hex') }),
  }
  const flags = ['--import', 'data:text/javascript,process._rawDebug("loaded")']
  const args = [...flags, '--input-type=module', '-e', OPEN_DAMAGED]
  const ran = await run(process.execPath, args, {
    env: { PATH: process.env['PATH'], NODE_ENV: 'development', ...env },
  })
  expect([ran.code, ran.stderr]).toEqual([0, 'loaded\n'])
  expect(ran.stdout.toString()).toBe('damaged no-user-id')
})

test.each([
  ['read natively', 'native'],
  ['read by the library', 'library'],
] as const)(
  'a certificate that is %s verifies no signature after its expiry',
  async (_how, kind) => {
    vi.useFakeTimers({ toFake: ['Date'], now: NOW_MS })
    onTestFinished(() => void vi.useRealTimers())
    const other = createEngine({ threads: 1, engine: kind })
    onTestFinished(() => other[Symbol.asyncDispose]())
    const lives = { hashed: [keyExpiresAfter((NOW_MS - MADE_MS) / 1000 + 60)] }
    const certificate = armoredCertificate(
      keyPacket(alice.primary),
      userId(alice.primary, 'alice', lives),
      boundSubkey(alice.primary, alice.subkey, lives),
    )
    const what = await signed()
    expect(await other.verify(what, certificate, Date.now())).toEqual(['valid'])
    vi.setSystemTime(NOW_MS + 61_000)
    expect(await other.verify(what, certificate, Date.now())).toEqual(['key-expired'])
  },
)

test('a wrapped session key that was cut opens nothing', async () => {
  await using alone = createEngine({ threads: 1, engine: 'library' })
  const body = pkeskBody(bot.subkey, KEY, 'cut')
  const wrapped = body.subarray(WRAPPED_AT + 1)
  expect(body[WRAPPED_AT]).toBe(wrapped.length)
  for (const length of [0, 1, 7, 8, 15, 16, 24, wrapped.length - 1]) {
    const cut = concat(body.subarray(0, WRAPPED_AT), length, wrapped.subarray(0, length))
    const message = armor(concat(packet(1, cut), seipd(literal('hello'), KEY)))
    for (const one of [engine, alone]) {
      expect(await one.open(message, [bot.unlocked])).toMatchObject({ outcome: 'damaged' })
    }
  }
})

test('messages have session keys of their own, none of which is of zeros', async () => {
  const request = { certificates: [], signer: bot.unlocked, cipher: 'aes256' } as const
  const found = new Set<string>()
  for (const text of ['same', 'same', 'same']) {
    const message = await readMessage({ armoredMessage: await engine.seal({ ...request, text }) })
    const decryptionKeys = await readPrivateKey({ binaryKey: bot.unlocked.bytes })
    const [sessionKey] = await decryptSessionKeys({ message, decryptionKeys })
    found.add(Buffer.from(sessionKey?.data ?? []).toString('hex'))
  }
  expect([found.size, found.has('00'.repeat(32)), found.has('')]).toEqual([3, false, false])
})
