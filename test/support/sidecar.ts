/** The sidecar under test, as a process of its own (`postern run`) or inside the test's. */
import type { ChildProcess } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import type { Json } from './double-wire.ts'
import { BOT_TOKEN } from './double-world.ts'
import { spawnPostern } from './postern-process.ts'
import type { Ended } from './run-in-process.ts'

export type { Ended }
import { startSidecarProcess, type RunningSidecar } from './sidecar-process.ts'

export const PASSPHRASE = 'a passphrase for tests alone'

/** For a sidecar whose store rests under that passphrase. */
export const UNDER_PASSPHRASE = { POSTERN_KEY_PROTECTION: 'passphrase' }

/** What the bot gets for one call. */
export interface Called {
  status: number
  headers: Record<string, string>
  text: string
  json: Json
}

export interface SidecarOptions {
  upstream: string
  /** A folder of its own when not given, which goes with the sidecar. */
  dataDir?: string
  isTemporary?: boolean
  /** Settings as environment variables, over those that every test needs. */
  env?: Record<string, string>
  /**
   * Runs it in the test's own process, which costs a second of the CPU less: where the process does
   * not matter, and nothing that is changed in the bundle alone (`changed-constants.ts`). What `env`
   * changes there (`TESTS_…`) makes it a process all the same. Mutants need it inside, too.
   */
  inside?: boolean
}

/** Waits for something to become true (or not null), looking often. */
export async function until<T>(
  look: () => T | Promise<T>,
  what: string,
  withinMs = 50_000,
): Promise<NonNullable<T>> {
  const end = performance.now() + withinMs
  for (;;) {
    const found = await look()
    if (found !== null && found !== undefined && found !== false) return found
    if (performance.now() > end) throw new Error(`in vain: ${what}`)
    await pause(20)
  }
}

/** Runs `postern` with these arguments to its end. */
export async function runPostern(
  args: string[],
  options: { env?: Record<string, string>; cwd?: string; input?: string } = {},
): Promise<Ended> {
  const { cwd = tmpdir() } = options
  const child = spawnPostern(args, { cwd, env: { ...around(), ...options.env } })
  const said = collect(child)
  child.stdin?.on('error', () => {}).end(options.input ?? '')
  return { code: await ended(child), stdout: said.stdout(), stderr: said.stderr() }
}

/**
 * The environment that a sidecar needs at least. Its store has no protection; tests of that ask for
 * it (`UNDER_PASSPHRASE`).
 */
export function settings({ upstream, dataDir = '', env = {} }: SidecarOptions) {
  return {
    POSTERN_UPSTREAM_URL: upstream,
    ...('POSTERN_BOT_TOKEN_FILE' in env ? {} : { POSTERN_BOT_TOKEN: BOT_TOKEN }),
    POSTERN_KEY_PASSPHRASE: PASSPHRASE,
    POSTERN_KEY_PROTECTION: 'none',
    POSTERN_LISTEN_PORT: '0',
    POSTERN_ADMIN_PORT: '0',
    POSTERN_DATA_DIR: dataDir,
    POSTERN_LOG_LEVEL: 'trace',
    ...env,
  }
}

/** A running sidecar. */
export class Sidecar implements AsyncDisposable {
  readonly dataDir: string
  readonly url: string
  readonly adminUrl: string
  readonly #options: SidecarOptions
  readonly #process: RunningSidecar

  constructor(dataDir: string, options: SidecarOptions, process: RunningSidecar) {
    this.dataDir = dataDir
    this.url = process.bot
    this.adminUrl = process.admin
    this.#options = options
    this.#process = process
  }

  get pid(): number {
    return this.#process.pid
  }

  /** Everything that it wrote to stderr and stdout. */
  logs(): string {
    return this.#process.output()
  }

