/** Keeps one sidecar running on one data directory: starts, stops and kills it. */
import { spawnSync } from '../support/programs.ts'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { ChatRow } from '../../src/operators/chats.ts'
import { connectControl, type RunningSidecar } from '../../src/operators/client.ts'
import type { KeyRow } from '../../src/operators/keys.ts'
import type { OutboxRow } from '../../src/operators/outbox.ts'
import { NotStartedError, startSidecarProcess } from '../support/sidecar-process.ts'
import type { SidecarProcess } from '../support/sidecar-process.ts'
import type { History } from './history.ts'

const CLOCK = fileURLToPath(new URL('move-clock.ts', import.meta.url))
const DISK_BYTES = '24m'
const PASSPHRASE = 'correct-horse-battery-staple-0815'
const CLIENT_TOKEN = 'what-the-local-bot-presents-4711'

export interface KeeperOptions {
  upstreamUrl: string
  token: string
  history: History
  /** How old a chat's mode and key list may be. */
  cacheSeconds: number
  /** The part of the usual time for which updates are left at the service. */
  leavingFactor: number
  /** The database of several sidecars; a file in the data directory when not given. */
  storeUrl?: string
  /** What the environment does not set. */
  settings: object
  /** Setting `key.agent`. */
  agent: string | undefined
  /** So far its clock is off all the time; 0 when not given. */
  skewMs?: number
}

/** What an operator sees. */
export type Look = NonNullable<Awaited<ReturnType<Keeper['look']>>>

/** The sidecar of a run, across its lives. */
export class Keeper implements AsyncDisposable {
  readonly secrets: readonly string[]
  readonly clientToken: string = CLIENT_TOKEN
  readonly dataDir: string
  /** Whether the data directory is on a small disk of its own; that takes root. */
  readonly hasDisk: boolean
  readonly #home: string
  readonly #disk: string
  readonly #clockFile: string
  readonly #options: KeeperOptions
  #running: SidecarProcess | null = null
  #stopping = false
  #life = 0
  /** What former lives wrote. */
  #said: string[] = []

