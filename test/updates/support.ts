/** A sandbox with a sidecar before it, in this process, for the tests of this folder. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { onTestFinished } from 'vitest'
import { SecretSource } from '../../src/config/secrets.ts'
import { settingsFrom } from '../../src/config/settings.ts'
import { watchedLog } from '../support/watched-log.ts'
import { createSidecar, type Sidecar } from '../../src/context.ts'
import { createSandbox, type Sandbox, type SandboxOptions } from '../../src/sandbox/create.ts'
import { REAL_CLOCK } from '../../src/util/clock.ts'
import { callAt, type BotCall } from '../support/bot-call.ts'
import type { Json } from '../support/double-wire.ts'
import { SandboxClock } from '../contract/ways/sandbox-clock.ts'

export interface SceneOptions {
  /** False: a bot without a key. */
  publish?: boolean
  /** `still`: sandbox and sidecar go by a clock that moves when the test says so; `real` otherwise. */
  time?: 'still' | 'real'
  /** `auto`: as there is no passphrase, the store has nothing to seal secrets under. */
  protection?: 'none' | 'auto'
  /** What stands for DNS. */
  hosts?: Record<string, string[]>
  allowHosts?: string[]
  /** Further settings. */
  settings?: object
  sandbox?: SandboxOptions
  /** A sandbox that there is already. */
  on?: Sandbox
  /** Other than the sandbox: a proxy before it. */
  upstream?: (sandbox: Sandbox) => Promise<string>
  /** A folder of its own when not given. */
  dataDir?: string
}

/** For what has nothing to do with sealing: no key, quick to make. */
export const PLAIN = { publish: false } as const

/** What the bot gets for a call. */
export interface Called {
  status: number
  text: string
  result: Json
  code: string | undefined
}

export class Scene {
  readonly sandbox: Sandbox
  readonly clock: SandboxClock
  readonly dataDir: string
  /** Every line of the log, in all the sidecar's lives. */
  readonly lines: Json[] = []
  readonly #options: SceneOptions
  readonly #upstream: string
  #sidecar: Sidecar | null = null
  #addresses = { bot: '', admin: '' }

  constructor(o: { sandbox: Sandbox; dataDir: string; upstream: string; options: SceneOptions }) {
    this.sandbox = o.sandbox
    this.clock = new SandboxClock(o.sandbox)
    this.dataDir = o.dataDir
    this.#upstream = o.upstream
    this.#options = o.options
  }

  get sidecar(): Sidecar {
    if (this.#sidecar === null) throw new Error('no sidecar runs')
    return this.#sidecar
  }

  async start(): Promise<void> {
    const { publish = true, time = 'still', hosts = {}, allowHosts, settings } = this.#options
    const { protection = 'none' } = this.#options
    this.#sidecar = await createSidecar({
      settings: settingsFrom({
        upstream: { url: this.#upstream },
        listen: { port: 0 },
        admin: { port: 0 },
        dataDir: this.dataDir,
        key: { publish, protection },
        ...(allowHosts !== undefined && { webhook: { allowHosts } }),
        ...settings,
      }),
      secrets: {
        botToken: SecretSource.fromValue(this.sandbox.token),
        clientToken: null,
        passphrase: null,
      },
      log: watchedLog((line) => this.lines.push(line)),
      parts: {
        clock: time === 'still' ? this.clock : REAL_CLOCK,
        resolveHost: (host) => Promise.resolve(hosts[host] ?? []),
      },
    })
    this.#addresses = await this.#sidecar.listen()
    await until(async () => {
      const { reasons } = await this.ready()
      return !reasons.some(({ code }) => code === 'starting' || code === 'key-unpublished')
    })
  }

  async stop(): Promise<void> {
    await this.#sidecar?.[Symbol.asyncDispose]()
    this.#sidecar = null
  }

  async restart(): Promise<void> {
    await this.stop()
    await this.start()
  }

