import { expect, test, vi } from 'vitest'
import { useFakeTime } from '../support/fake-time.ts'
import type { Keyring, KeyringOptions } from '../../src/keys/keyring.ts'
import { isExpired, isReady } from '../../src/kernel/own-key/own-key.ts'
import type { Engine } from '../../src/openpgp/engine.ts'
import { flags, open, temporary } from '../store/support.ts'
import { certificateOf, engineDouble, lockedUnder, unlockedOf } from './engine-double.ts'
import { printOf, statusOf } from '../kernel/people/people-scene.ts'
import { refused } from '../support/refused.ts'
import { loadKeyring } from './support.ts'

const START_MS = 1_000_000_000
const DAY_MS = 86_400_000

useFakeTime({ now: START_MS, toFake: ['Date'] })

const [FIRST, SECOND, THIRD] = ['key1', 'key2', 'key3'].map(printOf) as [string, string, string]

/** A keyring of an empty store. */
async function scene(o: { options?: Partial<KeyringOptions>; engine?: Partial<Engine> } = {}) {
  const store = await open(temporary(), { protection: 'none' })
  const engine = engineDouble(o.engine)
  const load = (over: Partial<Engine> = {}) => loadKeyring(store, { ...engine, ...over }, o.options)
  const ring = await load()
  /** Makes a key and publishes it. */
  const rotate = async () => {
    const { fingerprint } = await ring.makePending('mybot')
    vi.advanceTimersByTime(1000)
    await ring.markOffered(fingerprint, Date.now())
    await ring.promote(fingerprint)
    return fingerprint
  }
  const rows = () => store.read((db) => db.selectFrom('own_keys').selectAll().execute())
  return { store, ring, load, rotate, rows }
}

const prints = (ring: Keyring): string[] => ring.unlocked.map(({ fingerprint }) => fingerprint)

test('`makePending` gives a pending key, the same on disk as in memory', async () => {
  const { ring, load, store } = await scene()
  expect([ring.active, ring.pending, ring.firstPublishedAtMs]).toEqual([undefined, undefined, null])
  const made = await ring.makePending('mybot')
  expect(made).toEqual({
    fingerprint: FIRST,
    fingerprints: [FIRST, `subkey of ${FIRST}`],
    state: 'pending',
    createdAtMs: START_MS,
    offeredAtMs: null,
    publishedAtMs: null,
    retiredAtMs: null,
    destroyedAtMs: null,
    certificate: certificateOf(FIRST),
    endsMs: Infinity,
    unlocked: unlockedOf(FIRST),
  })
  expect(ring.pending).toBe(made)
  expect([made, undefined, { ...made, unlocked: null }].map(isReady)).toEqual([true, false, false])
  expect((await load()).pending).toEqual(made)
  expect(store.masterSecret).not.toBeNull()
})

test('the newest key is listed first, and tried first for opening', async () => {
  const { ring, load, rotate } = await scene()
  for (let turn = 0; turn < 2; turn++) await rotate()
  vi.advanceTimersByTime(1000)
  await ring.makePending('mybot')
  for (const one of [ring, await load()]) {
    expect(one.all.map(({ fingerprint }) => fingerprint)).toEqual([THIRD, SECOND, FIRST])
    expect(prints(one)).toEqual([THIRD, SECOND, FIRST])
    expect(one.all.map(({ state }) => state)).toEqual(['pending', 'active', 'retired'])
  }
})

test('the states of a key are on disk: offered, published, retired, and published again', async () => {
  const { ring, load, rotate, store } = await scene()
  await rotate()
  await rotate()
  const [first, second] = [START_MS + 1000, START_MS + 2000]
  const states = {
    [SECOND]: { state: 'active', offeredAtMs: second, publishedAtMs: second, retiredAtMs: null },
    [FIRST]: { state: 'retired', offeredAtMs: first, publishedAtMs: first, retiredAtMs: second },
  }
  for (const one of [ring, await load()]) {
    for (const [print, state] of Object.entries(states))
      expect(one.find(print)).toMatchObject(state)
    expect(one.firstPublishedAtMs).toBe(first)
  }
  expect(await flags(store)).toEqual({ first_published_at: `${first}` })
  vi.advanceTimersByTime(1000)
  await ring.promote(SECOND)
  await ring.promote(FIRST)
  for (const one of [ring, await load()]) {
    expect(one.active).toMatchObject({ fingerprint: SECOND, retiredAtMs: null })
    expect(one.find(FIRST)).toMatchObject({ state: 'retired', retiredAtMs: second })
    expect(one.firstPublishedAtMs).toBe(first)
  }
})

