import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from 'vitest'
import { Outcomes, type MessageOutcome, type SendOutcome } from '../../src/store/outcomes.ts'
import { openStore } from '../../src/store/open-store.ts'
import type { Store } from '../../src/store/store.ts'
import { testOfFile } from './support.ts'

const home = mkdtempSync(join(tmpdir(), 'postern-outcomes-'))
let store: Store
beforeAll(async () => {
  store = await openStore({ dataDir: join(home, 'data'), passphrase: 'x', mode: 'create' })
})
afterAll(async () => {
  await store[Symbol.asyncDispose]()
  rmSync(home, { recursive: true, force: true })
})

function outcome(updateId: number, messageId: number, verdict = 'verified'): MessageOutcome {
  return {
    updateId,
    atMs: Date.now(),
    tookMs: null,
    chatId: 1,
    messageId,
    userId: 2,
    verdict,
    reason: null,
    delivered: verdict === 'verified',
    openedWith: null,
    signer: null,
  }
}

async function written(received: MessageOutcome[][]): Promise<Outcomes> {
  {
    await using outcomes = new Outcomes(store)
    for (const some of received) outcomes.received(some)
  }
  return new Outcomes(store)
}

test('the outcome of an update that is delivered again replaces the earlier one', async () => {
  const first = [outcome(1, 10, 'mode-unknown'), outcome(1, 11)]
  const again = [outcome(1, 10), outcome(1, 11)]
  const outcomes = await written([first, [outcome(2, 20)], again])
  expect(await outcomes.ofUpdate(1)).toEqual(again)
  expect(await (await written([first])).ofUpdate(1)).toEqual(first)
})

testOfFile(
  'outcomes of thousands of messages are written in parts, and other writes run in between',
  async () => {
    const many = Array.from({ length: 4000 }, (_, n) => outcome(100 + Math.floor(n / 40), n))
    const writing = written([many])
    await new Promise((resolve) => setImmediate(resolve))
    const rows = await store.write((db) =>
      db.selectFrom('outcomes').select('update_id').where('update_id', '>=', 100).execute(),
    )
    expect(rows.length).toBeGreaterThan(0)
    expect(rows.length).toBeLessThan(many.length)
    const outcomes = await writing
    for (const updateId of [100, 150, 199]) {
      expect(await outcomes.ofUpdate(updateId)).toEqual(
        many.filter((one) => one.updateId === updateId),
      )
    }
  },
)

const sentTo = (messageId: number, more: Partial<SendOutcome> = {}): SendOutcome => ({
  messageId,
  atMs: Date.now(),
  chatId: 1,
  recipients: 2,
  skipped: [{ userId: 3, reason: 'expired' }],
  ...more,
})

test('the recipients of a message are known at once and after a restart', async () => {
  const sent = sentTo(7)
  {
    await using outcomes = new Outcomes(store)
    outcomes.sent(sent)
    outcomes.sent(sentTo(8, { recipients: 5 }))
    expect(await outcomes.ofMessage(7)).toBe(sent)
    expect(await outcomes.ofMessage(9)).toBeNull()
    expect(await outcomes.ofUpdate(7)).toEqual([])
  }
  const later = new Outcomes(store)
  expect(await later.ofMessage(7)).toEqual(sent)
  expect((await later.ofMessage(8))?.recipients).toBe(5)
  expect(await later.ofMessage(9)).toBeNull()
})

test('every field of an outcome except its duration is stored', async () => {
  const full: MessageOutcome = {
    updateId: 5000,
    atMs: Date.now(),
    tookMs: 3,
    chatId: -7,
    messageId: null,
    userId: null,
    verdict: 'replayed',
    reason: 'other-chat',
    delivered: false,
    openedWith: 'a'.repeat(40),
    signer: 'b'.repeat(40),
  }
  const outcomes = await written([[full]])
  expect(await outcomes.ofUpdate(5000)).toEqual([{ ...full, tookMs: null }])
})

testOfFile('outcomes are known at once and written after a short delay', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  onTestFinished(() => void vi.useRealTimers())
  const outcomes = new Outcomes(store)
  outcomes.received([])
  expect(vi.getTimerCount()).toBe(0)
  const some = [outcome(6000, 1), outcome(6001, 2)]
  outcomes.received(some)
  expect(vi.getTimerCount()).toBe(1)
  outcomes.sent(sentTo(70))
  expect(vi.getTimerCount(), 'both are written in one go').toBe(1)
  expect(await outcomes.ofUpdate(6001)).toEqual([some[1]])
  vi.advanceTimersByTime(2000)
  await vi.waitFor(async () => {
    expect(await new Outcomes(store).ofUpdate(6000)).toEqual([some[0]])
    expect(await new Outcomes(store).ofMessage(70)).not.toBeNull()
  })
  outcomes.sent(sentTo(71))
  expect(vi.getTimerCount(), 'the next is written by a timer of its own').toBe(1)
  await outcomes[Symbol.asyncDispose]()
  expect(vi.getTimerCount()).toBe(0)
  expect(await new Outcomes(store).ofMessage(71)).not.toBeNull()
})

