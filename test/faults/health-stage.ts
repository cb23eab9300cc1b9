/** A sandbox with an idle sidecar before it, as a process of its own, for faults of health. */
import { spawnSync } from '../support/programs.ts'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import type { Server } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createSandbox, type Sandbox } from '../../src/sandbox/create.ts'
import { callAt, type BotCall } from '../support/bot-call.ts'
import type { Json } from '../support/double-wire.ts'
import { settings, startSidecar, type Sidecar } from '../support/sidecar.ts'

export class HealthStage implements AsyncDisposable {
  readonly folder = mkdtempSync(join(tmpdir(), 'postern-health-'))
  readonly tokenFile = join(this.folder, 'token')
  dataDir = join(this.folder, 'disk', 'data')
  /** Whether the data directory is on a disk of its own that can be filled. */
  readonly isOnSmallDisk: boolean
  sandbox!: Sandbox
  sidecar!: Sidecar
  token = ''
  /** When the active key ends, once it was given an end. */
  keyEndsMs = Infinity
  readonly #servers: Server[] = []
  #polling = new AbortController()
  #pollingPast = new AbortController()

  readonly #isInside: boolean

  private constructor(isInside: boolean) {
    this.#isInside = isInside
    const disk = join(this.folder, 'disk')
    mkdirSync(disk)
    this.isOnSmallDisk = !isInside && mounts(disk)
  }

  /** @param o `inside`: the sidecar runs in this process, and on no disk of its own */
  static async begin({ inside = false } = {}): Promise<HealthStage> {
    const stage = new HealthStage(inside)
    await stage.beginAnew()
    await stage.start()
    await stage.sidecar.whenReady()
    return stage
  }

  get bot(): { botId: number } {
    return { botId: this.sandbox.home.bot.id }
  }

  /** The settings of the sidecar, as environment. */
  get env(): Record<string, string> {
    return settings({ upstream: this.sandbox.url, dataDir: this.dataDir, env: this.#env })
  }

  get #env(): Record<string, string> {
    return { POSTERN_BOT_TOKEN_FILE: this.tokenFile, POSTERN_LOG_LEVEL: 'info' }
  }

  /** Another service and an empty store; no sidecar runs. */
  async beginAnew(): Promise<void> {
    await this.stop()
    await this.sandbox?.[Symbol.asyncDispose]()
    rmSync(this.dataDir, { recursive: true, force: true })
    this.sandbox = await createSandbox({ rates: 'off', webhooks: 'local' })
    this.token = this.sandbox.token
    writeFileSync(this.tokenFile, this.token, { mode: 0o600 })
  }

  async start(): Promise<void> {
    const options = { upstream: this.sandbox.url, dataDir: this.dataDir, env: this.#env }
    this.sidecar = await startSidecar({ ...options, inside: this.#isInside })
  }

  async stop(): Promise<void> {
    this.stopPolling()
    this.stopPollingPast()
    await this.sidecar?.stop()
  }

  /** Ends with the stage. */
  use(server: Server): void {
    this.#servers.push(server)
  }

  /** From now on `/me` is answered as the world has it, but for this. */
  async claim(more: object, headers: Record<string, string> = {}): Promise<void> {
    const me: Json = await this.me()
    const body = JSON.stringify({ ok: true, result: { ...me, ...more } })
    await this.sandbox.control.fault({ name: 'answer', route: 'getMe', status: 200, headers, body })
  }

  /** What the service says of the bot. */
  async me(): Promise<Json> {
    return (await this.past('GET', '/me')).result
  }

  /** A call past the sidecar. */
  async past(method: string, path: string, body?: object): Promise<Json> {
    return await this.#callAt(this.sandbox.url, { method, path, body })
  }

  /** A call of the bot's. */
  async call(method: string, path: string, body?: object): Promise<Json> {
    return await this.#callAt(this.sidecar.url, { method, path, body })
  }

  /** Alice writes to the bot. */
  async write(): Promise<void> {
    const { alice, privateChat } = this.sandbox.home
    await (await this.sandbox.phone(alice.id)).write(privateChat, 'words')
  }

  /** The bot polls from now on. */
  poll(): void {
    this.#polling = this.#pollAt(this.sidecar.url)
  }

  stopPolling(): void {
    this.#polling.abort()
  }

  /** Somebody polls past the sidecar. */
  pollPast(): void {
    this.#pollingPast = this.#pollAt(this.sandbox.url)
  }

  stopPollingPast(): void {
    this.#pollingPast.abort()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop()
    await this.sandbox[Symbol.asyncDispose]()
    for (const server of this.#servers) {
      server.closeAllConnections()
      server.close()
    }
    if (this.isOnSmallDisk) spawnSync('umount', ['-l', join(this.folder, 'disk')])
    rmSync(this.folder, { recursive: true, force: true })
  }

  #pollAt(base: string): AbortController {
    const end = new AbortController()
    const { signal } = end
    const headers = { authorization: `Bearer ${this.token}` }
    const poll = async (): Promise<void> => {
      while (!signal.aborted) {
        await fetch(`${base}/bot/v1/updates?timeout=50`, { headers, signal }).then(
          (response) => response.text(),
          () => '',
        )
        // both would end each other's polls as fast as they can
        await new Promise((resolve) => setTimeout(resolve, 1000))
      }
    }
    void poll()
    return end
  }

  async #callAt(base: string, call: BotCall): Promise<Json> {
    const { json } = await callAt(base, this.token, call)
    if (json.ok === true) return json
    throw new Error(`${call.method} ${call.path}: ${JSON.stringify(json.error)}`)
  }
}

const mounts = (disk: string): boolean =>
  spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=8m', 'none', disk]).status === 0
