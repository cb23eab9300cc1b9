/** Two processes that serve the same bots over one PostgreSQL: one delivers for a bot. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client } from 'pg'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { turnsOf } from '../../src/store/postgres/schema.ts'
import { freshSchema, hasPostgres, sharedCluster, type Cluster } from '../support/postgres.ts'
import { startSidecarProcess, untilReady, type SidecarProcess } from '../support/sidecar-process.ts'
import { openBot } from '../updates/bot.ts'
import { startStage, type Stage } from './support.ts'

const DATABASE = freshSchema()
const NAMES = ['one', 'two', 'three', 'four']
/** Two processes and the tests of a busy machine may need it. */
const WAIT = { timeout: 120_000, interval: 200 }
let cluster: Cluster
/** Asks without blocking the loop, which the sidecar of the stage shares: its session would be lost. */
let watcher: Client
let stage: Stage
const chats = new Map<string, number>()

beforeAll(async () => {
  if (!hasPostgres()) return
  cluster = await sharedCluster()
  cluster.sql(`CREATE DATABASE ${DATABASE}`)
  watcher = new Client({ host: cluster.folder, user: 'postern', database: DATABASE })
  await watcher.connect()
  watcher = new Client({ host: cluster.folder, user: 'postern', database: DATABASE })
  await watcher.connect()
  const env = { POSTERN_STORE_URL: cluster.urlOf('postern', DATABASE) }
  stage = await startStage({ bots: NAMES, env })
  await stage.ready(...NAMES)
  for (const name of NAMES) chats.set(name, await stage.chatOf(name))
}, 180_000)

afterAll(async () => {
  await watcher?.end()
  await stage?.[Symbol.asyncDispose]()
})

/** The number of bots of each process that delivers. */
async function shares(): Promise<number[]> {
  const tables = NAMES.map((name) => `SELECT process FROM ${turnsOf(`postern_${name}`)}`)
  const { rows } = await watcher.query<{ count: number }>(
    `SELECT count(*)::int FROM pg_locks JOIN (${tables.join(' UNION ALL ')}) AS turn
     ON (classid::bigint << 32 | objid::bigint) = process
     WHERE locktype = 'advisory' GROUP BY pid`,
  )
  return rows.map(({ count }) => count)
}

/** A second process with the same settings, in a folder of its own. */
async function startReplica(): Promise<SidecarProcess> {
  const cwd = mkdtempSync(join(tmpdir(), 'deliveries-'))
  const { env } = stage.sources
  const settings = Object.entries(env).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, value] as const],
  )
  const replica = await startSidecarProcess({
    cwd,
    env: { ...Object.fromEntries(settings), POSTERN_DATA_DIR: join(cwd, 'data') },
  })
  onTestFinished(async () => {
    await replica[Symbol.asyncDispose]()
    rmSync(cwd, { recursive: true, force: true })
  })
  await untilReady(replica.admin)
  return replica
}

test.skipIf(!hasPostgres())(
  'two processes share the webhooks of four bots, and either delivers all once the other stops or is killed',
  async () => {
    const bot = await openBot()
    for (const name of NAMES) {
      const body = { url: `http://127.0.0.1:${bot.port}/${name}` }
      expect((await stage.call(name, 'POST', '/webhook', { body })).status).toBe(200)
    }
    const { alice } = stage.sandbox.home
    const say = async (text: string): Promise<void> => {
      for (const chatId of chats.values()) {
        await stage.sandbox.control.write({ userId: alice.id, chatId, text })
      }
    }
    /** The bots that were given a text, once for each delivery. */
    const receivers = (text: string): string[] =>
      bot.deliveries.flatMap(({ path }, n) => (bot.words[n] === text ? [path.slice(1)] : []))
    const expectByAll = (text: string): Promise<void> =>
      expect.poll(() => receivers(text).toSorted(), WAIT).toEqual(NAMES.toSorted())

    await expect.poll(shares, WAIT).toEqual([4])
    const replica = await startReplica()
    await say('meanwhile')
    await expect.poll(shares, WAIT).toEqual([2, 2])
    await say('together')
    await expectByAll('together')
    // the delivery under way may come twice when a turn goes to the other process
    expect([...new Set(receivers('meanwhile'))].toSorted()).toEqual(NAMES.toSorted())

    await stage.stop()
    await expect.poll(shares, WAIT).toEqual([4])
    await say('after a stop')
    await expectByAll('after a stop')

    await stage.start()
    await stage.ready(...NAMES)
    await expect.poll(shares, WAIT).toEqual([2, 2])
    await replica.stop('SIGKILL')
    await say('after a kill')
    await expectByAll('after a kill')
  },
  300_000,
)