test('`Keyring.find` ignores letter case, and `fingerprints` contains subkeys', async () => {
  const { ring, rotate } = await scene()
  await rotate()
  expect(ring.find(FIRST.toUpperCase())).toBe(ring.active)
  expect(ring.find(SECOND)).toBeUndefined()
  const before = ring.fingerprints
  expect([...before]).toEqual([FIRST, `subkey of ${FIRST}`])
  expect(ring.fingerprints).toBe(before)
  await rotate()
  expect(ring.fingerprints.has(`subkey of ${SECOND}`)).toBe(true)
})

test('a key opens without end while in use, for `retainMs` after retirement, and never once destroyed', async () => {
  const { ring, load, rotate } = await scene()
  await rotate()
  await rotate()
  await ring.makePending('mybot')
  const until = (one: Keyring) => one.all.map((key) => one.opensUntilMs(key))
  expect(until(ring)).toEqual([Infinity, Infinity, START_MS + 2000 + DAY_MS])
  vi.setSystemTime(START_MS + 2000 + DAY_MS - 1)
  expect(prints(ring)).toContain(FIRST)
  vi.setSystemTime(START_MS + 2000 + DAY_MS)
  expect(prints(ring)).not.toContain(FIRST)
  await ring.destroy(FIRST)
  expect(until(ring)).toEqual([Infinity, Infinity, 0])
  expect(until(await load())).toEqual([Infinity, Infinity, 0])
})

test('a destroyed key keeps its certificate, and its secret leaves memory and disk', async () => {
  const { ring, load, rotate, rows, store } = await scene()
  expect(ring.oldestMs).toBeNull()
  const scrub = vi.spyOn(store, 'scrub')
  await rotate()
  await rotate()
  const { unlocked, createdAtMs } = ring.find(FIRST)!
  expect(ring.oldestMs).toBe(createdAtMs)
  vi.advanceTimersByTime(5)
  await ring.destroy(FIRST)
  expect(ring.oldestMs).toBe(ring.find(SECOND)?.createdAtMs)
  expect(unlocked?.bytes).toEqual(Uint8Array.of(0, 0, 0))
  expect(scrub).toHaveBeenCalledTimes(1)
  expect((await rows()).find(({ fingerprint }) => fingerprint === FIRST)?.locked).toBe('')
  for (const one of [ring, await load()]) {
    expect(one.find(FIRST)).toMatchObject({
      state: 'destroyed',
      destroyedAtMs: START_MS + 2005,
      certificate: certificateOf(FIRST),
      fingerprints: [FIRST, `subkey of ${FIRST}`],
      unlocked: null,
    })
    expect(one.opens(one.find(FIRST)!)).toBe(false)
  }
})

test('an active key and a pending one are not destroyed', async () => {
  const { ring, rotate, rows } = await scene()
  await rotate()
  const { fingerprint } = await ring.makePending('mybot')
  for (const print of [FIRST, fingerprint]) {
    await expect(ring.destroy(print)).rejects.toThrow('not one that can be destroyed')
  }
  expect(ring.active?.unlocked.bytes).toEqual(Uint8Array.of(1, 2, 3))
  const states = (await rows()).map(({ state }) => state).toSorted()
  expect(states).toEqual(['active', 'pending'])
})