test('an outcome older than ten days is deleted with the next write', async () => {
  const old = { ...outcome(7000, 1), atMs: Date.now() - 10 * 86_400_000 - 60_000 }
  const kept = { ...outcome(7001, 2), atMs: Date.now() - 10 * 86_400_000 + 60_000 }
  {
    await using outcomes = new Outcomes(store)
    outcomes.received([old, kept])
    outcomes.sent(sentTo(80, { atMs: old.atMs }))
    outcomes.sent(sentTo(81, { atMs: kept.atMs }))
  }
  const later = new Outcomes(store)
  expect([await later.ofUpdate(7000), await later.ofUpdate(7001)]).toEqual([[], [kept]])
  expect(await later.ofMessage(80)).toBeNull()
  expect(await later.ofMessage(81)).toMatchObject({ messageId: 81 })
})

/** A store that holds nothing yet. */
async function emptyStore(): Promise<Store> {
  const dataDir = mkdtempSync(join(home, 'empty-'))
  const empty = await openStore({ dataDir: join(dataDir, 'data'), passphrase: 'x', mode: 'create' })
  onTestFinished(() => empty[Symbol.asyncDispose]())
  return empty
}

const countOf = async (rows: Promise<unknown[]>[]): Promise<number[]> =>
  (await Promise.all(rows)).map(({ length }) => length)

test('outcomes that wait are written up to the limit only, and the latest are still known', async () => {
  const empty = await emptyStore()
  await using outcomes = new Outcomes(empty, 3)
  for (let n = 0; n < 5; n++) outcomes.received([outcome(1, 10)])
  for (const updateId of [2, 3, 4]) outcomes.received([outcome(updateId, 10)])
  for (const messageId of [1, 2, 3, 4]) outcomes.sent(sentTo(messageId))
  expect(await outcomes.ofUpdate(4), 'it can be explained all the same').toHaveLength(1)
  await outcomes[Symbol.asyncDispose]()
  const later = new Outcomes(empty)
  const updates = [1, 2, 3, 4].map((updateId) => later.ofUpdate(updateId))
  expect(await countOf(updates)).toEqual([1, 1, 1, 0])
  expect(await later.ofMessage(3)).toMatchObject({ messageId: 3 })
  expect(await later.ofMessage(4)).toBeNull()
  outcomes.received([outcome(5, 10)])
  await outcomes[Symbol.asyncDispose]()
  expect(await countOf([later.ofUpdate(5)])).toEqual([1])
})

test('the oldest stored outcomes are deleted above the limit', async () => {
  const empty = await emptyStore()
  const agoMs = (n: number): number => Date.now() - (10 - n) * 60_000
  for (let n = 1; n <= 6; n++) {
    await using outcomes = new Outcomes(empty, 3)
    outcomes.received([{ ...outcome(n, 10), atMs: agoMs(n) }])
    outcomes.sent(sentTo(n, { atMs: agoMs(n) }))
  }
  const later = new Outcomes(empty)
  const all = [1, 2, 3, 4, 5, 6]
  expect(await countOf(all.map((updateId) => later.ofUpdate(updateId)))).toEqual([0, 0, 1, 1, 1, 1])
  const sent = await Promise.all(all.map((messageId) => later.ofMessage(messageId)))
  expect(sent.map((one) => one !== null)).toEqual([false, false, true, true, true, true])
})

test('outcomes of the last 5,000 updates stay in memory on a full disk', async () => {
  const empty = await emptyStore()
  const note = vi.spyOn(empty, 'note').mockRejectedValue(new Error('full'))
  await using outcomes = new Outcomes(empty)
  for (let n = 0; n <= 5000; n++) outcomes.received([outcome(n, 10)])
  await outcomes[Symbol.asyncDispose]()
  expect(note).toHaveBeenCalled()
  expect(await countOf([0, 1, 5000].map((updateId) => outcomes.ofUpdate(updateId)))).toEqual([
    0, 1, 1,
  ])
})

test('withheld messages are counted by chat and reason, up to a limit', async () => {
  await using outcomes = new Outcomes(store)
  const nowMs = Date.now()
  const at = (agoMs: number, more: Partial<MessageOutcome>): MessageOutcome => ({
    ...outcome(9000 + agoMs, 1, 'damaged'),
    chatId: 77,
    atMs: nowMs + 1000 - agoMs,
    ...more,
  })
  outcomes.received([at(1, {}), at(5, {}), at(3, { reason: 'armor' }), at(2, { delivered: true })])
  const found = await outcomes.withheld(2)
  const seen = { chatId: 77, verdict: 'damaged' }
  const between = (first: number, last: number) => ({
    firstAtMs: nowMs + first,
    lastAtMs: nowMs + last,
  })
  expect(found).toEqual([
    { ...seen, ...between(995, 999), reason: null, count: 2, lastUpdateId: 9005 },
    { ...seen, ...between(997, 997), reason: 'armor', count: 1, lastUpdateId: 9003 },
  ])
  expect(await outcomes.withheld(1)).toEqual(found.slice(0, 1))
})
