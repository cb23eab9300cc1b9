import { SYSTEM_TIME } from '../../../src/util/clock.ts'
import { createHmac } from 'node:crypto'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { useFakeTime } from '../../support/fake-time.ts'
import { SEEN_FOR_MS, ReplayMemory } from '../../../src/kernel/opening/replay-memory.ts'
import { FIXED_LIMITS } from '../../../src/api/limits.ts'
import { RETENTION_MS } from '../../../src/kernel/opening/seen-rules.ts'
import type { Recognition, Sighting } from '../../../src/kernel/opening/seen-rules.ts'
import { OvertakenError } from '../../../src/errors.ts'
import type { SeenRecord } from '../../../src/kernel/index.ts'
import { SeenRows } from '../../../src/store/records/seen.ts'
import { Clocks } from '../../../src/kernel/clocks.ts'
import { open, put, temporary, testOfFile } from '../../store/support.ts'
import { agreeingClocks } from '../../support/judging-clock.ts'
import { memoryOf } from '../../../src/store/memory.ts'
import { loadReplayMemory } from '../../../src/wiring/stores.ts'

const DAY_MS = 86_400_000
const MADE_MS = Date.UTC(2026, 0, 1)

useFakeTime({ toFake: ['Date'], now: MADE_MS })

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

async function load(
  clocks: Pick<Clocks, keyof ReturnType<typeof agreeingClocks>> = agreeingClocks(),
) {
  const store = await open(temporary(), { protection: 'none' })
  const again = (): Promise<ReplayMemory> => loadReplayMemory(store, memoryOf(store), clocks)
  return { store, again, memory: await again() }
}

/** A memory whose service has another time than we. @param aheadMs null: the service sends none */
async function skewed(aheadMs: number | null) {
  const service = { aheadMs }
  const serviceMs = () => (service.aheadMs === null ? null : Date.now() + service.aheadMs)
  return { service, ...(await load(new Clocks(SYSTEM_TIME, serviceMs))) }
}

const claimsOf = ({ signatureDigest }: Sighting): string[] =>
  signatureDigest === null ? [] : [signatureDigest]

/** Asks of one thing, and remembers it as delivered unless it is a replay. */
async function take(memory: ReplayMemory, sighting: Sighting): Promise<Recognition> {
  return await memory.batch(async (check) => {
    const as = await check.recognize(sighting, claimsOf(sighting))
    if (as === 'new' || as === 'again') await check.remember(sighting, as)
    return as
  })
}

test('the same update is recognised as delivered, and the same data elsewhere as a replay', async () => {
  const { memory } = await load()
  for (const one of [signed, unsigned]) {
    expect(await take(memory, one)).toBe('new')
    expect(await take(memory, one)).toBe('again')
    for (const other of [
      { chatId: 2 },
      { userId: 6 },
      { userId: null },
      { messageId: 101 },
      { updateId: 11 },
    ]) {
      expect(await take(memory, { ...one, ...other })).toBe('replayed')
    }
    expect(await take(memory, { ...one, mediaId: 'file' })).toBe('words')
    expect(await take(memory, { ...one, updateId: null })).toBe('again')
  }
})

test('quoted data accepts the first message id and the first update id that follow', async () => {
  const { memory } = await load()
  const quoted = { ...signed, updateId: null, messageId: null }
  expect(await take(memory, quoted)).toBe('new')
  expect(await take(memory, signed)).toBe('again')
  expect(await take(memory, { ...signed, updateId: 11 })).toBe('replayed')
  expect(await take(memory, { ...signed, updateId: null, messageId: 101 })).toBe('replayed')
  expect(await take(memory, quoted)).toBe('replayed')
})

