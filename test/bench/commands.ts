/** The processor time of short commands of the installed package, beside the clone's and an empty program. */
import { join } from 'node:path'
import { compare, runJobs, temporaryFolder, type Result } from './measure.ts'
import { installPackage } from './package.ts'
import { MAIN, startPostern, startStub } from './processes.ts'
import { spawnSync } from '../support/programs.ts'

const TOKEN = 'bench_1.0123456789012345678901234567890123456789012'
const COMMANDS = ['version', 'help', 'status', 'chat list']
const [ROUNDS, WARMUPS] = [9, 1]

export async function commandJobs(wanted: (job: string) => boolean): Promise<Result[]> {
  using installed = installPackage()
  using folder = temporaryFolder()
  const dataDir = join(folder.path, 'data')
  await using stub = await startStub()
  const sidecar = { upstream: stub.url, token: TOKEN, publish: false, dataDir }
  await using _running = await startPostern(sidecar)
  const spentBy = (...args: string[]) => ({ run: () => Promise.resolve(cpuMs(args, dataDir)) })
  const jobs = COMMANDS.map((command) => {
    const args = command === 'version' ? ['--version'] : command.split(' ')
    const peers = [
      { name: 'clone', ...spentBy(MAIN, ...args) },
      { name: 'node', ...spentBy('--eval', '') },
    ]
    const job = `commands-${command.replace(' ', '-')}`
    const ours = spentBy(installed.main, ...args)
    return [job, () => compare({ job, ours, peers, rounds: ROUNDS, warmups: WARMUPS })] as const
  })
  return await runJobs(Object.fromEntries(jobs), wanted)
}

/** User and system time of a program of Node, with what it begins anew. */
function cpuMs(args: string[], dataDir: string): number {
  const timed = ['-c', 'TIMEFORMAT="%U %S"; time node "$@"', '-', ...args]
  const env = { ...process.env, POSTERN_DATA_DIR: dataDir }
  const seconds =
    String(spawnSync('bash', timed, { env }).stderr)
      .trim()
      .split('\n')
      .at(-1) ?? ''
  return seconds.split(' ').reduce((sum, one) => sum + Number(one) * 1000, 0)
}
