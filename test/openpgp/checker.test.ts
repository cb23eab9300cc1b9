import { afterEach, expect, onTestFinished, test, vi } from 'vitest'
import { Checker, type CheckScope, type EngineCheck } from '../../src/openpgp/checker.ts'
import { createEngine, type MeasuredEngine } from '../../src/openpgp/index.ts'
import { JobKilled, Pool } from '../../src/openpgp/pool.ts'
import { Sealed } from '../../src/openpgp/format/armor-writer.ts'
import { sealPrepared } from '../../src/openpgp/native/prepared-message.ts'
import type { OpenedText, Signed, SignatureResult } from '../../src/openpgp/engine.ts'
import { generate, unlock } from '../../src/openpgp/library/secret-key.ts'
import type { DatedRequest } from '../../src/openpgp/native/sealer.ts'
import { sealHere } from '../support/openpgp-engine.ts'
import { NOW_MS, alice, bot } from '../support/openpgp-people.ts'

const request: DatedRequest = {
  text: 'hello',
  certificates: [alice.certificate],
  signer: bot.unlocked,
  cipher: 'aes256',
  atMs: NOW_MS,
}

const open: (Checker | MeasuredEngine)[] = []
afterEach(async () => {
  vi.useRealTimers()
  for (const one of open.splice(0)) await one[Symbol.asyncDispose]()
})

function checker(scope: CheckScope): { checker: Checker; ended: EngineCheck[] } {
  const ended: EngineCheck[] = []
  const made = new Checker(scope, (check) => ended.push(check))
  open.push(made)
  return { checker: made, ended }
}

async function sealedBy(one: Checker, times: number, text = 'hello', kind = 'a'): Promise<void> {
  const sealed = Sealed.of(await sealHere(request, NOW_MS), { dataDigest: '', statementDigest: '' })
  for (let time = 0; time < times; time++) one.sealed({ ...request, text }, sealed, kind)
}

test('`openpgp.check: sample` checks the first sealed message of each kind and every 256th after it', async () => {
  const { checker: one, ended } = checker('sample')
  await sealedBy(one, 257)
  await sealedBy(one, 3, 'hello', 'b')
  await expect.poll(() => ended.length).toBe(3)
  expect(ended).toEqual(Array.from({ length: 3 }, () => ({ work: 'sealed', result: 'same' })))
})

test('`openpgp.check: all` checks every sealed message, and skips those beyond 256 waiting ones', async () => {
  const { checker: one, ended } = checker('all')
  await sealedBy(one, 300)
  expect(ended.filter(({ result }) => result === 'skipped')).toHaveLength(300 - 256)
})

test('a check whose thread was killed ends as `unchecked`, and the next check runs', async () => {
  const { checker: one, ended } = checker('all')
  const run = vi.spyOn(Pool.prototype, 'run').mockRejectedValueOnce(new JobKilled('compareSealed'))
  await sealedBy(one, 2)
  await expect.poll(() => ended.map(({ result }) => result)).toEqual(['unchecked', 'same'])
  run.mockRestore()
})

test('a message is checked at the time of its signature, by a clock ahead of the machine’s', async () => {
  const createdMs = Date.now() + 86_400_000
  const passphrase = 'p'.repeat(64)
  const made = await generate({ userId: 'late', createdMs, passphrase, isRandom: true })
  const engine = createEngine({ threads: 1, check: 'all', nowMs: () => createdMs + 1000 })
  open.push(engine)
  const ended: EngineCheck[] = []
  engine.onCheck((check) => ended.push(check))
  const signer = await unlock(made.locked, passphrase)
  await engine.seal({ text: 'hello', certificates: [made.certificate], signer, cipher: 'aes256' })
  await expect.poll(() => ended).toEqual([{ work: 'sealed', result: 'same' }])
})

/** A checker whose thread finds no difference, and the jobs of that thread. */
function comparing() {
  const run = vi.spyOn(Pool.prototype, 'run').mockResolvedValue('same')
  onTestFinished(() => run.mockRestore())
  return { ...checker('sample'), run }
}

test('a message to 20 people is compared with 16 consecutive certificates, each once', async () => {
  const { checker: one, ended, run } = comparing()
  const all = Array.from({ length: 20 }, (_, n) => `certificate ${n}`)
  const sealed = Sealed.of(await sealHere(request, NOW_MS), { dataDigest: '', statementDigest: '' })
  const random = vi.spyOn(Math, 'random')
  onTestFinished(() => random.mockRestore())
  for (const [place, from] of [0, 4].entries()) {
    random.mockReturnValue(place * 0.99)
    one.sealed({ ...request, certificates: [...all, ...all] }, sealed, `${place}`)
    await expect.poll(() => ended.length).toBe(place + 1)
    expect(run.mock.lastCall).toEqual([
      'compareSealed',
      [expect.objectContaining({ certificates: all.slice(from, from + 16), of: 20, atMs: NOW_MS })],
    ])
  }
})

test('an opened message is checked with the own key that opened it, and not without one', async () => {
  const { checker: one, ended, run } = comparing()
  const opened = { text: 'hello', isFile: false, signatures: [] }
  const openedWith = (fingerprint: string): void =>
    one.opened('armored', [alice.unlocked, bot.unlocked], {
      ...opened,
      openedWith: fingerprint,
    } as unknown as OpenedText)
  openedWith('unknown')
  openedWith(bot.unlocked.fingerprint)
  await expect.poll(() => ended).toEqual([{ work: 'opened', result: 'same' }])
  expect(run.mock.calls).toEqual([
    ['compareOpened', ['armored', bot.unlocked, expect.objectContaining({ text: 'hello' }), []]],
  ])
})

test('a signature verification is checked once for each distinct list of results', async () => {
  const { checker: one, ended, run } = comparing()
  const signed = { signature: 'signature', document: 'hello' } as unknown as Signed
  for (const results of [['valid'], ['valid'], ['bad']] as SignatureResult[][]) {
    one.verified(signed, alice.certificate, { nowMs: NOW_MS, results })
  }
  await expect.poll(() => ended.length).toBe(2)
  expect(run.mock.calls.map(([, args]) => args)).toEqual(
    [['valid'], ['bad']].map((results) => [signed, alice.certificate, { nowMs: NOW_MS, results }]),
  )
})

vi.mock('../../src/openpgp/native/prepared-message.ts', { spy: true })

test('an engine that found a difference seals with openpgp.js instead of native code', async () => {
  const engine = createEngine({ threads: 1, check: 'sample' })
  open.push(engine)
  const ended: EngineCheck[] = []
  const differs = vi.fn()
  engine.onCheck((check) => ended.push(check))
  engine.onDifference(differs)
  const seal = { text: 'right', certificates: [], signer: bot.unlocked, cipher: 'aes256' } as const
  const { sealPrepared: real } = await vi.importActual<{ sealPrepared: typeof sealPrepared }>(
    '../../src/openpgp/native/prepared-message.ts',
  )
  vi.mocked(sealPrepared).mockImplementation((prepared, signing) =>
    real(prepared, { ...signing, text: 'wrong' }),
  )
  expect(await engine.open(await engine.seal(seal), [bot.unlocked])).toMatchObject({
    text: 'wrong',
  })
  await expect.poll(() => differs.mock.calls.length).toBe(1)
  expect(ended.filter(({ result }) => result === 'differs')).toEqual([
    { work: 'sealed', result: 'differs' },
  ])
  expect(await engine.open(await engine.seal(seal), [bot.unlocked])).toMatchObject({
    text: 'right',
  })
})