  constructor(options: KeeperOptions) {
    this.#options = options
    this.#home = mkdtempSync(join(tmpdir(), 'postern-faults-'))
    this.#disk = join(this.#home, 'disk')
    mkdirSync(this.#disk)
    this.hasDisk = mount(['-t', 'tmpfs', '-o', `size=${DISK_BYTES}`, 'none', this.#disk])
    this.dataDir = join(this.#disk, 'data')
    this.#clockFile = join(this.#home, 'clock')
    this.secrets = [options.token, PASSPHRASE, CLIENT_TOKEN]
    this.moveClock(0)
    writeFileSync(join(this.#home, 'postern.yaml'), JSON.stringify(options.settings))
  }

  /** Grows by one with each start. */
  get life(): number {
    return this.#life
  }

  /** Base URL of the bot's door; null while no sidecar runs. */
  get bot(): string | null {
    return this.#running?.bot ?? null
  }

  get admin(): string | null {
    return this.#running?.admin ?? null
  }

  /** Starts it. @throws NotStartedError */
  async start(): Promise<void> {
    this.#stopping = false
    const { storeUrl, agent } = this.#options
    try {
      const running = await startSidecarProcess({
        cwd: this.#home,
        node: [`--import=${CLOCK}`],
        env: {
          FAULTS_CLOCK_FILE: this.#clockFile,
          TESTS_LEAVING: String(this.#options.leavingFactor),
          POSTERN_CONFIG: join(this.#home, 'postern.yaml'),
          POSTERN_UPSTREAM_URL: this.#options.upstreamUrl,
          POSTERN_BOT_TOKEN: this.#options.token,
          POSTERN_BOT_CLIENT_TOKEN: CLIENT_TOKEN,
          POSTERN_KEY_PASSPHRASE: PASSPHRASE,
          POSTERN_DATA_DIR: this.dataDir,
          POSTERN_LOG_LEVEL: 'trace',
          ...(storeUrl !== undefined && { POSTERN_STORE_URL: storeUrl }),
          ...(agent !== undefined && { POSTERN_KEY_AGENT: agent }),
          POSTERN_CACHE_CHAT_SECONDS: String(this.#options.cacheSeconds),
          POSTERN_CACHE_KEY_LIST_SECONDS: String(this.#options.cacheSeconds),
        },
      })
      this.#running = running
      this.#life += 1
      void running.ended.then((code) => this.#noteEnd(running, code))
    } catch (error) {
      if (error instanceof NotStartedError) this.#said.push(error.output)
      throw error
    }
  }

  /** Ends it. After SIGTERM it must have ended by itself and well. */
  async stop(signal: 'SIGTERM' | 'SIGKILL'): Promise<void> {
    const running = this.#running
    if (running === null) return
    this.#stopping = true
    const code = await running.stop(signal)
    if (signal === 'SIGTERM' && code !== 0) {
      this.#options.history.breaches.push(`SIGTERM ended the sidecar with ${code}`)
    }
    this.#forget(running)
  }

  /** Stops it where it stands, until `resume`. */
  pause(): void {
    this.#running?.process.kill('SIGSTOP')
  }

  resume(): void {
    this.#running?.process.kill('SIGCONT')
  }

  /** Runs an operation of the running sidecar; null when none runs. @throws what it refuses with */
  async operate<T>(run: (control: RunningSidecar) => Promise<T>): Promise<T | null> {
    await using control = await connectControl(this.dataDir, 20_000)
    return control === null ? null : await run(control)
  }

  /** The chats and keys as an operator reads them; null when that fails. */
  async look(): Promise<{ chats: ChatRow[]; keys: KeyRow[] } | null> {
    const read = async (control: RunningSidecar) => {
      return { chats: await control.chatList(), keys: await control.keyList() }
    }
    return await this.operate(read).catch(() => null)
  }

  /** Whether the journal verifies, with a head that is signed now; null when that cannot be asked. */
  async journal() {
    const read = async (control: RunningSidecar) => {
      const head = await control.trustLogHead().catch(() => ({ signed: null }))
      return await control.trustLogVerify({ head: head.signed })
    }
    return await this.operate(read).catch(() => null)
  }

  /** What is in the outbox; null when that cannot be asked. */
  async outbox(): Promise<OutboxRow[] | null> {
    return await this.operate((control) => control.outboxList()).catch(() => null)
  }

  /** Takes what is left of the disk, but for a few bytes. */
  fillDisk(): void {
    const filler = `of=${join(this.#disk, 'filler')}`
    spawnSync('dd', ['if=/dev/zero', filler, 'bs=4k'], { stdio: 'ignore' })
  }

  emptyDisk(): void {
    rmSync(join(this.#disk, 'filler'), { force: true })
  }

  /** Only while no sidecar runs: an open file keeps its disk writable. */
  remount(how: 'ro' | 'rw'): boolean {
    return mount(['-o', `remount,${how}`, this.#disk])
  }

  /** How far its clock may jump in this run: seconds, or weeks, ms. */
  jumpsOf(far: readonly number[]): readonly number[] {
    return this.#options.history.hasFarClocks ? far : [-5000, 5000]
  }

  /** Puts the sidecar's clock so much ahead of everybody else's (or behind, below zero). */
  moveClock(offsetMs: number): void {
    writeFileSync(this.#clockFile, String(offsetMs + (this.#options.skewMs ?? 0)))
  }

  /** Everything that was written to any log. */
  output(): string {
    return [...this.#said, this.#running?.output() ?? ''].join('\n')
  }

  /** Every byte at rest, file by file. */
  atRest(): Buffer[] {
    if (!existsSync(this.dataDir)) return []
    const files = readdirSync(this.dataDir, { withFileTypes: true, recursive: true })
    return files
      .filter((file) => file.isFile())
      .map((file) => readFileSync(join(file.parentPath, file.name)))
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop('SIGKILL')
    if (this.hasDisk) spawnSync('umount', ['--lazy', this.#disk], { stdio: 'ignore' })
    rmSync(this.#home, { recursive: true, force: true })
  }

  #noteEnd(running: SidecarProcess, code: number | null): void {
    if (this.#running !== running || this.#stopping) return
    this.#options.history.breaches.push(`the sidecar ended by itself with ${code}`)
    this.#forget(running)
  }

  #forget(running: SidecarProcess): void {
    if (this.#running !== running) return
    this.#said.push(running.output())
    this.#running = null
  }
}

function mount(args: string[]): boolean {
  return spawnSync('mount', args, { stdio: 'ignore' }).status === 0
}
