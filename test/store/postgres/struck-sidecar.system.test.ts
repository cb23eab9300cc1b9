/** A whole sidecar whose database fails in part while sealed words wait: none are confirmed unread. */
import { spawn } from '../../support/programs.ts'
import { once } from 'node:events'
import { Client } from 'pg'
import { afterAll, describe, expect, test } from 'vitest'
import { several } from '../../several/scene.ts'
import { freshSchema, hasPostgres, ownCluster } from '../../support/postgres.ts'
import { BOTH, waitingWords } from '../../updates/failing-store.ts'

const own = hasPostgres() ? ownCluster() : null
own?.cluster.start()
const cluster = own?.cluster as NonNullable<typeof own>['cluster']
const role = freshSchema()
if (own !== null) {
  cluster.sql(`CREATE ROLE ${role} LOGIN; GRANT CREATE ON DATABASE postgres TO ${role}`)
}
afterAll(() => own?.[Symbol.dispose]())

/** Something wrong at the database, in a schema, until it is disposed of. */
type Fault = (schema: string) => Promise<AsyncDisposable>

/** Holds what a statement locks. */
async function holding(statement: string): Promise<AsyncDisposable> {
  const args = ['-X', '-q', '-A', '-t', '-h', cluster.folder, '-U', 'postern', '-d', 'postgres']
  const psql = spawn('psql', args, { stdio: ['pipe', 'pipe', 'inherit'] })
  psql.stdin.write(`BEGIN; ${statement}; SELECT 'held';\n`)
  await new Promise<void>((resolve) => {
    psql.stdout.on('data', (piece: Buffer) => piece.toString().includes('held') && resolve())
  })
  return {
    async [Symbol.asyncDispose]() {
      const ended = once(psql, 'exit')
      psql.stdin.end('ROLLBACK;\n')
      await ended
    },
  }
}

const undo = (statement: string): AsyncDisposable => ({
  [Symbol.asyncDispose]: () => Promise.resolve(void cluster.sql(statement)),
})

/** Has a function run before each row of the memory against replays, until it is disposed of. */
function before(schema: string, body: string): AsyncDisposable {
  const name = `${schema}.before`
  cluster.sql(`CREATE FUNCTION ${name}() RETURNS trigger LANGUAGE plpgsql AS
    $$ BEGIN ${body}; RETURN NEW; END $$;
    CREATE TRIGGER before BEFORE INSERT ON ${schema}.seen EXECUTE FUNCTION ${name}()`)
  return undo(`DROP TRIGGER before ON ${schema}.seen; DROP FUNCTION ${name}()`)
}

/** Ends, again and again, what asks the memory against replays. */
const struck =
  (end: 'pg_terminate_backend' | 'pg_cancel_backend'): Fault =>
  async (schema) => {
    const slow = before(schema, 'PERFORM pg_sleep(1)')
    const striker = new Client({ host: cluster.folder, user: 'postern', database: 'postgres' })
    await striker.connect()
    const victims = `usename = '${role}' AND query LIKE '%"seen"%'`
    const strike = (): void => {
      const ended = striker.query(`SELECT ${end}(pid) FROM pg_stat_activity WHERE ${victims}`)
      ended.catch(() => undefined)
    }
    const timer = setInterval(strike, 100)
    return {
      async [Symbol.asyncDispose]() {
        clearInterval(timer)
        await striker.end()
        await slow[Symbol.asyncDispose]()
      },
    }
  }

const locked: Fault = (schema) => holding(`LOCK TABLE ${schema}.seen IN ACCESS EXCLUSIVE MODE`)

const full: Fault = async (schema) =>
  before(schema, `RAISE EXCEPTION 'full' USING ERRCODE = '53100'`)

const starved: Fault = async () => {
  cluster.sql(`ALTER ROLE ${role} CONNECTION LIMIT 1;
    SELECT pg_terminate_backend(pid) FROM pg_stat_activity
    WHERE usename = '${role}' AND query NOT LIKE '%transaction_read_only%'`)
  return undo(`ALTER ROLE ${role} CONNECTION LIMIT -1`)
}

const POLLS: [string, Fault][] = [
  ['locks the replay memory', locked],
  ['has no free connection', starved],
  ['ends connections', struck('pg_terminate_backend')],
]
const WEBHOOKS: [string, Fault][] = [
  ['has a full disk', full],
  ['cancels queries', struck('pg_cancel_backend')],
]

/** A sidecar to which a person writes. */
async function scene() {
  const { sandbox, replicas, schema } = await several(1, cluster.urlOf(role))
  const [sidecar] = replicas
  if (sidecar === undefined) throw new Error('none was started')
  const isNamed = (reasons: string[]) => reasons.some((code) => code.startsWith('store'))
  return { schema, ...(await waitingWords(sandbox, sidecar, isNamed)) }
}

describe.skipIf(own === null)('a sidecar whose database partly fails', () => {
  test.each(POLLS)(
    'a poll while the database %s is refused, and its updates stay at the service',
    async (_what, fault) => {
      const { schema, expectPollLeaves } = await scene()
      await expectPollLeaves(() => fault(schema))
    },
    120_000,
  )

  test.each(WEBHOOKS)(
    'a webhook receives nothing while the database %s, and the waiting updates afterwards',
    async (_what, fault) => {
      const { schema, expectWebhookLeaves } = await scene()
      await expectWebhookLeaves(() => fault(schema))
    },
    120_000,
  )

  test('a poll that waits for a locked replay memory makes `/readyz` fail, and is answered after the lock', async () => {
    const { schema, write, poll, untilNamed, untilReady } = await scene()
    await write('first', 'second')
    const held = await locked(schema)
    const polling = poll()
    await untilNamed()
    await held[Symbol.asyncDispose]()
    expect(await polling).toMatchObject({ status: 200, words: BOTH })
    await untilReady()
  }, 120_000)

  test('a poll during a lock on the `state` row is refused, and its updates stay at the service', async () => {
    const { schema, write, poll, untilNamed, untilReady } = await scene()
    await write('first', 'second')
    const held = await holding(`SELECT FROM ${schema}.state FOR UPDATE`)
    const polling = poll()
    await untilNamed()
    expect(await polling).toMatchObject({ status: 503, code: 'postern_store_unwritable' })
    await held[Symbol.asyncDispose]()
    await untilReady()
    expect((await poll()).words).toEqual(BOTH)
  }, 120_000)
})
