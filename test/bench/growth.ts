/**
 * What grows with what: a send, an update and a start against the members of a chat, the chats and
 * people known, retained keys, the memory against replays, and all bounds of a store at once. Sizes are
 * made by SQL in a store in which a sidecar has run.
 */
import { kyselyOf } from '../../src/store/dialect.ts'
import { inspect } from '../../src/store/inspect.ts'
import { connectExclusive } from '../../src/store/sqlite.ts'
import { SeenRows } from '../../src/store/records/seen.ts'
import { BOUNDS, databaseIn, fill, KEPT_MS, type Fill } from './growth-fill.ts'
import { rowOf, type GrowthRules } from './growth-rows.ts'
import { read, Stage, type Costs, type GrowthBot, type Measurement } from './growth-stage.ts'
import { median, resultOf, timeOf, type Result } from './measure.ts'
import type { Process } from './processes.ts'

const CALLS = 40
const MEMBERS = [1, 10, 100, 997]
const KNOWN = [10, 10_000, 250_000]
const KEYS = [1, 5, 20]
const SEEN = [1000, 100_000, 1_000_000]
/** With `BENCH_GROWTH_LARGE`. */
const LARGE = 10_000_000
const PERCENT = [1, 10, 100]
/** Rows of `seen` in a store at its bounds, which time alone bounds. */
const SEEN_AT_BOUNDS = 1_000_000
/** Of 30 messages a second for 30 days. */
const SEEN_AT_LIMIT = 77_760_000
/** Readable words of before the key. */
const OLD_WORDS = 5
const HOUR_MS = 3_600_000
const HOURS = 24

interface Dimension {
  job: string
  against: string
  sizes: readonly number[]
  measure: (stage: Stage, size: number) => Promise<Costs>
  rules?: GrowthRules
}

/** Runs the dimensions that are wanted. A row that grows faster than linearly is marked. */
export async function growthJobs(wanted: (job: string) => boolean): Promise<Result[]> {
  await using stage = await Stage.open()
  const bot = await stage.addBot(1)
  const results: Result[] = []
  for (const dimension of dimensionsOf(bot)) {
    if (!wanted(dimension.job)) continue
    const measured: Costs[] = []
    for (const size of dimension.sizes) measured.push(await dimension.measure(stage, size))
    const { job, against, sizes, rules = {} } = dimension
    for (const cost of Object.keys(measured[0] ?? {})) {
      const costs = measured.map((one) => one[cost] ?? Number.NaN)
      const growth = rowOf(against, cost, { ...rules, sizes, costs })
      results.push(resultOf(job, 0, {}, { growth }))
    }
  }
  return results
}

function dimensionsOf(bot: GrowthBot): Dimension[] {
  const isLarge = process.env['BENCH_GROWTH_LARGE'] !== undefined
  const filled = (rowsOf: (size: number) => Fill) => (stage: Stage, size: number) =>
    measureFilled(stage, bot, rowsOf(size))
  return [
    {
      job: 'growth-members',
      against: 'members of the chat',
      sizes: MEMBERS,
      measure: async (stage, size) => {
        const chatId = await stage.addGroup(bot, size)
        return await stage.measure(bot, { dataDir: stage.copyOf(bot), chatId, calls: CALLS })
      },
    },
    {
      job: 'growth-chats',
      against: 'chats known',
      sizes: KNOWN,
      measure: filled((chats) => ({ chats })),
    },
    {
      job: 'growth-people',
      against: 'people known',
      sizes: KNOWN,
      measure: filled((people) => ({ people })),
    },
    { job: 'growth-keys', against: 'keys that open', sizes: KEYS, measure: measureKeys },
    {
      job: 'growth-seen',
      against: 'rows of `seen`',
      sizes: isLarge ? [...SEEN, LARGE] : SEEN,
      measure: (stage, seen) => measureSeen(stage, bot, seen),
      rules: { constant: ['start, CPU', 'check of the file', 'memory'], to: SEEN_AT_LIMIT },
    },
    {
      job: 'growth-bounds',
      against: 'percent of all bounds',
      sizes: PERCENT,
      measure: (stage, percent) => {
        const share = percent / 100
        const rows = {
          chats: BOUNDS.chats * share,
          people: BOUNDS.people * share,
          seen: SEEN_AT_BOUNDS * share,
          others: share,
        }
        return measureFilled(stage, bot, rows, (dataDir) => (postern) => {
          return stage.backup(postern, bot, dataDir)
        })
      },
    },
  ]
}

