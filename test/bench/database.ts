/** How often calls wait for PostgreSQL, and how long a send takes there beside SQLite on the same disk. */
import { createSandbox, type Sandbox } from '../../src/sandbox/create.ts'
import { freshSchema, ownCluster } from '../support/postgres.ts'
import { WireTap } from '../support/wire-tap.ts'
import { addBot, callOf, send, type BenchBot, type Update } from './bench-bots.ts'
import { compare, resultOf, timeOf, type Result } from './measure.ts'
import { startPostern, type Process } from './processes.ts'

const BATCHES = [1, 50]
const ROUNDS = 51

export async function databaseJobs(wanted: (job: string) => boolean): Promise<Result[]> {
  using server = ownCluster()
  server.cluster.start()
  await using sandbox = await createSandbox({ rates: 'off' })
  await using tap = await WireTap.start(server.cluster)
  const results = await tripJobs(sandbox, tap, wanted)
  if (wanted('database-send')) results.push(await sendJob(sandbox, server.cluster.url))
  return results
}

/** Round trips of a first send, of a later one, and of polls. */
async function tripJobs(
  sandbox: Sandbox,
  tap: WireTap,
  wanted: (job: string) => boolean,
): Promise<Result[]> {
  const { home, token } = sandbox
  const store = { url: tap.url, schema: freshSchema() }
  await using postern = await startPostern({ upstream: sandbox.url, token, publish: true, store })
  let chatId = 0
  let people = 0
  const meet = async (): Promise<void> => {
    const { id: userId } = await sandbox.control.addPerson({ username: `met_${++people}` })
    await sandbox.phone(userId)
    chatId = (await sandbox.control.addPrivateChat({ userId, botId: home.bot.id })).id
  }
  const sendThere = async (): Promise<void> => void (await send(postern, { token, chatId }))
  const phone = await sandbox.phone(home.alice.id)
  let offset = 0
  const poll = async (): Promise<void> => {
    const call = { method: 'GET', path: `/updates?timeout=20&limit=100&offset=${offset}` }
    const updates = (await callOf(postern, { token }, call)) as Update[]
    offset = updates.at(-1)!.updateId + 1
  }
  const write = (count: number) => async (): Promise<void> => {
    for (let n = 0; n < count; n++) await phone.write(home.privateChat, `hello ${n}`)
  }
  const jobs = [
    { job: 'database-first-send', act: sendThere, before: meet },
    { job: 'database-later-send', act: sendThere },
    ...BATCHES.map((count) => ({ job: `database-poll-${count}`, act: poll, before: write(count) })),
  ]
  const results: Result[] = []
  for (const { job, act, before } of jobs.filter((one) => wanted(one.job))) {
    await before?.()
    const ms = await timeOf(act)
    const trips = await tap.fewest(act, before)
    const notes = [`${trips.length} round trips, ${trips.flat().length} statements`]
    results.push(resultOf(job, ms, {}, { notes }))
  }
  return results
}

/** A send in each kind of store, in turns. */
async function sendJob(sandbox: Sandbox, url: string): Promise<Result> {
  const start = async (store?: { url: string; schema: string }) => {
    const bot = await addBot(sandbox)
    const from = { upstream: sandbox.url, token: bot.token, publish: true }
    return { bot, postern: await startPostern({ ...from, ...(store && { store }) }) }
  }
  const postgres = await start({ url, schema: freshSchema() })
  await using _first = postgres.postern
  const sqlite = await start()
  await using _second = sqlite.postern
  const sendBy = ({ postern, bot }: { postern: Process; bot: BenchBot }) => ({
    run: async () => void (await send(postern, bot)),
  })
  return await compare({
    job: 'database-send',
    ours: sendBy(postgres),
    peers: [{ name: 'sqlite', ...sendBy(sqlite) }],
    rounds: ROUNDS,
    warmups: ROUNDS,
  })
}
