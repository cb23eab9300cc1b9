/** Heads of the journal, verifications and forgotten people: at their times, and for the second time. */
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { Journal, type TrustChange } from '../../src/kernel/people/journal.ts'
import { hashUpTo } from '../../src/store/journal-chain.ts'
import { memoryOf } from '../../src/store/memory.ts'
import type { Store } from '../../src/store/store.ts'
import { Forgotten } from '../../src/trust/forgotten.ts'
import { headText, JournalHeads, readHeadText } from '../../src/trust/journal-heads.ts'
import { verifyJournal } from '../../src/trust/verify-journal.ts'
import { open, temporary } from '../store/support.ts'
import { passing } from '../support/fake-time.ts'
import { trusting } from '../kernel/people/trust-scene.ts'

const [MINUTE_MS, HOUR_MS] = [60_000, 3_600_000]
const blocked = (userId: number): TrustChange => ({ kind: 'blocked', userId, detail: {} })

/** Heads over a store with a journal; a key signs by repeating the text. */
async function scene() {
  vi.useFakeTimers({ toFake: ['setTimeout', 'setInterval', 'clearTimeout', 'clearInterval'] })
  onTestFinished(() => void vi.useRealTimers())
  const store = await open(temporary(), { protection: 'none' })
  const journal = new Journal(memoryOf(store))
  const clock = { nowMs: 1_000_000_000_000 }
  const signText = vi.fn(async (text: string) => `signed ${text}`)
  const purge = vi.fn(async () => {})
  const heads = new JournalHeads({
    store,
    keyring: { active: { unlocked: {} } } as never,
    engine: { signText },
    forgotten: { purge },
    nowMs: () => clock.nowMs,
  })
  onTestFinished(() => heads[Symbol.asyncDispose]())
  const stored = () =>
    store.read((db) => db.selectFrom('journal_heads').selectAll().orderBy('entry').execute())
  /** What waits for the disk has been written. */
  const settle = async () => {
    for (let n = 0; n < 30; n++) await new Promise(setImmediate)
  }
  const pass = async (ms: number) => {
    clock.nowMs += ms
    vi.advanceTimersByTime(ms)
    await settle()
  }
  return { store, journal, heads, signText, purge, stored, pass, clock, settle }
}

/** By kind of a change, whether a head is signed soon after it: not after findings. */
const SIGNED_SOON: Record<TrustChange['kind'], boolean> = {
  'key-changed': false,
  'key-taken': false,
  'authority-verified': false,
  'certification-revoked': false,
  'key-withdrawn': false,
  'certificate-shared': false,
  'key-revoked': false,
  'subkey-stripped': false,
  'recipients-changed': false,
  'list-contradicts': false,
  'list-shrank': false,
  'own-key-listed': false,
  stranger: false,
  'kind-tightened': false,
  'approval-asked': false,
  'approval-ignored': false,
  'client-refused': false,
  accepted: true,
  verified: true,
  'number-differs': true,
  blocked: true,
  'person-forgotten': true,
  policy: true,
  'kind-corrected': true,
  'latch-lifted': true,
  'private-readable': true,
  'person-bound': true,
  'outbox-readable': true,
  'approval-given': true,
  'approval-refused': true,
  'client-added': true,
  'client-rotated': true,
  'client-removed': true,
}

test.each(Object.entries(SIGNED_SOON))('a change `%s` is signed soon: %s', async (kind, isSoon) => {
  const { heads, journal, pass, signText } = await scene()
  await journal.record([blocked(1)])
  heads.noted({ kind } as TrustChange)
  await pass(1999)
  expect(signText).not.toHaveBeenCalled()
  await pass(1)
  expect(signText.mock.calls.length).toBe(isSoon ? 1 : 0)
})

test('decisions of two seconds are under one head, and the next decision under another', async () => {
  const { heads, journal, pass, stored } = await scene()
  for (const userId of [1, 2]) {
    await journal.record([blocked(userId)])
    heads.noted(blocked(userId))
    await pass(1000)
  }
  await pass(2000)
  expect((await stored()).map(({ entry }) => entry)).toEqual([2])
  await journal.record([blocked(3)])
  heads.noted(blocked(3))
  await pass(2000)
  expect((await stored()).map(({ entry }) => entry)).toEqual([2, 3])
})

test('a head is signed at a start, and again once it is a day old and entries have followed', async () => {
  const { heads, journal, pass, stored, purge, clock, settle } = await scene()
  await journal.record([blocked(1)])
  const startMs = clock.nowMs
  await heads.start()
  await settle()
  expect((await stored()).map(({ entry, at }) => [entry, at])).toEqual([[1, startMs]])
  await journal.record([blocked(2)])
  for (let hour = 1; hour < 24; hour++) await pass(HOUR_MS)
  expect([(await stored()).length, purge.mock.calls.length]).toEqual([1, 23])
  await pass(HOUR_MS)
  expect((await stored()).map(({ entry, at }) => [entry, at - startMs])).toEqual([
    [1, 0],
    [2, 24 * HOUR_MS],
  ])
})

