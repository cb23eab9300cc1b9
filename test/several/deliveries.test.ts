/** Two processes that serve the same bots over one PostgreSQL: one delivers for a bot. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { turnsOf } from '../../src/replicas/schema.ts'
import { freshSchema, hasPostgres, sharedCluster, type Cluster } from '../support/postgres.ts'
import { startSidecarProcess, untilReady, type SidecarProcess } from '../support/sidecar-process.ts'
import { openBot } from '../updates/bot.ts'
import { startStage, type Stage } from './support.ts'

const DATABASE = freshSchema()
const NAMES = ['one', 'two', 'three', 'four']
let cluster: Cluster
let stage: Stage
const chats = new Map<string, number>()

beforeAll(async () => {
  if (!hasPostgres()) return
  cluster = await sharedCluster()
  cluster.sql(`CREATE DATABASE ${DATABASE}`)
  const env = { POSTERN_STORE_URL: cluster.urlOf('postern', DATABASE) }
  stage = await startStage({ bots: NAMES, env })
  await stage.ready(...NAMES)
  for (const name of NAMES) chats.set(name, await stage.chatOf(name))
}, 60_000)

afterAll(async () => {
  await stage?.[Symbol.asyncDispose]()
})

/** The session of each process that delivers, and the number of its bots. */
function turns(): { pid: number; count: number }[] {
  const tables = NAMES.map((name) => `SELECT process FROM ${turnsOf(`postern_${name}`)}`)
  const rows = cluster.sql(
    `SELECT pid || ' ' || count(*) FROM pg_locks JOIN (${tables.join(' UNION ALL ')}) AS turn
     ON (classid::bigint << 32 | objid::bigint) = process
     WHERE locktype = 'advisory' GROUP BY pid`,
    DATABASE,
  )
  return rows.split('\n').flatMap((row) => {
    const [pid, count] = row.split(' ').map(Number)
    return pid === undefined || count === undefined ? [] : [{ pid, count }]
  })
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
  'two processes deliver for as many bots each, once each, and for all once the other stops or is killed',
  async () => {
    const bot = await openBot()
    const heard = () => bot.deliveries.map(({ path }, n) => [path.slice(1), bot.words[n]].join(' '))
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
    const heardOf = (text: string): string[] =>
      heard()
        .filter((one) => one.endsWith(` ${text}`))
        .toSorted()
    const byAll = (text: string): string[] => NAMES.map((name) => `${name} ${text}`).toSorted()

    const shares = (): number[] => turns().map(({ count }) => count)
    await expect.poll(shares).toEqual([4])
    const replica = await startReplica()
    await say('meanwhile')
    await expect.poll(shares, { timeout: 10_000 }).toEqual([2, 2])
    await say('together')
    await expect.poll(() => heardOf('together')).toEqual(byAll('together'))
    expect(heardOf('meanwhile')).toEqual(byAll('meanwhile'))
    expect(shares()).toEqual([2, 2])

    await stage.stop()
    await expect.poll(shares).toEqual([4])
    await say('after a stop')
    await expect.poll(() => heardOf('after a stop')).toEqual(byAll('after a stop'))

    await stage.start()
    await stage.ready(...NAMES)
    await expect.poll(shares, { timeout: 10_000 }).toEqual([2, 2])
    await replica.stop('SIGKILL')
    await say('after a kill')
    await expect.poll(() => heardOf('after a kill')).toEqual(byAll('after a kill'))
  },
  90_000,
)
