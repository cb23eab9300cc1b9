import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from 'vitest'
import { Outcomes, type MessageOutcome, type SendOutcome } from '../../src/chats/outcomes.ts'
import { openStore } from '../../src/store/open-store.ts'
import type { Store } from '../../src/store/store.ts'

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

test('an update that is delivered again is remembered once, as it was the last time', async () => {
  const first = [outcome(1, 10, 'mode-unknown'), outcome(1, 11)]
  const again = [outcome(1, 10), outcome(1, 11)]
  const outcomes = await written([first, [outcome(2, 20)], again])
  expect(await outcomes.ofUpdate(1)).toEqual(again)
  expect(await (await written([first])).ofUpdate(1)).toEqual(first)
})

test('what became of thousands is written, and other writes come in between', async () => {
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
})

const sentTo = (messageId: number, more: Partial<SendOutcome> = {}): SendOutcome => ({
  messageId,
  atMs: Date.now(),
  chatId: 1,
  recipients: 2,
  skipped: [{ userId: 3, reason: 'expired' }],
  ...more,
})

test('to whom a message was sealed can be explained at once, and after it was written', async () => {
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

test('everything that is known of a Message is written', async () => {
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

test('what was received is explained at once, and written a little later by itself', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  onTestFinished(() => void vi.useRealTimers())
  const outcomes = new Outcomes(store)
  outcomes.received([])
  expect(vi.getTimerCount()).toBe(0)
  const some = [outcome(6000, 1), outcome(6001, 2)]
  outcomes.received(some)
  outcomes.sent(sentTo(70))
  expect(vi.getTimerCount()).toBe(1)
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

test('nothing is written when nothing happened', async () => {
  const note = vi.spyOn(store, 'note')
  onTestFinished(() => note.mockRestore())
  await new Outcomes(store)[Symbol.asyncDispose]()
  expect(note).not.toHaveBeenCalled()
})

test('what is older than ten days is forgotten with the next that is written', async () => {
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
  expect([await later.ofMessage(80), await later.ofMessage(81)]).toEqual([
    null,
    expect.objectContaining({ messageId: 81 }),
  ])
})

test('a store that cannot be written costs no more than an explanation', async () => {
  const note = vi.spyOn(store, 'note').mockRejectedValue(new Error('full'))
  onTestFinished(() => note.mockRestore())
  await using outcomes = new Outcomes(store)
  outcomes.sent(sentTo(90))
  await outcomes[Symbol.asyncDispose]()
  expect((await outcomes.ofMessage(90))?.messageId).toBe(90)
})
