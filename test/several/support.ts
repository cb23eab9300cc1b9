/** Several bots of one sandbox behind one sidecar, in this process. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { loadSeveral } from '../../src/config/load.ts'
import type { LoadedBots } from '../../src/config/read-several.ts'
import type { Sources } from '../../src/config/sources.ts'
import { createSeveral, type Several } from '../../src/context.ts'
import type { MeasuredEngine } from '../../src/openpgp/index.ts'
import { createSandbox, type Sandbox } from '../../src/sandbox/create.ts'
import { canaries } from '../support/canaries.ts'
import { calledOf, callAt, type Called } from '../support/bot-call.ts'
import { sourcesOf } from '../support/sources.ts'
import { until } from '../support/sidecar.ts'
import { watchedLog } from '../support/watched-log.ts'

export interface StageOptions {
  /** Names of the bots that are there from the beginning. */
  bots: readonly string[]
  env?: Record<string, string>
  engine?: MeasuredEngine
  /** Serves the bots of another stage, from a data directory of its own: a replica. */
  beside?: Stage
}

/** Starts a sandbox with a bot for each name, and what serves them. */
export async function startStage(options: StageOptions): Promise<Stage> {
  const stack = new AsyncDisposableStack()
  const root = mkdtempSync(join(tmpdir(), 'several-'))
  stack.defer(() => rmSync(root, { recursive: true, force: true }))
  const sandbox = options.beside?.sandbox ?? stack.use(await createSandbox({ rates: 'off' }))
  const stage = new Stage(root, sandbox, options, stack)
  for (const name of options.bots) await stage.write(name)
  await stage.start()
  return stage
}

export class Stage implements AsyncDisposable {
  readonly root: string
  readonly sandbox: Sandbox
  /** Every line that was logged. */
  readonly lines: Record<string, unknown>[] = []
  /** By the name of the bot. */
  readonly tokens: Map<string, string>
  readonly ids: Map<string, number>
  url = ''
  adminUrl = ''
  readonly #options: StageOptions
  readonly #stack: AsyncDisposableStack
  #several: Several | null = null

  constructor(root: string, sandbox: Sandbox, options: StageOptions, stack: AsyncDisposableStack) {
    this.root = root
    this.sandbox = sandbox
    this.#options = options
    this.#stack = stack
    this.tokens = options.beside?.tokens ?? new Map()
    this.ids = options.beside?.ids ?? new Map()
    mkdirSync(this.folder, { recursive: true })
  }

  get folder(): string {
    return this.#options.beside?.folder ?? join(this.root, 'bots.d')
  }

  get dataDir(): string {
    return join(this.root, 'data')
  }

  /** The store of a bot. */
  storeOf(name: string): string {
    return join(this.dataDir, 'bots', name)
  }

  get several(): Several {
    if (this.#several === null) throw new Error('not started')
    return this.#several
  }

  /** Writes a bot's file, with more settings of its own; the bot is made where there is none yet. */
  async write(name: string, more: object = {}): Promise<void> {
    if (!this.tokens.has(name)) {
      const made = await this.sandbox.control.addBot({ username: `${name}_of_several_bot` })
      this.tokens.set(name, made.token)
      this.ids.set(name, made.id)
      canaries()?.secret(made.token)
    }
    const entry = { token: this.tokens.get(name), ...more }
    writeFileSync(join(this.folder, `${name}.yaml`), JSON.stringify(entry), { mode: 0o600 })
  }

  /** The same, and has the files read again. */
  async add(name: string, more: object = {}): Promise<void> {
    await this.write(name, more)
    await this.several.reload()
  }

  /** Takes a bot's file away, and has the files read again. */
  async drop(name: string): Promise<void> {
    this.remove(name)
    await this.several.reload()
  }

  /** Takes a bot's file away. */
  remove(name: string): void {
    rmSync(join(this.folder, `${name}.yaml`))
  }

  async start(): Promise<void> {
    const log = watchedLog((line) => this.lines.push(line))
    const { engine } = this.#options
    this.#several = await createSeveral({
      loaded: this.#load(),
      log,
      logOf: ({ name }) => log.child({ bot: name }),
      load: () => this.#load(),
      parts: engine === undefined ? {} : { engine },
    })
    const addresses = await this.several.listen()
    this.url = addresses.bot
    this.adminUrl = addresses.admin
  }

  async stop(): Promise<void> {
    await this.#several?.[Symbol.asyncDispose]()
    this.#several = null
  }

  /** Waits until these bots are ready. */
  async ready(...names: string[]): Promise<void> {
    const isReady = (name: string): boolean =>
      this.several.report().bots.some((bot) => bot.name === name && bot.ready)
    await until(() => names.every(isReady), 'all are ready').catch((cause: unknown) => {
      const reasons = names.map(
        (name) => `${name}: ${this.reasons(name)?.join(' ') ?? 'not there'}`,
      )
      throw new Error(`not ready: ${reasons.join(', ')}`, { cause })
    })
  }

  /** Codes of the reasons why a bot is not ready. */
  reasons(name: string): string[] | undefined {
    const bot = this.several.report().bots.find((one) => one.name === name)
    return bot?.reasons.map(({ code }) => code)
  }

  /** A call with a bot's token, or with `token`. */
  async call(
    name: string,
    method: string,
    path: string,
    o: { body?: unknown; token?: string; signal?: AbortSignal } = {},
  ): Promise<Called> {
    const { token = this.tokens.get(name) ?? '', ...more } = o
    return await callAt(this.url, token, { method, path, ...more })
  }

  /** The private chat of Alice, whose phone is made, with a bot. */
  async chatOf(name: string): Promise<number> {
    const { alice } = this.sandbox.home
    await this.sandbox.phone(alice.id)
    const botId = this.ids.get(name) ?? 0
    return (await this.sandbox.control.addPrivateChat({ userId: alice.id, botId })).id
  }

  /** Asks the admin door. */
  async admin(path: string): Promise<Called> {
    return await calledOf(await fetch(this.adminUrl + path))
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop()
    await this.#stack.disposeAsync()
  }

  #load(): LoadedBots {
    return loadSeveral(this.sources)
  }

  get sources(): Sources {
    const { root } = this
    const env = {
      POSTERN_UPSTREAM_URL: this.sandbox.url,
      POSTERN_BOTS: this.folder,
      POSTERN_DATA_DIR: this.dataDir,
      POSTERN_LISTEN_PORT: '0',
      POSTERN_ADMIN_PORT: '0',
      POSTERN_KEY_PROTECTION: 'none',
      ...this.#options.env,
    }
    return sourcesOf(env, root)
  }
}