describe.each([
  ['announced', (all: readonly Sighting[]) => all],
  ['not announced', () => []],
])('within one batch that was %s', (_, metOf) => {
  const judge = async (memory: ReplayMemory, all: readonly Sighting[]): Promise<Recognition[]> => {
    const met = metOf(all).map((one) => {
      return { ...one, signatures: claimsOf(one).map((digest) => ({ digest })) }
    })
    return await memory.batch(async (check) => {
      const answers: Recognition[] = []
      for (const one of all) {
        const as = await check.recognize(one, claimsOf(one))
        if (as === 'new' || as === 'again') await check.remember(one, as)
        answers.push(as)
      }
      return answers
    }, met)
  }

  test('data is recognised within a batch before it is written (batch %s)', async () => {
    const { memory } = await load()
    const elsewhere = { ...signed, updateId: 11, messageId: 101 }
    expect(await judge(memory, [signed, signed, elsewhere])).toEqual(['new', 'again', 'replayed'])
    expect(await judge(memory, [elsewhere, signed])).toEqual(['replayed', 'again'])
  })

  test('a signature repeats on other data twice, and is then a replay (batch %s)', async () => {
    const { memory } = await load()
    const all = [0, 1, 2, 3].map((n) => {
      return { ...signed, dataDigest: `${n}`, updateId: 10 + n, messageId: 100 + n }
    })
    expect(await judge(memory, all)).toEqual(['new', 'new', 'new', 'replayed'])
    expect(await judge(memory, all)).toEqual(['again', 'again', 'again', 'replayed'])
  })

  test('a batch of 600 messages is remembered (batch %s)', async () => {
    const { memory } = await load()
    const all = Array.from({ length: 600 }, (_one, n) => {
      return { ...signed, dataDigest: `${n}`, signatureDigest: `s${n}`, updateId: n, messageId: n }
    })
    expect(new Set(await judge(memory, all))).toEqual(new Set(['new']))
    expect(new Set(await judge(memory, all))).toEqual(new Set(['again']))
  })
})

// a database's store judges again by itself
testOfFile.each([
  ['numbered as another', (bound: SeenRecord) => ({ ...bound, messageId: 999 })],
  ['gone', () => undefined],
])('data that is %s when its ids are stored is not delivered', async (_how, change) => {
  const { memory } = await load()
  await take(memory, { ...signed, updateId: null, messageId: null })
  const changed = vi.spyOn(SeenRows.prototype, 'bind')
  changed.mockImplementationOnce(async function (this: SeenRows, ...given) {
    // the second call is the real one
    return change((await this.bind(...given)) as SeenRecord)
  })
  onTestFinished(() => changed.mockRestore())
  await expect(take(memory, signed)).rejects.toThrow(OvertakenError)
  expect(await take(memory, signed)).toBe('again')
})

test('a signature is accepted on other data twice, dated within a minute of the first', async () => {
  const { memory } = await load()
  const anew = (n: number, dateMs: number | null): Sighting => ({
    ...signed,
    updateId: 20 + n,
    messageId: 200 + n,
    dataDigest: `anew ${n}`,
    dateMs,
  })
  expect(await take(memory, signed)).toBe('new')
  expect(await take(memory, anew(1, MADE_MS + 60_001))).toBe('replayed')
  expect(await take(memory, anew(2, null))).toBe('replayed')
  expect(await take(memory, anew(3, MADE_MS - 60_000))).toBe('new')
  expect(await take(memory, anew(3, MADE_MS - 60_000))).toBe('again')
  expect(await take(memory, anew(4, MADE_MS + 60_000))).toBe('new')
  expect(await take(memory, anew(5, MADE_MS))).toBe('replayed')
  expect(await take(memory, { ...anew(6, MADE_MS), userId: 6 })).toBe('replayed')
})

test('a signature is accepted on other data within a minute of its first sighting', async () => {
  for (const [laterMs, recognized] of [
    [60_000, 'new'],
    [60_001, 'replayed'],
    [-60_001, 'replayed'],
  ] as const) {
    vi.setSystemTime(MADE_MS)
    const { again, memory } = await load()
    expect(await take(memory, signed)).toBe('new')
    vi.setSystemTime(MADE_MS + laterMs)
    const anew = { ...signed, updateId: 11, messageId: 101, dataDigest: 'anew' }
    expect(await take(await again(), anew)).toBe(recognized)
  }
})

test('a signature is accepted on two other files at any time', async () => {
  const { memory } = await load()
  const file = (n: number): Sighting => {
    const unnumbered = { updateId: null, messageId: null, dateMs: null }
    return { ...signed, ...unnumbered, mediaId: `file ${n}`, dataDigest: `file ${n}` }
  }
  const recognized = []
  for (let n = 0; n < 4; n++) recognized.push(await take(memory, file(n)))
  expect(recognized).toEqual(['new', 'new', 'new', 'replayed'])
})

