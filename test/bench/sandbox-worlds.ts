import { spawn } from '../support/programs.ts'
import { once } from 'node:events'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createSandbox, type Sandbox } from '../../src/sandbox/create.ts'
import type { SeedInput } from '../../src/sandbox/seed/schema.ts'
import { compare, median, resultOf, temporaryFolder, type Result } from './measure.ts'
import { installPackage, takenBy, type Taken } from './package.ts'
import { freePort, startBareServer } from './processes.ts'

const PEOPLE = 100
const ROUNDS = 30
const STARTS = 9
const BARE = 'fastify and undici'
const IN_FILE = 'with --data'
const ALONE = 'a sandbox of its own'

/** A world whose people all have a phone with a key, and write in one encrypted group. */
const CROWD: SeedInput = {
  people: Object.fromEntries(Array.from({ length: PEOPLE }, (_, n) => [`person_${n}`, {}])),
  bots: { echo_bot: {} },
  chats: {
    office: {
      kind: 'group',
      members: Object.fromEntries(
        Array.from({ length: PEOPLE }, (_, n) => [`person_${n}`, n === 0 ? 'owner' : 'member']),
      ),
    },
  },
}
const WORLDS: [name: string, world: 'home' | SeedInput][] = [
  ['home', 'home'],
  [`${PEOPLE} people`, CROWD],
]

/**
 * What the sandbox takes as a tool: until the installed one is ready, and to keep a world, put it
 * back, and make another. Beside it the same with the world in a file, and a server of Fastify and
 * undici alone.
 */
export async function sandboxWorldJobs(wanted: (job: string) => boolean): Promise<Result[]> {
  const results = wanted('sandbox-ready') ? [await ready()] : []
  for (const [name, world] of WORLDS) {
    for (const action of ['snapshot', 'restore', 'reset', 'addWorld'] as const) {
      const job = `sandbox-${action}, ${name}`
      if (wanted(job)) results.push(await changeWorld({ job, action, world }))
    }
  }
  return results
}

/** Until `postern sandbox --json` of the package prints its line, and the memory that it has then. */
async function ready(): Promise<Result> {
  using installed = installPackage()
  const ours: { ms: number; taken: Taken }[] = []
  const bare: { ms: number; taken: Taken }[] = []
  for (let n = 0; n <= STARTS; n++) {
    ours.push(await startSandbox(installed.main))
    await using server = await startBareServer('http://127.0.0.1:1', await freePort())
    bare.push({ ms: server.readyMs, taken: takenBy(server) })
  }
  const [own, theirs] = [ours.slice(1), bare.slice(1)]
  const medianOf = (all: typeof own, of: (one: (typeof own)[number]) => number) =>
    median(all.map(of))
  const memory = (all: typeof own) => Math.round(medianOf(all, ({ taken }) => taken.memory))
  const peers = { [BARE]: medianOf(theirs, ({ ms }) => ms) }
  return resultOf(
    'sandbox-ready',
    medianOf(own, ({ ms }) => ms),
    peers,
    {
      memory: { ours: memory(own), [BARE]: memory(theirs) },
      notes: [`CPU until ready ${medianOf(own, ({ taken }) => taken.cpuMs)} ms`],
    },
  )
}

async function startSandbox(main: string): Promise<{ ms: number; taken: Taken }> {
  const startedAt = performance.now()
  const { PATH = '' } = process.env
  const child = spawn(process.execPath, [main, 'sandbox', '--json'], {
    env: { PATH, HOME: tmpdir() },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  await once(child.stdout, 'data')
  const ms = performance.now() - startedAt
  const taken = takenBy({ pid: child.pid ?? 0 })
  child.kill()
  await once(child, 'close')
  return { ms, taken }
}

type Action = 'snapshot' | 'restore' | 'reset' | 'addWorld'

async function changeWorld(o: {
  job: string
  action: Action
  world: 'home' | SeedInput
}): Promise<Result> {
  const { job, action, world } = o
  using folder = temporaryFolder()
  await using inMemory = await createSandbox({ world, phones: 'all' })
  const ours = { run: timed(inMemory, o) }
  if (action === 'addWorld') {
    const peers = [{ name: ALONE, run: () => startAlone(world) }]
    return await compare({ job, ours, peers, rounds: ROUNDS })
  }
  const data = join(folder.path, 'a.world')
  await using inFile = await createSandbox({ world, phones: 'all', data })
  const peers = [{ name: IN_FILE, run: timed(inFile, o) }]
  return await compare({ job, ours, peers, rounds: ROUNDS })
}

async function startAlone(world: 'home' | SeedInput): Promise<number> {
  const startedAt = performance.now()
  await using _sandbox = await createSandbox({ world, phones: 'all' })
  return performance.now() - startedAt
}

/** Gives what is done in a round, and how long that took, ms. */
function timed(
  { control }: Sandbox,
  { action, world }: { action: Action; world: 'home' | SeedInput },
): () => Promise<number> {
  const name = 'kept'
  return async () => {
    await control.snapshot({ name })
    const startedAt = performance.now()
    if (action === 'addWorld') {
      const added = await control.addWorld(world === 'home' ? { world } : { seed: world })
      const ms = performance.now() - startedAt
      await control.removeWorld({ name: added.name })
      return ms
    }
    await (action === 'reset' ? control.reset() : control[action]({ name }))
    return performance.now() - startedAt
  }
}