test('a head that could not be signed is signed at the next occasion', async () => {
  const { heads, journal, pass, stored, signText } = await scene()
  await journal.record([blocked(1)])
  signText.mockRejectedValueOnce(new Error('the holder is away'))
  heads.noted(blocked(1))
  await pass(2000)
  expect(await stored()).toEqual([])
  heads.noted(blocked(1))
  await pass(2000)
  expect(await stored()).toHaveLength(1)
})

test('the end of a sidecar signs a head that waits, and waits for it', async () => {
  const { heads, journal, stored } = await scene()
  await journal.record([blocked(1)])
  heads.noted(blocked(1))
  await heads[Symbol.asyncDispose]()
  expect(await stored()).toMatchObject([
    { entry: 1, signed: expect.stringContaining('entry: 1') as string },
  ])
  expect(readHeadText(((await heads.last()) ?? '').slice('signed '.length))?.entry).toBe(1)
})

test('the text of a head is read as it was written, and no other text is', () => {
  const head = { entry: 7, hash: Buffer.alloc(32, 5), at: 1_000_000_000_123 }
  const text = headText(head)
  expect(readHeadText(text)).toEqual(head)
  for (const other of [`${text}\n`, text.replace('entry: 7', 'entry: 07'), text.slice(1), '']) {
    expect(readHeadText(other)).toBeNull()
  }
})

describe('verifications', () => {
  const parts = (store: Pick<Store, 'read'>) => ({
    store,
    keyring: { all: [] } as never,
    engine: { readSigned: async () => null, verify: async () => [] },
  })

  test('a verification is repeated once where entries changed between its reads', async () => {
    const { store, journal } = await scene()
    await journal.record([1, 2, 3].map(blocked))
    const change = (userId: number) =>
      store.write((db) =>
        db.updateTable('journal').set({ user_id: userId }).where('id', '=', 2).execute(),
      )
    await change(99)
    expect((await verifyJournal(parts(store), null)).fault).toMatchObject({ entry: 2 })
    let reads = 0
    const repaired: Pick<Store, 'read'> = {
      read: async (query) => {
        if (++reads === 3) await change(2)
        return await store.read(query)
      },
    }
    expect((await verifyJournal(parts(repaired), null)).fault).toBeNull()
    expect(reads).toBe(4)
  })

  test('a verification without a fault reads the journal once', async () => {
    const { store, journal } = await scene()
    await journal.record([1, 2].map(blocked))
    const hash = await store.read((db) => hashUpTo(db, 2))
    let reads = 0
    const counted: Pick<Store, 'read'> = {
      read: async (query) => {
        reads++
        return await store.read(query)
      },
    }
    const kept = { entry: 2, hash, at: 0 }
    const report = await verifyJournal(parts(counted), headText(kept))
    expect([report.fault, report.given, reads]).toEqual([null, 'compared', 2])
  })
})

test('ids of the forgotten are purged five minutes after the last of them, not before', async () => {
  const pass = passing()
  const { store: own, trust } = await trusting({
    store: await open(temporary(), { protection: 'none' }),
  })
  const note = vi.fn(async () => {})
  const rereads: ((db: never, keys: readonly string[]) => Promise<void>)[] = []
  const played: Partial<Store> = {
    isShared: true,
    note: note as never,
    follow: (_table, reread) => void rereads.push(reread as never),
  }
  const store = new Proxy(own, {
    get: (target, name) => {
      if (Object.hasOwn(played, name)) return Reflect.get(played, name) as unknown
      const value = Reflect.get(target, name, target) as unknown
      return typeof value === 'function' ? (value.bind(target) as unknown) : value
    },
  })
  await trust.decisions.block(77)
  const forgotten = await Forgotten.load(store)
  pass(10 * MINUTE_MS)
  await forgotten.purge()
  expect(note).not.toHaveBeenCalled()
  const memory = memoryOf(own)
  const journal = new Journal(memory)
  const { alias } = await forgotten.forget(77, { memory, journal })
  for (const isAgain of [false, true]) {
    // another sidecar forgets somebody
    if (isAgain) await own.read((db) => rereads[0]?.(db as never, [alias]) ?? Promise.resolve())
    note.mockClear()
    pass(4.9 * MINUTE_MS)
    await forgotten.purge()
    expect(note).not.toHaveBeenCalled()
    pass(0.2 * MINUTE_MS)
    await forgotten.purge()
    expect(note).toHaveBeenCalledTimes(1)
  }
})
