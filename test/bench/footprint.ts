import { randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { createSandbox, type Sandbox } from '../../src/sandbox/create.ts'
import { addGroup, addPeople } from './crowd.ts'
import { round, type Result } from './measure.ts'
import { installPackage, takenBy, type Taken } from './package.ts'
import { startBareServer, startPostern, type Process } from './processes.ts'

const CHATS = 100
const GROUPS = 20
const MEMBERS = 300
const SENDS_PER_SECOND = 30
const BUSY_MS = 60_000
const MINUTE_MS = 60_000
const IDLE_MS = 20_000
const REST_MS = 300_000
const PEER = 'fastify and undici'

/** What the installed package takes, beside a server of Fastify and undici alone. */
export async function footprintJobs(wanted: (job: string) => boolean): Promise<Result[]> {
  using installed = installPackage()
  await using sandbox = await createSandbox({ rates: 'off', transcriptCalls: 0 })
  const dataDir = mkdtempSync(join(tmpdir(), 'postern-bench-'))
  using _folder = { [Symbol.dispose]: () => rmSync(dataDir, { recursive: true, force: true }) }
  const make = {
    main: installed.main,
    upstream: sandbox.url,
    token: sandbox.token,
    publish: true,
    dataDir: join(dataDir, 'data'),
  }
  // Makes the store and the key.
  await (await startPostern(make))[Symbol.asyncDispose]()
  await using bare = await startBareServer(sandbox.url)
  const bareStart = takenBy(bare)
  await using ours = await startPostern(make)
  const ourStart = takenBy(ours)
  const size = installed.bytes / 1024 / 1024
  const rows = [
    startRow({ ...ours, taken: ourStart }, { ...bare, taken: bareStart }),
    memoryRow('footprint-installed', {
      ours: size,
      theirs: 0,
      note: 'MiB on the disk: what an install brings, and an image adds to its base',
    }),
  ]
  if (wanted('footprint-clone')) {
    const { main: _package, ...clone } = make
    // A bot of its own: two stores of one bot would contend for its key.
    const { token } = await sandbox.control.addBot({ username: 'clone_bot' })
    const memory = await memoryAtStart({ ...clone, token, dataDir: join(dataDir, 'clone') })
    const theirs = ourStart.memory
    rows.push(
      memoryRow('footprint-clone', { ours: memory, theirs, peer: 'package', note: 'at the start' }),
    )
  }
  if (wanted('footprint-idle')) {
    await warm(sandbox, ours.url)
    await pause(MINUTE_MS)
    const [from, bareFrom] = [takenBy(ours), takenBy(bare)]
    await pause(IDLE_MS)
    const [to, bareTo] = [takenBy(ours), takenBy(bare)]
    rows.push(idleRow({ from, to }, { from: bareFrom, to: bareTo }))
  }
  if (wanted('footprint-busy') || wanted('footprint-after')) {
    const peak = await busy(sandbox, ours)
    const theirs = takenBy(bare).memory
    rows.push(
      memoryRow('footprint-busy', { ours: peak, theirs, note: 'the most in the busiest minute' }),
    )
    await pause(REST_MS)
    const left = takenBy(ours).memory
    rows.push(memoryRow('footprint-after', { ours: left, theirs, note: 'five minutes after it' }))
  }
  return rows
}

/** At the second start, when store and compiled code are there. @returns MiB */
async function memoryAtStart(make: Parameters<typeof startPostern>[0]): Promise<number> {
  await (await startPostern(make))[Symbol.asyncDispose]()
  await using again = await startPostern(make)
  return takenBy(again).memory
}

/** Lets the bot write into a hundred private chats. */
async function warm(sandbox: Sandbox, url: string): Promise<void> {
  const { control, home } = sandbox
  for (const userId of await addPeople(sandbox, CHATS)) {
    const { id } = await control.addPrivateChat({ userId, botId: home.bot.id })
    await send(url, sandbox.token, id)
  }
}

async function send(url: string, token: string, chatId: number): Promise<void> {
  const answer = await fetch(`${url}/bot/v1/messages`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ chatId, text: 'hello', sendId: randomUUID() }),
  })
  const text = await answer.text()
  if (answer.status !== 201) throw new Error(`a send was answered with ${text}`)
}