  /** A call of the bot's, below `/bot/v1`. */
  async call(
    method: string,
    path: string,
    body?: unknown,
    headers: Record<string, string> = {},
  ): Promise<Called> {
    return await resultAt(this.#addresses.bot, this.sandbox.token, { method, path, body, headers })
  }

  /** The same of another caller. */
  async callAs(token: string, method: string, path: string, body?: unknown): Promise<Called> {
    return await resultAt(this.#addresses.bot, token, { method, path, body })
  }

  /** A call of the bot's straight to the service. */
  async past(method: string, path: string, body?: unknown): Promise<Called> {
    return await resultAt(this.sandbox.url, this.sandbox.token, { method, path, body })
  }

  async ready(): Promise<{ status: number; reasons: { code: string; message: string }[] }> {
    const response = await fetch(`${this.#addresses.admin}/readyz`)
    const { reasons } = (await response.json()) as { reasons: [] }
    return { status: response.status, reasons }
  }

  async reason(code: string): Promise<string | null> {
    const { reasons } = await this.ready()
    return reasons.find((one) => one.code === code)?.message ?? null
  }

  /** Waits until the sidecar waits for just so long, and lets that pass. */
  async pass(ms: number): Promise<void> {
    await until(() => this.clock.waits.includes(ms))
    await this.clock.advance(ms)
  }

  /** The value of a metric; its labels as they stand in the line. */
  async metric(name: string): Promise<number> {
    const text = await (await fetch(`${this.#addresses.admin}/metrics`)).text()
    const line = text.split('\n').find((one) => one.startsWith(`postern_${name} `))
    return Number(line?.split(' ').at(-1) ?? Number.NaN)
  }

  /** Alice writes to the bot so many times, in private if not said otherwise; gives her words. */
  async write(count: number, chatId = this.sandbox.home.privateChat): Promise<string[]> {
    const { alice: person, bot, privateChat } = this.sandbox.home
    const alice = await this.sandbox.phone(person.id)
    const words: string[] = []
    // in a group the bot gets what is addressed to it
    const to = chatId === privateChat ? '' : `@${bot.username} `
    for (let n = 0; n < count; n++) {
      const text = `${to}words ${++written}`
      await alice.write(chatId, text)
      words.push(text)
    }
    return words
  }

  /** Paths of the calls that the service got since a mark. */
  calls(since: number): string[] {
    return this.sandbox.transcript.list(since).map(({ method, path }) => `${method} ${path}`)
  }

  mark(): number {
    return this.sandbox.transcript.list().at(-1)?.n ?? 0
  }
}

let written = 0

/** Sandbox and sidecar, which end with the test. */
export async function openScene(options: SceneOptions = {}): Promise<Scene> {
  const folder = await mkdtemp(join(tmpdir(), 'postern-updates-'))
  const clock = (options.time ?? 'still') === 'still' ? 'still' : 'running'
  const sandbox = options.on ?? (await createSandbox({ clock, rates: 'off', ...options.sandbox }))
  const upstream = (await options.upstream?.(sandbox)) ?? sandbox.url
  const { dataDir = join(folder, 'data') } = options
  const scene = new Scene({ sandbox, dataDir, upstream, options })
  onTestFinished(async () => {
    await scene.stop()
    if (options.on === undefined) await sandbox[Symbol.asyncDispose]()
    await rm(folder, { recursive: true, force: true })
  })
  await scene.start()
  return scene
}

/** Looks until something is so. */
export async function until<T>(look: () => T | Promise<T>): Promise<T> {
  const endMs = performance.now() + 90_000
  for (;;) {
    const found = await look()
    if (found !== false && found !== null && found !== undefined) return found
    if (performance.now() > endMs) throw new Error(`in vain: ${look.toString()}`)
    await pause(10)
  }
}

async function resultAt(base: string, token: string, call: BotCall): Promise<Called> {
  const { status, text, json } = await callAt(base, token, call)
  return { status, text, result: json.result, code: json.error?.code }
}
