import { setImmediate as immediate } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { judgeFully } from '../../../src/openpgp/library/certificate-info.ts'
import { Verifier } from '../../../src/openpgp/native/verify.ts'
import '../../support/openpgp-engine.ts'
import { NOW_MS, alice } from '../../support/openpgp-people.ts'
import { signature } from '../../support/openpgp-signature.ts'
import { flipByte } from '../../support/openpgp-flips.ts'

const document = Buffer.from('hello')
const good = signature({ signer: alice.primary, over: document, atMs: NOW_MS })
const bad = flipByte(good, -1)
const { info } = await judgeFully(alice.certificate, NOW_MS)
if (info === null) throw new Error('not common')

const ask = (verifier: Verifier, ...signatures: Uint8Array[]) =>
  verifier.verify({ document, signatures }, info, NOW_MS)

/** The number of results before the next turn of the loop: those that were verified in place. */
async function here(asked: Promise<unknown>[]): Promise<number> {
  let count = 0
  for (const one of asked) void one.then(() => count++)
  for (let turn = 0; turn < 20; turn++) await Promise.resolve()
  return count
}

const RESULTS = Array.from({ length: 40 }, (_, index) => [index % 3 ? 'valid' : 'bad'])
const manyAt = (verifier: Verifier) =>
  RESULTS.map(([result]) => ask(verifier, result === 'valid' ? good : bad))

test('`help` of a `Verifier` that nothing else waits for verifies a waiting signature in each turn of the loop', async () => {
  let isBusy = true
  const verifier = new Verifier(() => isBusy)
  const several = manyAt(verifier)
  verifier.help()
  expect(await here(several)).toBe(0)
  isBusy = false
  verifier.help()
  expect(await here(several)).toBe(1)
  expect(await Promise.all(several)).toEqual(RESULTS)
})

test('`Verifier` verifies one signature synchronously in each turn of the loop, and all others asynchronously', async () => {
  const verifier = new Verifier(() => false)
  expect(await here([ask(verifier, good)])).toBe(1)
  const second = ask(verifier, good)
  expect(await here([second])).toBe(0)
  expect(await second).toEqual(['valid'])
  await immediate()
  const several = manyAt(verifier)
  expect(await here(several)).toBe(1)
  expect(await Promise.all(several)).toEqual(RESULTS)
  await immediate()
  expect(await here([ask(verifier, bad)])).toBe(1)
})
