/** Connections to a real server: their settings, what is read and written, and their limits. */
import { beforeAll, describe, expect, test } from 'vitest'
import type { ClientBase } from 'pg'
import { parseAddress } from '../../../src/store/postgres/address.ts'
import {
  clientOptions,
  parametersOf,
  requireSettings,
  withClient,
} from '../../../src/store/postgres/client.ts'
import { hasPostgres, sharedCluster, type Cluster } from '../../support/postgres.ts'

let cluster: Cluster
beforeAll(async () => {
  if (hasPostgres()) cluster = await sharedCluster()
})

const use = <T>(run: Parameters<typeof withClient<T>>[2], limitMs = 10_000) =>
  withClient<T>(parseAddress(cluster.url), limitMs, run)

const optionsOf = (url: string, as: 'session' | 'pool' = 'session') =>
  clientOptions(parseAddress(url), as)

test('`clientOptions` has host, user and password, and verifies TLS for a remote host', () => {
  const near = optionsOf('postgres://u@localhost:6000/d')
  expect(near).toMatchObject({
    host: 'localhost',
    port: 6000,
    database: 'd',
    user: 'u',
    ssl: false,
  })
  expect((near.password as () => string)()).toBe('')
  const far = optionsOf('postgres://u:secret@db/d')
  expect(far.ssl).toEqual({ ca: undefined, rejectUnauthorized: true })
  expect((far.password as () => string)()).toBe('secret')
})

test('`clientOptions` sets an idle timeout for the session and none for pool connections', () => {
  const [session, pool] = (['session', 'pool'] as const).map((as) =>
    optionsOf('postgres://u@db/d', as),
  )
  expect(session).toMatchObject({ lock_timeout: 20, keepAlive: true, pipeline: true })
  expect(session?.options).toContain('-c idle_session_timeout=3500')
  expect(pool).toMatchObject({ lock_timeout: 10_000, application_name: 'postern' })
  expect(pool?.options).toContain('-c idle_session_timeout=0')
})

test.each([
  [true, true],
  [false, false],
  [undefined, false],
])(
  '`requireSettings` with the server response %s accepts the connection: %s',
  async (kept, isUsed) => {
    const asked: string[] = []
    const client = {
      query: async (text: string) => {
        asked.push(text)
        return { rows: kept === undefined ? [] : [{ kept }] }
      },
    } as unknown as ClientBase
    const required = requireSettings(client, 'pool')
    const message = 'the connection has not the settings that it asked for'
    if (isUsed) await required
    else await expect(required).rejects.toMatchObject({ kind: 'pooled', message })
    expect(asked[0]).toContain(`current_setting('synchronous_commit') = 'on' AND `)
    expect(asked[0]).toContain(`current_setting('lock_timeout')::interval = interval '10000 ms'`)
  },
)

test('`parametersOf` replaces NUL in text and passes other values', () => {
  const bytes = new Uint8Array([0])
  expect(parametersOf(['a\0b\0', 'a', 5, null, bytes])).toEqual([
    'a\u{FFFD}b\u{FFFD}',
    'a',
    5,
    null,
    bytes,
  ])
})

describe.skipIf(!hasPostgres())('a connection to PostgreSQL', () => {
  test('a connection has the settings of its role, session or pool', async () => {
    const shown = await use(async (client) => {
      await requireSettings(client, 'session')
      await expect(requireSettings(client, 'pool')).rejects.toMatchObject({ kind: 'pooled' })
      const names = [
        'synchronous_commit',
        'tcp_keepalives_idle',
        'statement_timeout',
        'lock_timeout',
      ]
      const values = names.map((name) => `current_setting('${name}') AS ${name}`)
      return (await client.query<object>(`SELECT ${values.join(', ')}`)).rows
    })
    expect(shown).toMatchObject([
      { synchronous_commit: 'on', statement_timeout: '20s', lock_timeout: '20ms' },
    ])
  })

  test('a connection returns safe integers as numbers, rejects larger ones and returns bytes unchanged', async () => {
    const { rows } = await use((client) =>
      client.query<object>(`SELECT 9007199254740991::bigint AS n, '\\x00ff'::bytea AS b, 'x' AS t`),
    )
    expect(rows).toEqual([{ n: 9_007_199_254_740_991, b: new Uint8Array([0, 255]), t: 'x' }])
    const large = use((client) => client.query('SELECT 9007199254740992::bigint'))
    await expect(large).rejects.toThrow('an integer in the store is too large')
  })

  test('`withClient` ends its connection after use and after its time limit', async () => {
    const pid = await use(async (client) => {
      expect(client.tlsProtocol).toBeNull()
      const { rows } = await client.query<{ pid: number }>('SELECT pg_backend_pid() AS pid')
      expect(rows).toEqual([{ pid: client.pid }])
      return client.pid
    })
    const count = `SELECT count(*)::int AS n FROM pg_stat_activity WHERE pid = $1`
    const left = () => use((client) => client.query<{ n: number }>(count, [pid]))
    await expect.poll(async () => (await left()).rows[0]?.n).toBe(0)
    const late = use((client) => client.query('SELECT pg_sleep(20)'), 50)
    await expect(late).rejects.toThrow('Connection terminated')
  })

  test('a connection is marked after a warning of the server and not after a notice', async () => {
    await use(async (client) => {
      const raise = (level: string, code: string) =>
        client.query(`DO $$ BEGIN RAISE ${level} USING MESSAGE = 'x', ERRCODE = '${code}'; END $$`)
      await raise('NOTICE', '00000')
      expect(client.isWarned).toBe(false)
      await raise('WARNING', '01000')
      await raise('NOTICE', '00000')
      expect(client.isWarned).toBe(true)
    })
  })
})
