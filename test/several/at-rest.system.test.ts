/** How often processes whose bots are at rest ask their database, counted on the wire. */
import { Client } from 'pg'
import { expect, test } from 'vitest'
import { freshSchema, hasPostgres, sharedCluster } from '../support/postgres.ts'
import { WireTap } from '../support/wire-tap.ts'
import { openBot } from '../updates/bot.ts'
import { startStage } from './support.ts'

const NAMES = Array.from({ length: 10 }, (_, n) => `b${n}`)
/** Of the process that waits, one each 750 ms: each bot is looked at meanwhile. */
const BEATS = 16
/** Both processes together: two questions a second each. */
const MOST_IN_BEAT = 3
/** The question of a beat of the process that waits for the turns of all bots. */
const isWait = (sql: string): boolean => sql.includes('unnest')

test.skipIf(!hasPostgres())(
  'two idle processes of ten bots send their database two queries a second and hold one lock each',
  async () => {
    const cluster = await sharedCluster()
    const database = freshSchema()
    cluster.sql(`CREATE DATABASE ${database}`)
    await using tap = await WireTap.start(cluster)
    const env = { POSTERN_STORE_URL: tap.urlOf(database) }
    await using one = await startStage({ bots: NAMES, env })
    await one.ready(...NAMES)
    const bot = await openBot()
    for (const name of NAMES) {
      const body = { url: bot.url }
      expect((await one.call(name, 'POST', '/webhook', { body })).status).toBe(200)
    }
    await using two = await startStage({ bots: [], env, beside: one })
    await two.ready(...NAMES)
    const beats = (from: number): number => tap.asked.slice(from).filter(isWait).length
    const untilBeats = (from: number, count: number): Promise<void> =>
      expect.poll(() => beats(from), { timeout: 120_000 }).toBeGreaterThan(count)
    // until what a start leads to is over
    await untilBeats(tap.asked.length, BEATS)
    const from = tap.asked.length
    await untilBeats(from, BEATS)
    const asked = tap.asked.slice(from)
    const counts = Object.entries(Object.groupBy(asked, (sql) => sql.trim().slice(0, 60)))
    const list = counts.map(([sql, all = []]) => `${all.length} ${sql}`).join('\n')
    expect(asked.length, list).toBeLessThanOrEqual(BEATS * MOST_IN_BEAT)
    // psql would block the loop of both processes
    const watcher = new Client({ host: cluster.folder, user: 'postern', database })
    await watcher.connect()
    const locks = `SELECT count(*)::int AS locks, count(DISTINCT pid)::int AS sessions FROM pg_locks
      WHERE locktype = 'advisory' AND database = (
        SELECT oid FROM pg_database WHERE datname = current_database())`
    const found = async () => (await watcher.query<object>(locks)).rows
    await expect.poll(found).toEqual([{ locks: 2, sessions: 2 }])
    await watcher.end()
  },
  300_000,
)