/** A send and an update of the private chat, on a store with more rows. */
async function measureFilled(
  stage: Stage,
  bot: GrowthBot,
  rows: Fill,
  more?: (dataDir: string) => NonNullable<Measurement['more']>,
): Promise<Costs> {
  const dataDir = stage.copyOf(bot)
  fill(dataDir, rows)
  const o = { dataDir, chatId: bot.privateChat, calls: CALLS }
  const costs = await stage.measure(bot, more === undefined ? o : { ...o, more: more(dataDir) })
  stage.remove(dataDir)
  return costs
}

/** In a group of 100: no message names its key, so that each may have to be tried on each. */
async function measureKeys(stage: Stage, keys: number): Promise<Costs> {
  // as many bots as sizes: the service has one key for each
  const bot = await stage.addBot(keys)
  const chatId = await stage.addGroup(bot, 100)
  return await stage.measure(bot, { dataDir: bot.dataDir, chatId, calls: CALLS })
}

async function measureSeen(stage: Stage, bot: GrowthBot, seen: number): Promise<Costs> {
  const dataDir = stage.copyOf(bot)
  fill(dataDir, { seen, isKeyNew: true })
  const bob = stage.sandbox.home.bob.id
  const chat = await stage.sandbox.control.addPrivateChat({ userId: bob, botId: bot.id })
  const more = async (postern: Process): Promise<Costs> => ({
    'readable update of before the key, ms': await oldWords(stage, {
      postern,
      bot,
      chatId: chat.id,
    }),
    ...(await stage.backup(postern, bot, dataDir)),
  })
  const o = { dataDir, chatId: bot.privateChat, calls: CALLS, more }
  const measured = await stage.measure(bot, o)
  // the part of a start that reads the file before it is opened
  const checkMs = await timeOf(async () => inspect(dataDir))
  const costs = { ...measured, 'check of the file at a start, ms': checkMs }
  const pruned = await prune(dataDir)
  stage.remove(dataDir)
  return { ...costs, ...pruned }
}

/** Words that somebody without a key wrote, as if before the bot had one. @returns median ms to read them */
async function oldWords(
  { sandbox }: Stage,
  { postern, bot, chatId }: { postern: Process; bot: GrowthBot; chatId: number },
): Promise<number> {
  const times: number[] = []
  for (let n = 0; n < OLD_WORDS; n++) {
    await sandbox.control.post({ userId: sandbox.home.bob.id, chatId, text: `before ${n}` })
    times.push(await read(postern, bot))
  }
  return median(times)
}

/**
 * What the hourly removal does to a memory of 31 days, in a store that no sidecar has open: the longest
 * slice of each hour, as the mean of a day, which has its share of SQLite's checkpoints.
 */
async function prune(dataDir: string): Promise<Costs> {
  const db = kyselyOf(connectExclusive(databaseIn(dataDir)))
  let [longest, whole] = [0, 0]
  for (let hour = 1; hour <= HOURS; hour++) {
    const signedMs = Date.now() - KEPT_MS + hour * HOUR_MS
    const slices: number[] = []
    const range = { fromMs: 0, signedMs, allMs: 0 }
    while (range.fromMs < signedMs) {
      const startedAt = performance.now()
      const { nextMs } = await db
        .transaction()
        .execute((transaction) => new SeenRows(transaction).forgetSome(range))
      slices.push(performance.now() - startedAt)
      range.fromMs = nextMs
    }
    longest += Math.max(...slices) / HOURS
    whole += slices.reduce((sum, ms) => sum + ms) / HOURS
  }
  await db.destroy()
  return { 'hourly removal, ms': whole, 'longest slice of it, ms': longest }
}
