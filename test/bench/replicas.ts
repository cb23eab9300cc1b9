/** Several sidecars of one bot on one PostgreSQL: what the database adds, and how long a take-over takes. */
import { setTimeout as pause } from 'node:timers/promises'
import { createSandbox, type Sandbox } from '../../src/sandbox/create.ts'
import { freshSchema, hasPostgres, ownCluster, type Cluster } from '../support/postgres.ts'
import { WireTap } from '../support/wire-tap.ts'
import { atRestJob } from './at-rest.ts'
import { addBot, callOf, send, type BenchBot, type Update } from './bench-bots.ts'
import { compare, median, resultOf, type Contender, type Result } from './measure.ts'
import { startPostern, type Process } from './processes.ts'
import { takeOverOf, WAYS, type Way } from './take-over.ts'
import { threeJob } from './replicas-three.ts'

const ROUNDS = 30
/** Of those with a pause before each. */
const FEW_ROUNDS = 10
/** Until the lock that sends share is given back, and the next message of the chat is made ahead. */
const LATER_MS = 1500
const TAKE_OVERS = 3
/** A sidecar that does not deliver looks every second: each time in another part of it. */
const LOOK_MS = 1000

/** A bot, its sidecar and what it does there. */
interface Place {
  send: () => Promise<unknown>
  edit: () => Promise<unknown>
  /** Has somebody write to the bot. */
  write: () => Promise<unknown>
  /** Reads what was written. */
  update: () => Promise<unknown>
}

/** What is done once the other has been. */
type Job = { name: string; act: keyof Place; before?: keyof Place; afterMs?: number }

const JOBS: readonly Job[] = [
  { name: 'replicas-send', act: 'send' },
  { name: 'replicas-send-later', act: 'send', afterMs: LATER_MS },
  { name: 'replicas-edit', act: 'edit' },
  { name: 'replicas-update', act: 'update', before: 'write' },
]

/** Nothing where no PostgreSQL is installed. */
export async function replicaJobs(wanted: (job: string) => boolean): Promise<Result[]> {
  if (!hasPostgres()) {
    process.stderr.write('bench: replicas needs a server of PostgreSQL (Debian: postgresql)\n')
    return []
  }
  using own = ownCluster()
  own.cluster.start()
  await using sandbox = await createSandbox({ rates: 'off', transcriptCalls: 0 })
  const jobs = JOBS.filter(({ name }) => wanted(name))
  const results = jobs.length === 0 ? [] : await besideSqlite(sandbox, own.cluster, jobs)
  for (const way of WAYS) {
    if (wanted(`replicas-${way}`)) results.push(await takeOvers(sandbox, own.cluster, way))
  }
  if (wanted('replicas-rest')) results.push(await atRestJob(own.cluster))
  if (wanted('replicas-three')) results.push(await threeJob(own.cluster))
  return results
}

/** A bot on PostgreSQL and one on SQLite in turns; round trips are counted at a second sidecar of the first. */
async function besideSqlite(
  sandbox: Sandbox,
  cluster: Cluster,
  jobs: readonly Job[],
): Promise<Result[]> {
  await using stack = new AsyncDisposableStack()
  const start = async (bot: BenchBot, url?: string, schema = ''): Promise<Place> => {
    const store = url === undefined ? {} : { store: { url, schema } }
    const { token } = bot
    const from = { upstream: sandbox.url, token, publish: true, ...store }
    return await placeOf(sandbox, stack.use(await startPostern(from)), bot)
  }
  const [bot, other] = [await addBot(sandbox), await addBot(sandbox)]
  const schema = freshSchema()
  const onPostgres = await start(bot, cluster.url, schema)
  const onSqlite = await start(other)
  const results: Result[] = []
  for (const job of jobs) {
    const contender = (place: Place): Omit<Contender, 'name'> => ({
      before: async () => {
        if (job.before !== undefined) await place[job.before]()
        if (job.afterMs !== undefined) await pause(job.afterMs)
      },
      run: place[job.act],
    })
    const peers = [{ name: 'SQLite', ...contender(onSqlite) }]
    const rounds = job.afterMs === undefined ? ROUNDS : FEW_ROUNDS
    const ours = contender(onPostgres)
    results.push(await compare({ job: job.name, ours, peers, rounds, warmups: 3 }))
  }
  const tap = stack.use(await WireTap.start(cluster))
  const counted = await start(bot, tap.url, schema)
  for (const [index, { act, before, afterMs = 0 }] of jobs.entries()) {
    const trips = await tap.fewest(counted[act], async () => {
      if (before !== undefined) await counted[before]()
      await pause(afterMs)
    })
    const tables = trips.map((trip) => [...new Set(trip.map(tableIn))].join(' and '))
    const note = `${trips.length} round trips to the database: ${tables.join(', ')}`
    results[index] = { ...(results[index] as Result), notes: [note] }
  }
  return results
}

/** What a question is about. */
function tableIn(sql: string): string {
  if (sql.includes('_advisory_lock')) return 'a lock'
  return /"\.("?)(\w+)\1/.exec(sql)?.[2] ?? sql
}

/** What a bot does through its sidecar, everything of the first time done already. */
async function placeOf(sandbox: Sandbox, postern: Process, bot: BenchBot): Promise<Place> {
  const { token, chatId } = bot
  const phone = await sandbox.phone(sandbox.home.alice.id)
  const call = (method: string, path: string, body?: object): Promise<unknown> =>
    callOf(postern, { token }, { method, path, body })
  const sent = (await call('POST', '/messages', { chatId, text: 'first' })) as { id: number }
  let offset = 0
  const place: Place = {
    send: async () => void (await send(postern, bot)),
    edit: () => call('PATCH', `/messages/${sent.id}`, { chatId, text: 'x'.repeat(400) }),
    write: () => phone.write(chatId, 'hello'),
    update: async () => {
      const updates = await call('GET', `/updates?timeout=20&offset=${offset}`)
      const update = (updates as Update[]).at(-1)
      if (update?.message?.text === undefined) throw new Error('no update was opened')
      offset = update.updateId + 1
    },
  }
  for (const act of ['send', 'edit', 'write', 'update'] as const) await place[act]()
  return place
}

/** Who takes over how fast: from a sidecar that is told to stop, that is killed, that hangs. */
async function takeOvers(sandbox: Sandbox, cluster: Cluster, way: Way): Promise<Result> {
  const bot = await addBot(sandbox)
  const store = { url: cluster.url, schema: freshSchema() }
  const times = { SIGTERM: [] as number[], SIGKILL: [] as number[], SIGSTOP: [] as number[] }
  for (let n = 0; n < TAKE_OVERS; n++) {
    for (const signal of ['SIGTERM', 'SIGKILL', 'SIGSTOP'] as const) {
      const afterMs = (n * LOOK_MS) / TAKE_OVERS
      const { ms } = await takeOverOf({ sandbox, bot, store, way, signal, afterMs })
      times[signal].push(ms)
    }
  }
  return resultOf(`replicas-${way}`, median(times.SIGTERM), {
    'after kill -9': median(times.SIGKILL),
    'after SIGSTOP': median(times.SIGSTOP),
  })
}
