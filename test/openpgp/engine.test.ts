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
import { pkesk, seipd } from '../support/openpgp-sealed.ts'
import { compressed, literal, signedLiteral } from '../support/openpgp-inner.ts'
import { MADE_MS, NOW_MS, alice, bot } from '../support/openpgp-people.ts'
import { run } from '../support/programs.ts'
import { keyExpiresAfter } from '../support/openpgp-signature.ts'

const engine = createEngine({ threads: 2 })
afterAll(() => engine[Symbol.asyncDispose]())

/** An engine that gives nobody's message any time. */
function hurried(): { engine: ReturnType<typeof createEngine>; killed: string[] } {
  const killed: string[] = []
  const made = createEngine({
    threads: 1,
    deadlineMs: 1,
    onThreadKilled: (job) => killed.push(job),
  })
  onTestFinished(() => made[Symbol.asyncDispose]())
  return { engine: made, killed }
}

/** A certificate that only the library judges: with a second user id. */
const uncommon = armoredCertificate(
  keyPacket(alice.primary),
  userId(alice.primary, 'alice'),
  userId(alice.primary, 'Alice'),
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

test('a message that takes too long is tried twice, then damaged, and the others are not', async () => {
  const { engine: fast, killed } = hurried()
  expect(await fast.open(uncommonMessage, [bot.unlocked])).toEqual({
    outcome: 'damaged',
    reason: 'deadline',
  })
  expect(killed).toEqual(['open', 'open'])
  expect(await engine.open(uncommonMessage, [bot.unlocked])).toMatchObject({ text: 'hello' })
})

test('a signature that takes too long is bad, a certificate is unusable for now', async () => {
  const { engine: fast, killed } = hurried()
  expect(await fast.verify(await signed(), uncommon, NOW_MS)).toEqual(['bad'])
  expect(await fast.judge(uncommon)).toMatchObject({
    fingerprint: null,
    unusable: 'deadline',
    armored: uncommon,
  })
  expect(killed).toEqual(['judge', 'judge', 'verify', 'verify'])
})

test('what is of the common form has no deadline to pass: no thread is asked', async () => {
  const { engine: fast, killed } = hurried()
  expect(await fast.open(armor(hello()), [bot.unlocked])).toMatchObject({ text: 'hello' })
  expect(await fast.verify(await signed(), alice.certificate, NOW_MS)).toEqual(['valid'])
  expect(killed.filter((job) => job !== 'judge')).toEqual([])
})

test('what we seal ourselves has its own time, however little messages get', async () => {
  const { engine: fast } = hurried()
  const request = { text: 'x', certificates: [alice.certificate], signer: bot.unlocked }
  expect(await fast.seal({ ...request, cipher: 'aes256' })).toContain('BEGIN PGP MESSAGE')
})

test('a batch opens side by side, each message as itself', async () => {
  const texts = Array.from({ length: 40 }, (_, index) => `message ${index}`)
  const armored = texts.map((text) => armor(toBot(literal(text))))
  armored[7] = armored[7]?.replace(/.{8}$/m, 'AAAAAAAA') ?? ''
  armored[20] = 'hello'
  armored[30] = armor(toBot(compressed(literal('x'.repeat(300_000)), 2)))
  const opened = await Promise.all(armored.map((one) => engine.open(one, [bot.unlocked])))
  const results = opened.map((one) => (one.outcome === 'opened' ? one.text : one.outcome))
  const expected = [...texts]
  expected[7] = 'damaged'
  expected[20] = 'damaged'
  expected[30] = 'too-large'
  expect(results).toEqual(expected)
})

test('what the parser refuses never reaches a thread', async () => {
  const { engine: fast, killed } = hurried()
  expect(await fast.open('hello', [bot.unlocked])).toEqual({ outcome: 'damaged', reason: 'armor' })
  expect(await fast.open(armor(hello()), [alice.unlocked])).toEqual({ outcome: 'not-recipient' })
  expect(await fast.open(armor(literal('hello')), [bot.unlocked])).toMatchObject({
    outcome: 'not-encrypted',
  })
  expect(killed).toEqual([])
})

test('a certificate that nothing can be made of verifies nothing', async () => {
  expect(await engine.verify(await signed(), 'hello', NOW_MS)).toEqual(['bad'])
})

test('an engine that is gone answers at once, and lets nothing through', async () => {
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

/** Runs a few lines that have an engine, in a process of their own. */
const script = (
  lines: string,
  env: NodeJS.ProcessEnv,
  flags: string[] = [],
): ReturnType<typeof run> =>
  run(
    process.execPath,
    [...flags, '--input-type=module', '-e', `import { createEngine } from '${SOURCE}'\n${lines}`],
    { env: { PATH: process.env['PATH'], ...env } },
  )

const OPEN_DAMAGED = `
  const engine = createEngine({ threads: 1 })
  const { MESSAGE, CERTIFICATE, KEY } = process.env
  const { bytes, ...ids } = JSON.parse(KEY)
  const key = { ...ids, bytes: new Uint8Array(Buffer.from(bytes, 'hex')) }
  const opened = await engine.open(MESSAGE, [key])
  const judged = await engine.judge(CERTIFICATE)
  process.stdout.write(opened.outcome + ' ' + judged.unusable)`

test('NODE_ENV=development does not make the threads talk', async () => {
  const spoilt = pkesk(bot.subkey, KEY)
  spoilt[60] = (spoilt[60] ?? 0) ^ 1
  const env = {
    MESSAGE: armor(concat(spoilt, seipd(literal('hello'), KEY))),
    CERTIFICATE: armoredCertificate(keyPacket(alice.primary), packet(13, Buffer.from('alice'))),
    KEY: JSON.stringify({ ...bot.unlocked, bytes: bot.secret.toString('hex') }),
  }
  for (const NODE_ENV of ['development', 'production']) {
    const ran = await script(OPEN_DAMAGED, { ...env, NODE_ENV })
    expect(ran.stderr).toBe('')
    expect(ran.stdout.toString()).toBe('damaged no-encryption-subkey')
  }
})

test('threads inherit neither the environment nor the flags of the process', async () => {
  const lines = `
    const engine = createEngine({ threads: 1 })
    const judged = await engine.judge('hello')
    process.stdout.write(String(judged.unusable))`
  const ran = await script(lines, { NODE_OPTIONS: '', SECRET: 'x' }, [
    '--import',
    'data:text/javascript,process._rawDebug("loaded")',
  ])
  expect(ran.stdout.toString()).toBe('unparseable')
  expect(ran.stderr.match(/loaded/g)).toHaveLength(1)
})

test('an idle engine does not keep a process from ending', async () => {
  const lines = `
    const engine = createEngine({ threads: 2 })
    await Promise.all([engine.judge('a'), engine.judge('b')])
    process.stdout.write('end')`
  const ran = await script(lines, {})
  expect([ran.code, ran.stdout.toString()]).toEqual([0, 'end'])
})

test.each([
  ['read natively', 'native'],
  ['read by the library', 'library'],
] as const)('a certificate %s verifies nothing once it has expired', async (_how, kind) => {
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
  expect(await other.verify(what, certificate, Date.now())).toEqual(['bad'])
})
