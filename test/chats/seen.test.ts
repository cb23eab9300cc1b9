import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { SEEN_FOR_MS, Seen, type Recognition, type Sighting } from '../../src/chats/seen.ts'
import type { Store } from '../../src/store/store.ts'
import { open, temporary } from '../store/support.ts'

const DAY_MS = 86_400_000
const MADE_MS = Date.UTC(2026, 0, 1)

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['Date'], now: MADE_MS })
})
afterEach(() => {
  vi.useRealTimers()
})

const signed: Sighting = {
  chatId: 1,
  updateId: 10,
  messageId: 100,
  userId: 5,
  dateMs: MADE_MS,
  dataDigest: 'data',
  signatureDigest: 'signature',
}
const unsigned: Sighting = { ...signed, dataDigest: 'unsigned', signatureDigest: null }

async function memory(): Promise<{ store: Store; seen: Seen }> {
  const store = await open(temporary(), { protection: 'none' })
  return { store, seen: await Seen.load(store) }
}

const claimsOf = ({ signatureDigest }: Sighting): string[] =>
  signatureDigest === null ? [] : [signatureDigest]

/** Asks of one thing, and remembers it as delivered unless it is a replay. */
async function take(seen: Seen, sighting: Sighting): Promise<Recognition> {
  return await seen.batch(async (check) => {
    const as = await check.recognize(sighting, claimsOf(sighting))
    if (as !== 'replayed') await check.remember(sighting, as)
    return as
  })
}

test('the same update is itself again; any other place, sender, message or update is a replay', async () => {
  const { seen } = await memory()
  for (const one of [signed, unsigned]) {
    expect(await take(seen, one)).toBe('new')
    expect(await take(seen, one)).toBe('again')
    for (const other of [
      { chatId: 2 },
      { userId: 6 },
      { userId: null },
      { messageId: 101 },
      { updateId: 11 },
      { mediaId: 'file' },
    ]) {
      expect(await take(seen, { ...one, ...other })).toBe('replayed')
    }
    expect(await take(seen, { ...one, updateId: null })).toBe('again')
  }
})

test('what came first as a quotation takes the first message and the first update that bring it', async () => {
  const { seen } = await memory()
  const quoted = { ...signed, updateId: null, messageId: null }
  expect(await take(seen, quoted)).toBe('new')
  expect(await take(seen, signed)).toBe('again')
  expect(await take(seen, { ...signed, updateId: 11 })).toBe('replayed')
  expect(await take(seen, { ...signed, updateId: null, messageId: 101 })).toBe('replayed')
  expect(await take(seen, quoted)).toBe('replayed')
})

test('what only was asked about is not remembered', async () => {
  const { seen } = await memory()
  for (const updateId of [10, 11]) {
    const asked = { ...signed, updateId }
    expect(await seen.batch((check) => check.recognize(asked, ['signature']))).toBe('new')
  }
})

test('a signature stands on other data twice more, dated within a minute of the first', async () => {
  const { seen } = await memory()
  const anew = (n: number, dateMs: number | null): Sighting => ({
    ...signed,
    updateId: 20 + n,
    messageId: 200 + n,
    dataDigest: `anew ${n}`,
    dateMs,
  })
  expect(await take(seen, signed)).toBe('new')
  expect(await take(seen, anew(1, MADE_MS + 60_001))).toBe('replayed')
  expect(await take(seen, anew(2, null))).toBe('replayed')
  expect(await take(seen, anew(3, MADE_MS - 60_000))).toBe('new')
  expect(await take(seen, anew(3, MADE_MS - 60_000))).toBe('again')
  expect(await take(seen, anew(4, MADE_MS + 60_000))).toBe('new')
  expect(await take(seen, anew(5, MADE_MS))).toBe('replayed')
  expect(await take(seen, { ...anew(6, MADE_MS), userId: 6 })).toBe('replayed')
})

test('a file with the same signature is told twice more, whenever it is asked for', async () => {
  const { seen } = await memory()
  const file = (n: number): Sighting => {
    const unnumbered = { updateId: null, messageId: null, dateMs: null }
    return { ...signed, ...unnumbered, mediaId: `file ${n}`, dataDigest: `file ${n}` }
  }
  const said = []
  for (let n = 0; n < 4; n++) said.push(await take(seen, file(n)))
  expect(said).toEqual(['new', 'new', 'new', 'replayed'])
})

test('what was signed is forgotten after its signatures count as replayed, and not before', async () => {
  const { seen } = await memory()
  await take(seen, signed)
  const aheadMs = MADE_MS + 300_000
  vi.setSystemTime(aheadMs + SEEN_FOR_MS)
  expect(seen.reaches(aheadMs)).toBe(true)
  await seen.prune(MADE_MS)
  expect(await take(seen, { ...signed, updateId: 11 })).toBe('replayed')
  vi.setSystemTime(aheadMs + SEEN_FOR_MS + 2 * DAY_MS)
  await seen.prune(MADE_MS)
  expect(seen.reaches(aheadMs)).toBe(false)
  expect(await take(seen, { ...signed, updateId: 12 })).toBe('new')
})

test('unsigned data is remembered as long as a key that opens it', async () => {
  const { seen } = await memory()
  await take(seen, unsigned)
  vi.setSystemTime(MADE_MS + 400 * DAY_MS)
  for (const keysSinceMs of [null, MADE_MS - 1, MADE_MS]) {
    await seen.prune(keysSinceMs)
    expect(await take(seen, { ...unsigned, updateId: 11 })).toBe('replayed')
  }
  await seen.prune(MADE_MS + DAY_MS)
  expect(await take(seen, { ...unsigned, updateId: 12 })).toBe('new')
})

test('what was seen without an update becomes no update’s that no honest queue can still hold', async () => {
  const { seen } = await memory()
  const quoted = { ...unsigned, updateId: null }
  expect(await take(seen, quoted)).toBe('new')
  vi.setSystemTime(MADE_MS + 5 * DAY_MS)
  expect(await take(seen, unsigned)).toBe('replayed')
  expect(await take(seen, quoted)).toBe('again')
})
