import { spawn } from '../support/programs.ts'
import { once } from 'node:events'
import { join } from 'node:path'
import { engineWithHolder } from '../../src/agent/held-engine.ts'
import { connectHolder } from '../../src/agent/holders.ts'
import { createEngine, type MeasuredEngine } from '../../src/openpgp/index.ts'
import type { UnlockedKey } from '../../src/openpgp/engine.ts'
import { compare, runJobs, temporaryFolder, type Contender, type Result } from './measure.ts'
import { makeCast, settled } from './people.ts'

const TEXT = 'x'.repeat(480)
const BATCH = 100
const PEOPLE = 10

/** An engine with a key, in this process or at an agent of its own process. */
interface Bench {
  engine: MeasuredEngine
  signer: UnlockedKey
  certificate: string
  prepared: () => Promise<void>
}

/** What an agent costs: the same work with the secret in this process, and at `postern agent run`. */
export async function agentJobs(wanted: (job: string) => boolean): Promise<Result[]> {
  await using stack = new AsyncDisposableStack()
  const { certificates } = stack.use(await makeCast(PEOPLE))
  const address = await startAgent(stack)
  const holder = stack.use(connectHolder(address))
  const here = await benchOf(stack, (engine) => engine)
  const held = await benchOf(stack, (engine) => engineWithHolder(engine, holder))
  const jobs: [job: string, work: (bench: Bench) => Promise<Work>][] = [
    ['agent-open-1', (bench) => open(bench, 1)],
    [`agent-open-batch-${BATCH}`, (bench) => open(bench, BATCH)],
    [`agent-seal-prepared-${PEOPLE}`, (bench) => seal(bench, certificates)],
  ]
  const runs = jobs.map(([job, work]) => [
    job,
    async () => await beside(job, await work(held), await work(here)),
  ])
  return await runJobs(Object.fromEntries(runs) as Record<string, () => Promise<Result>>, wanted)
}

type Work = Omit<Contender, 'name'>

const beside = (job: string, ours: Work, theirs: Work): Promise<Result> =>
  compare({ job, ours, peers: [{ name: 'in-process', ...theirs }], rounds: 201, warmups: 200 })

async function startAgent(stack: AsyncDisposableStack): Promise<string> {
  const folder = stack.use(temporaryFolder()).path
  const socket = join(folder, 'a.sock')
  const main = join(import.meta.dirname, '../../src/main.ts')
  const env = { ...process.env, POSTERN_DATA_DIR: join(folder, 'agent') }
  const agent = spawn(process.execPath, [main, 'agent', 'run', '--socket', socket], {
    env: { ...env, POSTERN_KEY_PROTECTION: 'none' },
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  stack.defer(async () => {
    agent.kill()
    await once(agent, 'exit')
  })
  await once(agent.stderr, 'data')
  return `unix:${socket}`
}

async function benchOf(
  stack: AsyncDisposableStack,
  using: (engine: MeasuredEngine) => MeasuredEngine,
): Promise<Bench> {
  let waiting = (): void => {}
  const engine = using(stack.use(createEngine({ onPrepared: () => waiting() })))
  const createdMs = Date.now() - 300_000
  const own = await engine.generate({ userId: 'bot', createdMs, passphrase: 'x' })
  const signer = await engine.unlock(own.locked, 'x')
  const prepared = (): Promise<void> => new Promise((resolve) => (waiting = resolve))
  return { engine, signer, certificate: own.certificate, prepared }
}

async function open({ engine, signer, certificate }: Bench, count: number): Promise<Work> {
  const request = { text: TEXT, certificates: [], signer, cipher: 'aes256' } as const
  const all = await Promise.all(Array.from({ length: count }, () => engine.seal(request)))
  await settled(engine)
  const one = async (armored: string): Promise<void> => {
    const opened = await engine.open(armored, [signer])
    if (opened.outcome !== 'opened') throw new Error(opened.outcome)
    const [result] = await engine.verify(opened.signed, certificate, Date.now())
    if (result !== 'valid') throw new Error('not verified')
  }
  return { run: () => Promise.all(all.map(one)), ...(count > 1 && { rounds: 41 }) }
}

async function seal({ engine, signer, prepared }: Bench, certificates: string[]): Promise<Work> {
  const request = { text: TEXT, certificates, signer, cipher: 'aes256', place: 'bench' } as const
  await engine.sealKnown(request)
  await settled(engine)
  return {
    before: async () => {
      const ready = prepared()
      await engine.sealKnown(request)
      await ready
    },
    run: () => engine.sealKnown(request),
  }
}