  /** A call of the bot's: `path` below `/bot/v1`; a body that is no string is written as JSON. */
  async call(
    method: string,
    path: string,
    body?: unknown,
    more: { headers?: Record<string, string>; signal?: AbortSignal } = {},
  ): Promise<Called> {
    const { signal } = more
    const response = await fetch(`${this.url}/bot/v1${path}`, {
      method,
      headers: {
        authorization: `Bearer ${BOT_TOKEN}`,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...more.headers,
      },
      ...(body === undefined
        ? {}
        : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
      ...(signal && { signal }),
    })
    const text = await response.text()
    const headers = Object.fromEntries(response.headers)
    return { status: response.status, headers, text, json: parsed(text) }
  }

  /** `/readyz`: its status, and the codes of its reasons. */
  async readiness(): Promise<{ status: number; reasons: string[]; text: string }> {
    const response = await fetch(`${this.adminUrl}/readyz`)
    const text = await response.text()
    const { reasons } = JSON.parse(text) as { reasons: { code: string }[] }
    return { status: response.status, reasons: reasons.map(({ code }) => code), text }
  }

  async whenReady(): Promise<this> {
    await until(async () => (await this.readiness()).status === 200, 'the sidecar is ready')
    return this
  }

  async whenReason(code: string): Promise<this> {
    const look = async () => (await this.readiness()).reasons.includes(code)
    await until(look, `/readyz names ${code}`)
    return this
  }

  /**
   * Runs another `postern` command against this one's data directory: where the sidecar is in the
   * test's process, the command is too.
   */
  async postern(...args: string[]): Promise<Ended> {
    const env = settings({ ...this.#options, dataDir: this.dataDir })
    if (this.pid !== process.pid) return await runPostern(args, { env })
    const { runInProcess } = await import('./run-in-process.ts')
    return await runInProcess(args, env)
  }

  /** SIGTERM. @returns the exit code */
  async stop(): Promise<number | null> {
    return await this.#process.stop('SIGTERM')
  }

  /** SIGKILL. */
  async kill(): Promise<void> {
    await this.#process.stop('SIGKILL')
  }

  /** Another one over the same data directory, once this one is gone. */
  async again(more: Partial<SidecarOptions> = {}): Promise<Sidecar> {
    await this.stop()
    return await startSidecar({ ...this.#options, dataDir: this.dataDir, ...more })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop()
    if (this.#options.isTemporary === true) {
      rmSync(this.dataDir, { recursive: true, force: true })
    }
  }
}

/** Starts a sidecar and waits until it listens; not until it is ready. */
export async function startSidecar(given: SidecarOptions): Promise<Sidecar> {
  const dataDir = given.dataDir ?? mkdtempSync(join(tmpdir(), 'sc-'))
  const options = { isTemporary: given.dataDir === undefined, ...given }
  const env = { ...around(), ...settings({ ...options, dataDir }) }
  return new Sidecar(dataDir, options, await start(env, options.inside))
}

async function start(env: Record<string, string>, inside = false): Promise<RunningSidecar> {
  const needsBundle = Object.keys(env).some((name) => name.startsWith('TESTS_'))
  if ((!inside || needsBundle) && process.env['MUTANTS_TESTS'] === undefined) {
    return await startSidecarProcess({ cwd: tmpdir(), env })
  }
  const { startSidecarInside } = await import('./sidecar-inside.ts')
  return await startSidecarInside(env)
}

function around(): { PATH: string; HOME: string } {
  return { PATH: process.env['PATH'] ?? '', HOME: tmpdir() }
}

function collect(child: ChildProcess): { stdout: () => string; stderr: () => string } {
  const chunks = { stdout: [] as Buffer[], stderr: [] as Buffer[] }
  child.stdout?.on('data', (chunk: Buffer) => chunks.stdout.push(chunk))
  child.stderr?.on('data', (chunk: Buffer) => chunks.stderr.push(chunk))
  return {
    stdout: () => Buffer.concat(chunks.stdout).toString(),
    stderr: () => Buffer.concat(chunks.stderr).toString(),
  }
}

async function ended(child: ChildProcess): Promise<number | null> {
  if (child.exitCode === null && child.signalCode === null) {
    await new Promise((resolve) => void child.once('close', resolve))
  }
  return child.exitCode
}

function parsed(text: string): Json {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
