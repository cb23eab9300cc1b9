/** What an administrator, another program or a full disk does to the database of a run, by its own connection. */
import { setTimeout as pause } from 'node:timers/promises'
import { Client } from 'pg'
import type { Random } from '../support/faults-random.ts'
import type { Remembered } from './history.ts'

const SCHEMA = 'postern'
/** Tables that a decision may wait for. */
const TABLES = ['state', 'chats', 'people', 'seen', 'flags', 'own_keys', 'webhook', 'outcomes']
/** Of this name are the triggers, and the function behind them. */
const FULL = 'faults_disk_full'

/** Uses a connection for something; a database that is away or failed over is left alone. */
async function asAdmin(url: string, act: (client: Client) => Promise<unknown>): Promise<void> {
  const client = new Client({ connectionString: url, application_name: 'faults' })
  client.on('error', () => undefined)
  try {
    await client.connect()
    await client.query('SET statement_timeout = 15000')
    await act(client)
  } catch {
    // the database has troubles of its own
  } finally {
    await client.end().catch(() => undefined)
  }
}

/** Ends or cancels one query of a sidecar after the other, those that run first. */
export async function strikeQueries(
  url: string,
  how: 'pg_terminate_backend' | 'pg_cancel_backend',
  random: Random,
): Promise<void> {
  await asAdmin(url, async (client) => {
    for (let times = random.between(2, 12); times > 0; times--) {
      const salt = random.hex(8)
      await client.query(
        `SELECT ${how}(pid) FROM (SELECT pid FROM pg_stat_activity
           WHERE application_name = 'postern' AND backend_type = 'client backend'
           ORDER BY state = 'idle', md5(pid || $1) LIMIT 1) AS one`,
        [salt],
      )
      await pause(random.between(5, 250))
    }
  })
}

/** Holds the lock of one row that is there, or of a whole table. */
export async function lock(url: string, what: 'row' | 'table', random: Random): Promise<void> {
  const table = `${SCHEMA}.${random.pick(TABLES)}`
  const forMs = random.between(300, 6000)
  await asAdmin(url, async (client) => {
    await client.query('BEGIN')
    await client.query(
      what === 'table'
        ? `LOCK TABLE ${table} IN ACCESS EXCLUSIVE MODE`
        : `SELECT 1 FROM ${table} LIMIT 1 FOR UPDATE`,
    )
    await pause(forMs)
    await client.query('ROLLBACK')
  })
}

/**
 * Refuses whatever is written with the error of a disk without space (SQLSTATE 53100), as where no
 * table can grow. It takes no mount, and no log of the server is full.
 */
export async function fill(url: string): Promise<void> {
  await asAdmin(url, async (client) => {
    await client.query(
      `CREATE OR REPLACE FUNCTION public.${FULL}() RETURNS trigger LANGUAGE plpgsql AS
       $$ BEGIN RAISE EXCEPTION 'No space left on device' USING ERRCODE = '53100'; END $$`,
    )
    const { rows } = await client.query<{ name: string }>(
      `SELECT tablename AS name FROM pg_tables WHERE schemaname = $1`,
      [SCHEMA],
    )
    await client.query('SET lock_timeout = 1000')
    for (const { name } of rows) {
      const trigger = `CREATE OR REPLACE TRIGGER ${FULL} BEFORE INSERT OR UPDATE ON ${SCHEMA}.${name}
        FOR EACH STATEMENT EXECUTE FUNCTION public.${FULL}()`
      await client.query(trigger).catch(() => undefined)
    }
  })
}

/** Ends what `fill` began. @returns whether it is over */
export async function free(url: string): Promise<boolean> {
  let isFree = false
  await asAdmin(url, async (client) => {
    await client.query(`DROP FUNCTION IF EXISTS public.${FULL}() CASCADE`)
    isFree = true
  })
  return isFree
}

/** What is committed of the chats; null where that is not answered soon. */
export async function storedChats(url: string): Promise<Remembered['chats'] | null> {
  let chats: Remembered['chats'] | null = null
  await asAdmin(url, async (client) => {
    await client.query('SET lock_timeout = 300')
    const { rows } = await client.query<Remembered['chats'][number]>(
      `SELECT id::int8::float8 AS id, kind, latched_at IS NOT NULL AS latched FROM ${SCHEMA}.chats`,
    )
    chats = rows
  })
  return chats
}
