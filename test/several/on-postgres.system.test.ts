/** Several bots of one process with their stores in one PostgreSQL. */
import { Client } from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { freshSchema, hasPostgres, sharedCluster, type Cluster } from '../support/postgres.ts'
import { startStage, type Stage } from './support.ts'

const DATABASE = freshSchema()
let cluster: Cluster
let stage: Stage
const chats = new Map<string, number>()

beforeAll(async () => {
  if (!hasPostgres()) return
  cluster = await sharedCluster()
  cluster.sql(`CREATE DATABASE ${DATABASE}`)
  stage = await startStage({
    bots: ['echo', 'news'],
    env: { POSTERN_STORE_URL: cluster.urlOf('postern', DATABASE) },
  })
  await stage.ready('echo', 'news')
  for (const name of ['echo', 'news']) chats.set(name, await stage.chatOf(name))
}, 180_000)

afterAll(async () => {
  await stage?.[Symbol.asyncDispose]()
})

const sql = (statement: string): string => cluster.sql(statement, DATABASE)

const send = async (name: string): Promise<number> =>
  (
    await stage.call(name, 'POST', '/messages', {
      body: { chatId: chats.get(name), text: 'words' },
    })
  ).status

const testIt = test.skipIf(!hasPostgres())

testIt('each bot has a PostgreSQL schema named after it, with its own key and chats', async () => {
  expect(await send('echo')).toBe(201)
  const schemas = sql(`SELECT string_agg(nspname, ' ' ORDER BY nspname) FROM pg_namespace
    WHERE nspname LIKE 'postern%'`)
  expect(schemas).toBe('postern_echo postern_news')
  const keys = ['echo', 'news'].map((name) =>
    sql(`SELECT fingerprint FROM postern_${name}.own_keys`),
  )
  expect(new Set(keys).size).toBe(2)
  const chatsOf = (name: string): string =>
    sql(`SELECT string_agg(id::text, ' ') FROM ${name}.chats`)
  expect(chatsOf('postern_echo')).toBe(String(chats.get('echo')))
  expect(chatsOf('postern_news')).not.toContain(String(chats.get('echo')))
})

testIt(
  'five bots of one process share at most 17 connections, and one session holds their locks',
  async () => {
    const counts = (): string[] =>
      sql(`SELECT count(*), count(DISTINCT locks.pid) FROM pg_stat_activity AS all_
      LEFT JOIN pg_locks AS locks ON locks.pid = all_.pid AND locktype = 'advisory'
      WHERE datname = current_database() AND application_name = 'postern'`).split('|')
    const before = Number(counts()[0])
    for (const name of ['more', 'evenmore', 'most']) await stage.add(name)
    await stage.ready('echo', 'news', 'more', 'evenmore', 'most')
    expect(before).toBeGreaterThan(0)
    const connections = sql(`SELECT count(*) FROM pg_stat_activity
    WHERE datname = current_database() AND application_name = 'postern'`)
    expect(Number(connections)).toBeLessThanOrEqual(17)
    expect(counts()[1]).toBe('1')
  },
)

testIt('all bots of a process recover after the server ends their connections', async () => {
  sql(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity
    WHERE datname = current_database() AND application_name = 'postern'`)
  for (const name of ['echo', 'news']) await expect.poll(() => send(name)).toBe(201)
  await stage.ready('echo', 'news')
})

testIt('a bot whose tables are locked refuses sends, and other bots keep sending', async () => {
  const somebody = new Client({ host: cluster.folder, user: 'postern', database: DATABASE })
  await somebody.connect()
  await somebody.query('BEGIN')
  await somebody.query('LOCK TABLE postern_echo.state IN ACCESS EXCLUSIVE MODE')
  try {
    const many = await Promise.all(Array.from({ length: 20 }, () => send('echo')))
    expect(new Set(many)).toEqual(new Set([503]))
    expect(await send('news')).toBe(201)
    await stage.ready('news')
  } finally {
    await somebody.end()
  }
  await expect.poll(() => send('echo')).toBe(201)
})

testIt(
  'a bot whose schema is damaged reports `store`, refuses to restart on it, and other bots keep sending',
  async () => {
    await stage.add('broken')
    await stage.ready('broken')
    chats.set('broken', await stage.chatOf('broken'))
    sql('DROP TABLE postern_broken.state')
    expect(await send('broken')).toBe(503)
    await expect.poll(() => stage.reasons('broken')).toContain('store')
    expect(await send('news')).toBe(201)
    await stage.ready('news')
    // started anew, it neither takes what is left for nothing, nor makes another store of it
    await stage.add('broken', { trust: { policy: 'pinned' } })
    await expect.poll(() => stage.reasons('broken')).toEqual(['store-rolled-back'])
    await stage.drop('broken')
  },
)

testIt(
  'a bot that is configured with the schema of another bot is refused with `store-other-bot`',
  async () => {
    await using other = await startStage({
      bots: ['thief'],
      env: { POSTERN_STORE_URL: cluster.urlOf('postern', DATABASE) },
    })
    await other.ready('thief')
    // ids are given out anew in each sandbox: a bot with one that nobody else has
    for (const name of ['a', 'b', 'c', 'd', 'e', 'f', 'g']) await other.write(name)
    await other.write('g', { store: { schema: 'postern_echo' } })
    await other.several.reload()
    expect(other.ids.get('g')).not.toBe(stage.ids.get('echo'))
    await expect.poll(() => other.reasons('g')).toEqual(['store-other-bot'])
    const one = other.several.report().bots.find(({ name }) => name === 'g')
    expect(one?.reasons[0]?.message).toBe(
      `the store in ${DATABASE} at ${cluster.folder} as postern, schema postern_echo is of bot ` +
        `${stage.ids.get('echo')}, and the token is of bot ${other.ids.get('g')}`,
    )
    expect(one?.reasons[0]?.hint).toContain('a store.schema of its own')
    expect(await send('echo')).toBe(201)
  },
)

testIt(
  'the schema of a removed bot stays, and the bot has the same key when it is added again',
  async () => {
    const keyOf = async (): Promise<string> => {
      await stage.ready('news')
      return (await stage.admin('/status?bot=news')).json.key.fingerprint as string
    }
    const before = await keyOf()
    await stage.drop('news')
    expect(sql('SELECT count(*) FROM postern_news.presence')).toBe('0')
    await stage.add('news')
    expect(await keyOf()).toBe(before)
  },
)