test('signed data is forgotten only after its signatures count as replayed', async () => {
  expect(SEEN_FOR_MS).toBe(30 * DAY_MS)
  const { memory } = await load()
  await take(memory, signed)
  const aheadMs = MADE_MS + 300_000
  vi.setSystemTime(aheadMs + SEEN_FOR_MS)
  expect(memory.reaches(aheadMs)).toBe(true)
  await memory.prune(MADE_MS)
  expect(await take(memory, { ...signed, updateId: 11 })).toBe('replayed')
  vi.setSystemTime(aheadMs + SEEN_FOR_MS + 2 * DAY_MS)
  await memory.prune(MADE_MS)
  expect(memory.reaches(aheadMs)).toBe(false)
  expect(await take(memory, { ...signed, updateId: 12 })).toBe('new')
})

test('unsigned data is remembered as long as a key that opens it', async () => {
  const { memory } = await load()
  await take(memory, unsigned)
  vi.setSystemTime(MADE_MS + 400 * DAY_MS)
  for (const keysSinceMs of [null, MADE_MS - 1, MADE_MS]) {
    await memory.prune(keysSinceMs)
    expect(await take(memory, { ...unsigned, updateId: 11 })).toBe('replayed')
  }
  await memory.prune(MADE_MS + DAY_MS)
  expect(await take(memory, { ...unsigned, updateId: 12 })).toBe('new')
})

test('data below the confirmed offset is recognised as confirmed, and its quotation is not', async () => {
  for (const one of [signed, unsigned]) {
    const { again, memory } = await load()
    expect(await take(memory, one)).toBe('new')
    await memory.confirmed.record(10)
    expect(await take(memory, one)).toBe('again')
    await memory.confirmed.record(11)
    await memory.confirmed.record(3)
    for (const loaded of [memory, await again()]) {
      expect(await take(loaded, one)).toBe('confirmed')
      expect(await take(loaded, { ...one, updateId: null })).toBe('again')
      expect(await take(loaded, { ...one, updateId: 9 })).toBe('replayed')
    }
  }
})

test('quoted data does not become an update below the confirmed offset', async () => {
  const { memory } = await load()
  expect(await take(memory, { ...signed, updateId: null })).toBe('new')
  await memory.confirmed.record(11)
  expect(await take(memory, signed)).toBe('confirmed')
})

test('new data below the confirmed offset is delivered until it is confirmed, and reported once', async () => {
  const { again, memory } = await load()
  const events = vi.fn()
  memory.onIdsWentBack(events)
  await memory.confirmed.record(Number.MAX_SAFE_INTEGER)
  const other = { ...unsigned, updateId: 12, messageId: 102 }
  for (const one of [signed, other]) expect(await take(memory, one)).toBe('new')
  for (const loaded of [memory, await again()]) {
    for (const one of [signed, other]) expect(await take(loaded, one)).toBe('again')
  }
  expect(events.mock.calls).toEqual([[{ updateId: 10 }]])
  await memory.confirmed.record(11)
  expect([await take(memory, signed), await take(memory, other)]).toEqual(['confirmed', 'again'])
  await memory.confirmed.record(13)
  expect(await take(memory, other)).toBe('confirmed')
})

test('quoted data becomes an update within four days, and a replay after five', async () => {
  const { memory } = await load()
  expect(await take(memory, { ...unsigned, updateId: null })).toBe('new')
  vi.setSystemTime(MADE_MS + 4 * DAY_MS)
  expect(await take(memory, unsigned)).toBe('again')
  const { memory: late } = await load()
  const quoted = { ...unsigned, updateId: null }
  expect(await take(late, quoted)).toBe('new')
  vi.setSystemTime(MADE_MS + 9 * DAY_MS)
  expect(await take(late, unsigned)).toBe('replayed')
  expect(await take(late, quoted)).toBe('again')
  expect(RETENTION_MS).toBe(FIXED_LIMITS.retentionMs)
})

test('a signature belongs to one chat, one sender and one kind of data', async () => {
  for (const other of [{ chatId: 2 }, { userId: 6 }, { mediaId: 'file' }]) {
    const { memory } = await load()
    expect(await take(memory, signed)).toBe('new')
    const anew = { ...signed, updateId: 11, messageId: 101, dataDigest: 'other' }
    expect(await take(memory, { ...anew, ...other })).toBe('replayed')
    expect(await take(memory, anew)).toBe('new')
  }
})

test('known data with the signature of another place is a replay', async () => {
  const { memory } = await load()
  const elsewhere = { ...signed, chatId: 2, dataDigest: 'other', signatureDigest: 'of others' }
  await take(memory, signed)
  await take(memory, elsewhere)
  const claiming = (...claims: string[]) => memory.batch((check) => check.recognize(signed, claims))
  expect(await claiming('signature')).toBe('again')
  expect(await claiming('signature', 'of others')).toBe('replayed')
})

