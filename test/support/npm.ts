/** npm as a user at a terminal would run it: untouched by the npm that runs the tests. */
import { delimiter, dirname } from 'node:path'
import { run, type Ran } from './programs.ts'

/** The Node that runs the tests, for commands that look for one. */
export const NODE_FOLDER = dirname(process.execPath)

/** The environment without what npm tells its scripts, with Node from these folders first. */
export function plainEnvironment(...folders: string[]): NodeJS.ProcessEnv {
  const kept = Object.entries(process.env).filter(([name]) => !/^(npm_|POSTERN_)/i.test(name))
  const path = [...folders, process.env['PATH'] ?? ''].join(delimiter)
  return { ...Object.fromEntries(kept), PATH: path }
}

/** Runs npm to its end. @throws Error with what it said when it fails */
export async function npm(args: string[], cwd: string): Promise<Ran> {
  const quiet = ['--no-audit', '--no-fund', '--loglevel=error', '--prefer-offline']
  const ran = await run('npm', [...args, ...quiet], { cwd, env: plainEnvironment(NODE_FOLDER) })
  if (ran.code === 0) return ran
  throw new Error(`npm ${args.join(' ')} ended with ${ran.code}: ${ran.stderr}`)
}

/** Runs a program of the packages that are installed in a folder, with the Node of another. */
export const npx = (args: string[], cwd: string, nodeFolder = NODE_FOLDER): Promise<Ran> =>
  run('npx', ['--no-install', ...args], { cwd, env: plainEnvironment(nodeFolder) })
