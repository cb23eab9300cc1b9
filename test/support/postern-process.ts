/** The one place where tests start `postern`: what it says is searched for what it may not say. */
import type { ChildProcess, StdioOptions } from 'node:child_process'
import { execFileSync, spawn } from './programs.ts'
import { existsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { canaries } from './canaries.ts'
import { mortal } from './mortal.ts'

const ROOT = join(import.meta.dirname, '../..')

/** Hundreds of processes start in a run: what Node makes of the sources is made once. */
export const COMPILED = join(tmpdir(), 'postern-tests-compiled')

const STATE = join(tmpdir(), 'postern-tests-state')

/** What tests start: the bundle of this run, built when first asked for, or outside of a run the sources. */
export function mainFile(): string {
  const bundle = process.env['TESTS_MAIN']
  if (bundle === undefined) return join(ROOT, 'src/main.ts')
  if (!existsSync(bundle)) execFileSync(process.execPath, [join(ROOT, 'test/support/build.ts')])
  return bundle
}

export interface PosternOptions {
  cwd: string
  /** All of its environment. `run` logs at `trace` unless this says otherwise. */
  env: Record<string, string>
  /** Options of Node's own. */
  node?: string[]
  stdio?: StdioOptions
}

/** Starts `postern` with these arguments, as a process of its own. */
export function spawnPostern(args: readonly string[], options: PosternOptions): ChildProcess {
  const isRun = args.length === 0 || args[0] === 'run'
  const env = { ...(isRun && { POSTERN_LOG_LEVEL: 'trace' }), ...options.env }
  // Not where the sandboxes of whoever runs the tests are found.
  const cached = { NODE_COMPILE_CACHE: COMPILED, XDG_STATE_HOME: STATE, ...env }
  const { cwd, node = [], stdio = 'pipe' } = options
  const command = mortal(process.execPath, [...node, mainFile(), ...args])
  const child = spawn(...command, { cwd, env: cached, stdio })
  const searched = canaries()
  if (searched === null) return child
  searched.environment(env)
  const name = `postern ${args.join(' ')}`
  // stdout is data: what it was asked for may be words
  // what `dev` shows on either is what people say
  const isDev = args[0] === 'dev'
  const logs = isRun ? [child.stderr, child.stdout] : isDev ? [] : [child.stderr]
  for (const stream of logs) {
    const chunks: Buffer[] = []
    stream?.on('data', (chunk: Buffer | string) => chunks.push(Buffer.from(chunk as string)))
    searched.watch(name, () => Buffer.concat(chunks).toString())
  }
  return child
}