test('a file is recognised under its own media id alone', async () => {
  const { memory } = await load()
  const unnumbered = { updateId: null, messageId: null, dateMs: null }
  for (const one of [signed, unsigned]) {
    const file = { ...one, ...unnumbered, mediaId: 'file', dataDigest: `file of ${one.dataDigest}` }
    expect(await take(memory, { ...file, signatureDigest: null })).toBe('new')
    expect(await take(memory, file)).toBe('again')
    expect(await take(memory, { ...file, mediaId: 'other' })).toBe('replayed')
  }
})

test('a signature is not accepted on other data without a date', async () => {
  for (const dates of [
    [0, null],
    [null, 0],
    [null, null],
  ]) {
    const { memory } = await load()
    const [first = null, second = null] = dates
    expect(await take(memory, { ...signed, dateMs: first })).toBe('new')
    const anew = { updateId: 11, messageId: 101, dataDigest: 'other', dateMs: second }
    expect(await take(memory, { ...signed, ...anew })).toBe('replayed')
  }
})

test('a signature dated in a gap of the memory is out of reach', async () => {
  const { store, again } = await load()
  const gaps = [
    { fromMs: MADE_MS - 50, toMs: MADE_MS - 40 },
    { fromMs: MADE_MS - 20, toMs: MADE_MS - 10 },
  ]
  await put(store, 'memory_gaps', JSON.stringify(gaps))
  const memory = await again()
  const ages = [51, 50, 40, 39, 21, 20, 10, 9]
  expect(ages.filter((age) => memory.reaches(MADE_MS - age))).toEqual([51, 39, 21, 9])
})

test('the store has keyed digests of data and signatures, and unsigned data once', async () => {
  const { store, memory } = await load()
  await take(memory, signed)
  await take(memory, unsigned)
  const secret = await store.secret('seen')
  const hashed = (of: string) => createHmac('sha256', secret).update(of).digest('hex')
  const rows = await store.read((db) => db.selectFrom('seen').select('digest').execute())
  expect(rows.map(({ digest }) => Buffer.from(digest).toString('hex')).toSorted()).toEqual(
    ['data:data', 'signature:signature', 'data:unsigned'].map(hashed).toSorted(),
  )
})

test('a wrong time of the service brings no deleted data back into reach', async () => {
  const { memory, again, service } = await skewed(0)
  await take(memory, signed)
  vi.setSystemTime(MADE_MS + SEEN_FOR_MS + 2 * DAY_MS)
  service.aheadMs = -10 * DAY_MS
  expect(memory.reaches(MADE_MS + DAY_MS)).toBe(true)
  service.aheadMs = 0
  await memory.prune(null)
  service.aheadMs = -10 * DAY_MS
  for (const one of [memory, await again()]) {
    expect(one.reaches(MADE_MS)).toBe(false)
    expect(one.reaches(MADE_MS + 2 * DAY_MS - 1)).toBe(false)
    expect(one.reaches(MADE_MS + 2 * DAY_MS)).toBe(true)
  }
})

test('the replay memory deletes nothing while the clocks disagree, or the service sends no date', async () => {
  for (const aheadMs of [-DAY_MS, DAY_MS, null]) {
    const { memory } = await skewed(aheadMs)
    await take(memory, signed)
    vi.setSystemTime(MADE_MS + 400 * DAY_MS)
    await memory.prune(null)
    expect(await take(memory, { ...signed, chatId: 2 })).toBe('replayed')
    vi.setSystemTime(MADE_MS)
  }
})

test('a sighting while our clock is wrong is dated by the service’s time', async () => {
  const { memory, service } = await skewed(400 * DAY_MS)
  await take(memory, signed)
  vi.setSystemTime(MADE_MS + 400 * DAY_MS)
  service.aheadMs = 0
  await memory.prune(null)
  expect(await take(memory, { ...signed, chatId: 2 })).toBe('replayed')
})

test('a signature first recorded by the service’s time alone is not accepted on other data', async () => {
  const { memory, service } = await skewed(600_000)
  await take(memory, signed)
  vi.setSystemTime(MADE_MS + 600_000)
  service.aheadMs = 0
  const sealedAnew = { ...signed, messageId: 101, updateId: 11, dataDigest: 'sealed anew' }
  expect(await take(memory, sealedAnew)).toBe('replayed')
})
