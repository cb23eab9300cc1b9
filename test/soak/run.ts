/**
 * Traffic for long: so many messages a second each way in a sealed chat, a bot that calls like any
 * other, and a kill of a sidecar after each period. On SQLite, or with two sidecars on PostgreSQL.
 * Prints a row for each period, and whether each figure is flat; ends with 1 when a message was lost
 * or doubled.
 *
 * npm run soak -- --store postgres --minutes 120 --rate 30 --period-minutes 10
 */
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { createSandbox } from '../../src/sandbox/create.ts'
import { callOf, type Update } from '../bench/bench-bots.ts'
import { temporaryFolder } from '../bench/measure.ts'
import { startPostern, type Process } from '../bench/processes.ts'
import { freshSchema, ownCluster } from '../support/postgres.ts'
import { drift, sampleDatabase, sampleFolder, sampleProcesses, type Sample } from './samples.ts'

const { values } = parseArgs({
  options: {
    store: { type: 'string', default: 'sqlite' },
    minutes: { type: 'string', default: '120' },
    rate: { type: 'string', default: '30' },
    'period-minutes': { type: 'string', default: '10' },
  },
})
const PERIOD_MS = Number(values['period-minutes']) * 60_000
const PERIODS = Math.ceil((Number(values.minutes) * 60_000) / PERIOD_MS)
const BETWEEN_MS = 1000 / Number(values.rate)
const SAMPLES = 20
const RETRY_MS = 100
/** Until what is under way has arrived. */
const LATEST_MS = 60_000

await using stack = new AsyncDisposableStack()
const folder = stack.use(temporaryFolder()).path
const sandbox = stack.use(await createSandbox({ rates: 'off', transcriptCalls: 0 }))
const { url: upstream, token, home } = sandbox
const { cluster = null } = values.store === 'postgres' ? stack.use(ownCluster()) : {}
cluster?.start(['shared_preload_libraries=pg_stat_statements'])
cluster?.sql('CREATE EXTENSION pg_stat_statements')
const store = cluster && { url: cluster.url, schema: freshSchema() }
const dataDirs = store ? ['one', 'two'] : ['one']
const start = async (name: string): Promise<Process> => {
  const place = store && { store }
  return await startPostern({
    upstream,
    token,
    publish: true,
    dataDir: join(folder, name),
    ...place,
  })
}
const sidecars: Process[] = []
for (const name of dataDirs) sidecars.push(await start(name))
stack.defer(async () => {
  for (const sidecar of sidecars) await sidecar[Symbol.asyncDispose]()
})

/** Messages of one direction, by their texts. */
class Direction {
  sent = 0
  arrived = 0
  doubled = 0
  readonly #underWay = new Set<string>()

  next(): string {
    const text = `message ${++this.sent}`
    this.#underWay.add(text)
    return text
  }

  take(text: string): void {
    if (this.#underWay.delete(text)) this.arrived++
    else this.doubled++
  }

  get left(): number {
    return this.#underWay.size
  }
}

const toBot = new Direction()
const toPerson = new Direction()
const stop = new AbortController()
const phone = await sandbox.phone(home.alice.id)
let shown = 0
phone.onSeen(() => {
  for (const event of phone.seenEvents.slice(shown)) {
    shown++
    if (event.kind === 'message' && event.fromId === home.bot.id) toPerson.take(event.text)
  }
})

let called = 0
/** A call by one sidecar after the other, until one answers it. */
async function call(made: { method: string; path: string; body?: object }): Promise<unknown> {
  for (;;) {
    const sidecar = sidecars[called++ % sidecars.length]
    if (sidecar !== undefined) {
      const result = await callOf(sidecar, { token }, made).catch(() => null)
      if (result !== null) return result
    }
    await pause(RETRY_MS)
  }
}

async function sendOne(): Promise<void> {
  const text = toPerson.next()
  const body = { chatId: home.privateChat, text, sendId: crypto.randomUUID() }
  await call({ method: 'POST', path: '/messages', body })
}

async function readUpdates(): Promise<void> {
  for (let offset = 0; !stop.signal.aborted;) {
    const path = `/updates?timeout=1&offset=${offset}`
    for (const { updateId, message } of (await call({ method: 'GET', path })) as Update[]) {
      offset = updateId + 1
      if (message?.text !== undefined) toBot.take(message.text)
    }
  }
}

async function takeSample(): Promise<Sample> {
  const ofStore =
    cluster && store ? sampleDatabase(cluster, store) : sampleFolder(join(folder, 'one'))
  // a message leaves a row, so that the files grow with their number
  const each = ((ofStore['files MiB'] ?? 0) * 1024) / (toBot.arrived + toPerson.arrived)
  return { ...(await sampleProcesses(sidecars)), ...ofStore, 'files KiB a message': each }
}

const reading = readUpdates()
const underWay = new Set<Promise<void>>()
const ticking = setInterval(() => {
  for (const made of [sendOne(), phone.write(home.privateChat, toBot.next())]) {
    const settled = made.then(
      () => void underWay.delete(settled),
      (error: unknown) => void process.stderr.write(`${String(error)}\n`),
    )
    underWay.add(settled)
  }
}, BETWEEN_MS)

const periods: Sample[] = []
for (let period = 0; period < PERIODS; period++) {
  const samples: Sample[] = []
  for (let n = 0; n < SAMPLES; n++) {
    await pause(PERIOD_MS / SAMPLES)
    samples.push(await takeSample())
  }
  periods.push(...samples.slice(SAMPLES / 2))
  const counts = [toPerson, toBot].map(({ sent, left, doubled }) => `${sent} -${left} +${doubled}`)
  const cells = Object.entries(samples.at(-1) ?? {}).map(
    ([name, value]) => `${name} ${round(value)}`,
  )
  print(`${period + 1}: sent ${counts[0]}, received ${counts[1]}, ${cells.join(', ')}`)
  if (period === PERIODS - 1) break
  const at = period % sidecars.length
  const killed = sidecars[at]
  if (killed !== undefined) process.kill(killed.pid, 'SIGKILL')
  await killed?.[Symbol.asyncDispose]()
  sidecars[at] = await start(dataDirs[at] ?? '')
}
clearInterval(ticking)
const latest = performance.now() + LATEST_MS
while (toPerson.left + toBot.left + underWay.size > 0 && performance.now() < latest)
  await pause(100)
stop.abort()
await reading
for (const { name, early, late, isFlat } of drift(periods)) {
  print(`${name}: ${round(early)}, then ${round(late)}: ${isFlat ? 'flat' : 'it grows'}`)
}
const lost = toPerson.left + toBot.left
const doubled = toPerson.doubled + toBot.doubled
print(`sent ${toPerson.sent}, received ${toBot.sent}; lost ${lost}, doubled ${doubled}`)
process.exitCode = lost + doubled === 0 ? 0 : 1

function round(value: number): string {
  return value.toFixed(value < 100 ? 1 : 0)
}

function print(line: string): void {
  process.stdout.write(`${line}\n`)
}