test('a discarded pending key leaves no row, and an active key cannot be discarded', async () => {
  const { ring, rotate, rows, store } = await scene()
  await rotate()
  const { fingerprint } = await ring.makePending('mybot')
  const scrub = vi.spyOn(store, 'scrub')
  await expect(ring.discard(FIRST)).rejects.toThrow('not one that can be discarded')
  expect(scrub).not.toHaveBeenCalled()
  await ring.discard(fingerprint)
  expect(scrub).toHaveBeenCalledTimes(1)
  expect(ring.all.map((key) => key.fingerprint)).toEqual([FIRST])
  expect(await rows()).toHaveLength(1)
})

test('a key that was made while the store changed its protection is made again', async () => {
  const { store, load } = await scene()
  let turns = 0
  const engine = engineDouble()
  const ring = await load({
    generate: async (o) => {
      const wanted = { method: 'none' } as const
      if (turns++ === 0) await store.move(wanted, async (locked) => locked)
      return await engine.generate(o)
    },
  })
  const made = await ring.makePending('mybot')
  expect([turns, made.fingerprint]).toEqual([2, SECOND])
  const [row, ...more] = await store.read((db) => db.selectFrom('own_keys').selectAll().execute())
  expect([row?.locked, more]).toEqual([lockedUnder(SECOND, store.masterSecret ?? ''), []])
})

test('`makePending` is refused in a store without a passphrase to lock the key under', async () => {
  const store = await open(temporary())
  const ring = await loadKeyring(store, engineDouble())
  await expect(ring.makePending('mybot')).rejects.toMatchObject({
    code: 'store-locked',
    message: 'there is nothing to lock a new key under',
    hint: expect.stringContaining('POSTERN_KEY_PASSPHRASE_FILE'),
  })
})

test('a second pending key is refused by the fingerprint of the first, and not stored', async () => {
  const { ring, rows } = await scene()
  await ring.makePending('mybot')
  await expect(ring.makePending('mybot')).rejects.toMatchObject({
    code: 'refused',
    message: `another key waits for its publication: ${FIRST}`,
    hint: expect.stringContaining('postern key publish'),
  })
  expect([ring.all.length, (await rows()).length]).toEqual([1, 1])
})

test.each<[string, Partial<Engine>]>([
  ['the locked key is another key', { unlock: async () => unlockedOf(SECOND) }],
  [
    'the certificate is another key’s',
    { judge: async () => statusOf('', { fingerprint: SECOND }) },
  ],
])('a stored key is refused as corrupt where %s', async (_, over) => {
  const { rotate, load } = await scene()
  await rotate()
  await expect(load(over)).rejects.toThrow(
    refused('store-corrupt', `what it keeps as ${FIRST} is another key`, {
      hint: /^nothing was changed;.*`postern backup restore`/,
    }),
  )
})

test('a stored key loads although its certificate can no longer be parsed', async () => {
  const { rotate, load } = await scene()
  await rotate()
  const judge = async () => statusOf('', { fingerprint: null, unusable: 'unparseable' as const })
  expect((await load({ judge })).active?.fingerprint).toBe(FIRST)
})

test('a stored key that its passphrase does not unlock is refused as `store-locked`', async () => {
  const { rotate, load } = await scene()
  await rotate()
  const failing = new Error('wrong-passphrase')
  await expect(load({ unlock: () => Promise.reject(failing) })).rejects.toThrow(
    refused('store-locked', 'does not open with this passphrase', {
      cause: failing,
      hint: 'nothing was changed',
    }),
  )
})

test('a key ends when its certificate expires, and at once where that is past', async () => {
  const { rotate, load } = await scene()
  await rotate()
  const ending = await load({
    judge: async () => statusOf('', { fingerprint: FIRST, expiresMs: Date.now() + 1 }),
  })
  expect(isExpired(ending.active!, Date.now())).toBe(false)
  vi.advanceTimersByTime(1)
  expect(isExpired(ending.active!, Date.now())).toBe(true)
  const over = await load({
    judge: async () =>
      statusOf('', { fingerprint: FIRST, expiresMs: Infinity, unusable: 'expired' }),
  })
  expect(over.active?.endsMs).toBe(0)
})
