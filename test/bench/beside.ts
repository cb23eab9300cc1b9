/**
 * The same part with the program of another checkout, whose packages are installed: each of both is
 * a process, in turns, and of each job the turn with the median time counts.
 */
import { join } from 'node:path'
import { installed, run } from '../support/programs.ts'
import { resultOf, type Result } from './measure.ts'

const TURNS = 3
const RUN = 'test/bench/run.ts'
const HERE = join(import.meta.dirname, '../..')
/** Parts that measure functions in the process of the bench: the bench of the other checkout does. */
const IN_PROCESS = ['seal', 'open', 'agent', 'check', 'testing', 'streaming']

/** @param part of the bench, or a job of it; `folder` of the other checkout */
export async function runBeside(part: string, only: string, folder: string): Promise<Result[]> {
  const isOther = IN_PROCESS.includes(part)
  const ours: Result[][] = []
  const theirs: Result[][] = []
  for (let turn = 0; turn < TURNS; turn++) {
    ours.push(await turnOf(HERE, only))
    theirs.push(
      isOther
        ? await turnOf(folder, only)
        : await turnOf(HERE, only, { BENCH_MAIN: join(folder, 'bin/postern.cjs') }),
    )
  }
  return (ours[0] ?? []).map(({ job }) => {
    const mine = medianOf(ours, job)
    const other = medianOf(theirs, job)
    if (mine === undefined || other === undefined) throw new Error(`no ${job} in ${folder}`)
    const peers = Object.entries(other.vs).map(([peer, { ratio }]) => `${peer} ${ratio} times`)
    const notes = [...peers, ...(other.notes ?? [])].map((line) => `beside: ${line}`)
    const { vs } = resultOf(job, mine.ms, { beside: other.ms })
    return { ...mine, vs: { ...mine.vs, ...vs }, notes: [...(mine.notes ?? []), ...notes] }
  })
}

/** The turn of a job whose time is the median. */
function medianOf(turns: Result[][], wanted: string): Result | undefined {
  const all = turns.flatMap((turn) => turn.filter(({ job }) => job === wanted))
  return all.toSorted((a, b) => a.ms - b.ms)[Math.floor(all.length / 2)]
}

async function turnOf(cwd: string, only: string, more: NodeJS.ProcessEnv = {}): Promise<Result[]> {
  const args = [RUN, '--only', only, '--json']
  const env = { ...process.env, ...more }
  const { code, stdout, stderr } = await run(installed(process.execPath), args, { cwd, env })
  if (code !== 0) throw new Error(`the bench of ${cwd} ended with ${code}: ${stderr}`)
  const line = stdout.toString().trim().split('\n').at(-1) ?? ''
  return (JSON.parse(line) as { results: Result[] }).results
}