/** The busiest minute that the service allows. @returns the most memory that was seen, MiB */
async function busy(sandbox: Sandbox, ours: Process): Promise<number> {
  const { token } = sandbox
  const { url } = ours
  const people = await addPeople(sandbox, MEMBERS, 'crowd')
  const groups: number[] = []
  for (let n = 0; n < GROUPS; n++) groups.push(await addGroup(sandbox, { title: `G ${n}`, people }))
  const alice = await sandbox.phone(sandbox.home.alice.id)
  const startedAt = performance.now()
  const sends: Promise<void>[] = []
  let peak = 0
  const texts = Array.from({ length: 100 }, (_, n) => `update ${n}`)
  await Promise.all(texts.map((text) => alice.write(sandbox.home.privateChat, text)))
  const headers = { authorization: `Bearer ${token}` }
  sends.push(
    fetch(`${url}/bot/v1/updates?limit=100`, { headers }).then((answer) => void answer.text()),
  )
  while (performance.now() - startedAt < BUSY_MS) {
    sends.push(send(url, token, groups[sends.length % GROUPS] ?? 0))
    peak = Math.max(peak, takenBy(ours).memory)
    const nextMs = startedAt + (sends.length * 1000) / SENDS_PER_SECOND
    await pause(Math.max(0, nextMs - performance.now()))
  }
  await Promise.all(sends)
  return Math.max(peak, takenBy(ours).memory)
}

/** A process, and what it had taken once it was up. */
type Started = Pick<Process, 'readyMs'> & { taken: Taken }

/** Time until ready, with processor time and memory of both. */
function startRow(ours: Started, bare: Started): Result {
  const [taken, theirs] = [ours.taken, bare.taken]
  return {
    job: 'footprint-start',
    ms: round(ours.readyMs),
    vs: { [PEER]: { ms: round(bare.readyMs), ratio: round(bare.readyMs / ours.readyMs) } },
    memory: memoryOf(taken.memory, theirs.memory),
    notes: [
      `CPU until ready ${taken.cpuMs} ms, theirs ${theirs.cpuMs} ms; threads ${taken.threads}, theirs ${theirs.threads}`,
      `memory until ready ${round(taken.peak)} MiB at the most, theirs ${round(theirs.peak)} MiB`,
    ],
  }
}

interface Span {
  from: Taken
  to: Taken
}

/** Processor time of 20 idle seconds. */
function idleRow(ours: Span, bare: Span): Result {
  const spent = ({ from, to }: Span): number => to.cpuMs - from.cpuMs
  const wakes = ({ from, to }: Span): number =>
    round(((to.sleeps - from.sleeps) * 10_000) / IDLE_MS)
  return {
    job: 'footprint-idle',
    ms: spent(ours),
    vs: { [PEER]: { ms: spent(bare), ratio: round(spent(bare) / Math.max(spent(ours), 1)) } },
    memory: memoryOf(ours.to.memory, bare.to.memory),
    notes: [
      `ms of CPU in ${IDLE_MS / 1000} s; the main thread woke ${wakes(ours)} times in 10 s, theirs ${wakes(bare)}`,
    ],
  }
}

function memoryRow(
  job: string,
  {
    ours,
    theirs,
    note,
    peer = PEER,
  }: { ours: number; theirs: number; note: string; peer?: string },
): Result {
  return {
    job,
    ms: 0,
    vs: { [peer]: { ms: 0, ratio: 1 } },
    memory: memoryOf(ours, theirs, peer),
    notes: [note],
  }
}

function memoryOf(ours: number, theirs: number, peer = PEER): Record<string, number> {
  return { ours: Math.round(ours), [peer]: Math.round(theirs) }
}
