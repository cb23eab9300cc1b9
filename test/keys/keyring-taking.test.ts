import { describe, expect, test, vi } from 'vitest'
import { useFakeTime } from '../support/fake-time.ts'
import { type Keyring, MAX_OPENING } from '../../src/keys/keyring.ts'
import type { Engine, OwnKey } from '../../src/openpgp/engine.ts'
import type { Store } from '../../src/store/store.ts'
import { open, temporary } from '../store/support.ts'
import { certificateOf, engineDouble, lockedUnder, unlockedOf } from './engine-double.ts'
import { printOf } from '../kernel/people/people-scene.ts'
import { loadKeyring } from './support.ts'

const START_MS = 1_000_000_000

useFakeTime({ now: START_MS, toFake: ['Date'] })

const [FIRST, TAKEN] = ['key1', 'taken'].map(printOf) as [string, string]

const newStore = (): Promise<Store> => open(temporary(), { protection: 'none' })
const load = (store: Store, over: Partial<Engine> = {}): Promise<Keyring> =>
  loadKeyring(store, engineDouble(over))

describe('a key from elsewhere', () => {
  test('waits like one of ours, and is on disk, locked under the store’s master secret', async () => {
    const store = await newStore()
    const ring = await load(store)
    await ring.promote((await ring.makePending('mybot')).fingerprint)
    vi.advanceTimersByTime(5)
    const adopt = vi.fn(async ({ passphrase }: { passphrase: string }): Promise<OwnKey> => ({
      fingerprint: TAKEN,
      certificate: certificateOf(TAKEN),
      locked: lockedUnder(TAKEN, passphrase),
    }))
    const taken = await ring.takePending(adopt)
    expect(adopt.mock.calls).toEqual([
      [{ passphrase: store.masterSecret, certifiedBy: unlockedOf(FIRST) }],
    ])
    expect(taken).toMatchObject({
      fingerprint: TAKEN,
      fingerprints: [TAKEN, `subkey of ${TAKEN}`],
      state: 'pending',
      createdAtMs: START_MS + 5,
      certificate: certificateOf(TAKEN),
      unlocked: unlockedOf(TAKEN),
    })
    expect(ring.pending).toBe(taken)
    expect((await load(store)).pending).toEqual(taken)
  })

  test('that is refused, or does not open, is not kept', async () => {
    const store = await newStore()
    const ring = await load(store)
    const refused = new Error('refused')
    await expect(ring.takePending(() => Promise.reject(refused))).rejects.toBe(refused)
    const adopt = async () => ({
      fingerprint: TAKEN,
      certificate: certificateOf(TAKEN),
      locked: lockedUnder(TAKEN, 'another passphrase'),
    })
    await expect(ring.takePending(adopt)).rejects.toThrow('wrong-passphrase')
    expect([ring.all, (await load(store)).all]).toEqual([[], []])
  })
})

test('an old key that is not unlocked opens nothing, and can be destroyed', async () => {
  const store = await newStore()
  const { masterSecret } = store
  const prints = Array.from({ length: MAX_OPENING + 1 }, (_, n) => printOf(`old${n}`))
  await store.write((db) =>
    db
      .insertInto('own_keys')
      .values(
        prints.map((fingerprint, n) => ({
          fingerprint,
          state: 'retired' as const,
          created_at: START_MS - n,
          retired_at: START_MS,
          certificate: certificateOf(fingerprint),
          locked: lockedUnder(fingerprint, masterSecret ?? ''),
        })),
      )
      .execute(),
  )
  const ring = await load(store)
  const oldest = ring.find(prints.at(-1) ?? '')!
  expect(oldest).toMatchObject({ unlocked: null, state: 'retired' })
  expect(ring.opens(oldest)).toBe(false)
  expect(ring.unlocked).toHaveLength(MAX_OPENING)
  await ring.destroy(oldest.fingerprint)
  expect(ring.find(oldest.fingerprint)).toMatchObject({ state: 'destroyed' })
})
