/** Heads of the journal: at their times, and for the second time. */
import { expect, onTestFinished, test, vi } from 'vitest'
import { Journal, type TrustChange } from '../../src/kernel/people/journal.ts'
import { memoryOf } from '../../src/store/memory.ts'
import { createJournalHeads } from '../../src/keys/journal-heads.ts'
import { open, temporary } from '../store/support.ts'

const [HOUR_MS, START_MS] = [3_600_000, 1_000_000_000_000]
const blocked = (userId: number): TrustChange => ({ kind: 'blocked', userId, detail: {} })

/** Heads over a store with a journal; a key signs by repeating the text. */
async function scene() {
  vi.useFakeTimers({ toFake: ['setTimeout', 'setInterval', 'clearTimeout', 'clearInterval'] })
  onTestFinished(() => void vi.useRealTimers())
  const store = await open(temporary(), { protection: 'none' })
  const journal = new Journal(memoryOf(store))
  let nowMs = START_MS
  const signText = vi.fn(async (text: string) => `signed ${text}`)
  const purge = vi.fn(async () => {})
  const keyring = { active: { unlocked: {} } } as never
  const parts = { store, keyring, engine: { signText }, forgotten: { purge } }
  const heads = createJournalHeads({ ...parts, nowMs: () => nowMs })
  onTestFinished(() => heads[Symbol.asyncDispose]())
  const stored = async () => {
    const rows = store.read((db) => db.selectFrom('journal_heads').selectAll().execute())
    return (await rows).map(({ entry, at }) => `${entry} after ${(at - START_MS) / HOUR_MS} h`)
  }
  const pass = async (ms: number) => {
    nowMs += ms
    vi.advanceTimersByTime(ms)
    for (let n = 0; n < 30; n++) await new Promise(setImmediate)
  }
  const decide = async (userId: number) => {
    await journal.record([blocked(userId)])
    heads.noted(blocked(userId))
  }
  return { journal, heads, signText, purge, stored, pass, decide }
}

const FINDINGS = `key-changed key-taken authority-verified certification-revoked key-withdrawn
  certificate-shared key-revoked subkey-stripped recipients-changed list-contradicts list-shrank
  own-key-listed stranger kind-tightened approval-asked approval-ignored client-call-refused
  client-refused`
const DECISIONS = `accepted verified number-differs blocked person-forgotten policy kind-corrected
  latch-lifted private-readable person-bound outbox-readable approval-given approval-refused
  client-added client-rotated client-removed client-suspended client-confirmed`

test('a decision is signed two seconds later, and a finding is not', async () => {
  const { heads, journal, pass, signText } = await scene()
  await journal.record([blocked(1)])
  for (const kind of FINDINGS.split(/\s+/)) heads.noted({ kind } as TrustChange)
  await pass(2000)
  expect(signText).not.toHaveBeenCalled()
  for (const kind of DECISIONS.split(/\s+/)) {
    signText.mockClear()
    await journal.record([blocked(1)])
    heads.noted({ kind } as TrustChange)
    await pass(1999)
    expect([kind, signText.mock.calls.length]).toEqual([kind, 0])
    await pass(1)
    expect([kind, signText.mock.calls.length]).toEqual([kind, 1])
  }
})

test('a head is signed at a start, and again once it is a day old and entries have followed', async () => {
  const { heads, journal, pass, stored, purge } = await scene()
  await journal.record([blocked(1)])
  heads.start()
  await pass(0)
  await journal.record([blocked(2)])
  for (let hour = 1; hour < 24; hour++) await pass(HOUR_MS)
  expect([await stored(), purge.mock.calls.length]).toEqual([['1 after 0 h'], 23])
  await pass(HOUR_MS)
  expect(await stored()).toEqual(['1 after 0 h', '2 after 24 h'])
})

test('a head that could not be signed is signed at the next occasion, or at the end', async () => {
  const { heads, pass, stored, signText, decide } = await scene()
  signText.mockRejectedValueOnce(new Error('the holder is away'))
  for (const signed of [0, 1]) {
    await decide(1)
    await pass(2000)
    expect(await stored()).toHaveLength(signed)
  }
  await decide(2)
  await heads[Symbol.asyncDispose]()
  expect([(await stored()).length, await heads.last()]).toEqual([
    2,
    expect.stringContaining('entry: 3'),
  ])
})
