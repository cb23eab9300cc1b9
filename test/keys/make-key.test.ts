import { SYSTEM_TIME } from '../../src/util/clock.ts'
import { expect, test, vi } from 'vitest'
import { makeKey } from '../../src/keys/make-key.ts'
import type { Engine } from '../../src/openpgp/engine.ts'
import { certificateOf, engineDouble, lockedUnder, unlockedOf } from './engine-double.ts'
import { printOf } from '../kernel/people/people-scene.ts'

const PRINT = printOf('key1')
const LOCKING = { userId: 'mybot', passphrase: 'secret', certifiedBy: unlockedOf('before') }
const OPTIONS = { ...LOCKING, createdAtMs: 1_000_000_000 }

test('a key is made for the bot, dated five minutes back, certified by the one before it', async () => {
  const engine = engineDouble()
  const generate = vi.spyOn(engine, 'generate')
  const made = await makeKey(engine, SYSTEM_TIME, OPTIONS)
  expect(generate.mock.calls).toEqual([
    [{ ...LOCKING, isRandom: true, createdMs: 1_000_000_000 - 300_000 }],
  ])
  await makeKey(engine, SYSTEM_TIME, { ...OPTIONS, algorithm: 'pqc' })
  expect(generate.mock.lastCall?.[0].algorithm).toBe('pqc')
  expect(made).toEqual({
    made: {
      fingerprint: PRINT,
      createdAtMs: 1_000_000_000,
      certificate: certificateOf(PRINT),
      locked: lockedUnder(PRINT, 'secret'),
    },
    unlocked: unlockedOf(PRINT),
  })
})

test('it is tried with what its locked block gives back, and with its own certificate', async () => {
  const engine = engineDouble()
  const [seal, open, verify] = [
    vi.spyOn(engine, 'seal'),
    vi.spyOn(engine, 'open'),
    vi.spyOn(engine, 'verify'),
  ]
  await makeKey(engine, SYSTEM_TIME, OPTIONS)
  const text = seal.mock.calls[0]?.[0].text ?? ''
  expect(text).not.toBe('')
  expect(seal.mock.calls).toEqual([
    [{ text, certificates: [certificateOf(PRINT)], signer: unlockedOf(PRINT), cipher: 'aes256' }],
  ])
  expect(open.mock.calls).toEqual([[`sealed ${text}`, [unlockedOf(PRINT)]]])
  expect(verify.mock.calls[0]?.[1]).toBe(certificateOf(PRINT))
})

test.each<[string, Partial<Engine>]>([
  ['does not open what was sealed to it', { open: async () => ({ outcome: 'not-recipient' }) }],
  [
    'opens something else',
    { open: async () => ({ outcome: 'opened', text: 'other', signed: {} }) as never },
  ],
  ['signs badly', { verify: async () => ['bad'] }],
  ['does not sign', { verify: async () => [] }],
  ['signs twice', { verify: async () => ['valid', 'valid'] }],
  ['is another one than its locked block', { unlock: async () => unlockedOf('other') }],
])('a key that %s is of no use', async (_, over) => {
  await expect(makeKey(engineDouble(over), SYSTEM_TIME, OPTIONS)).rejects.toThrow('does not open')
})
