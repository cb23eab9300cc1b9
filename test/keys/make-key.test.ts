import { SYSTEM_TIME } from '../../src/util/clock.ts'
import { expect, test, vi } from 'vitest'
import { makeKey } from '../../src/keys/make-key.ts'
import type { Engine } from '../../src/openpgp/engine.ts'
import { engineDouble, unlockedOf } from './engine-double.ts'

const LOCKING = { userId: 'mybot', passphrase: 'secret', certifiedBy: unlockedOf('before') }
const OPTIONS = { ...LOCKING, createdAtMs: 1_000_000_000 }

test('a new key is dated five minutes back, certified by the former key, and of the chosen algorithm', async () => {
  const engine = engineDouble()
  const generate = vi.spyOn(engine, 'generate')
  await makeKey(engine, SYSTEM_TIME, OPTIONS)
  expect(generate.mock.calls).toEqual([
    [{ ...LOCKING, isRandom: true, createdMs: 1_000_000_000 - 300_000 }],
  ])
  await makeKey(engine, SYSTEM_TIME, { ...OPTIONS, algorithm: 'pqc' })
  expect(generate.mock.lastCall?.[0].algorithm).toBe('pqc')
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
])('a new key that %s is rejected', async (_, over) => {
  await expect(makeKey(engineDouble(over), SYSTEM_TIME, OPTIONS)).rejects.toThrow('does not open')
})
