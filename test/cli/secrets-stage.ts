/** A service, and a place for a sidecar that keeps secrets. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished, vi } from 'vitest'
import { createSandbox, type Sandbox } from '../../src/sandbox/create.ts'
import { postern, start, type Ended, type Started } from './support.ts'

export const PASSPHRASE = 'swordfish-swordfish'
export const OUT = 'the-way-out-passphrase'

export class Stage {
  readonly sandbox: Sandbox
  /** Where commands run; its data directory is below. */
  readonly cwd: string
  passphrase = PASSPHRASE
  #isPlain = false

  private constructor(sandbox: Sandbox, cwd: string) {
    this.sandbox = sandbox
    this.cwd = cwd
  }

  /** @param later is told how to clean up: after the test, unless told otherwise */
  static async make(later: (end: () => Promise<void>) => void = onTestFinished): Promise<Stage> {
    const sandbox = await createSandbox({ rates: 'off' })
    const cwd = mkdtempSync(join(tmpdir(), 'sec-'))
    later(async () => {
      await sandbox[Symbol.asyncDispose]()
      rmSync(cwd, { recursive: true, force: true })
    })
    return new Stage(sandbox, cwd)
  }

  /** One whose store has no protection, for what is not about that. */
  static async plain(): Promise<Stage> {
    const stage = await Stage.make()
    stage.#isPlain = true
    return stage
  }

  get dataDir(): string {
    return join(this.cwd, 'data')
  }

  path(name: string): string {
    return join(this.cwd, name)
  }

  env(more: Record<string, string> = {}): Record<string, string> {
    return {
      POSTERN_UPSTREAM_URL: this.sandbox.url,
      POSTERN_BOT_TOKEN: this.sandbox.token,
      POSTERN_KEY_PASSPHRASE: this.passphrase,
      ...(this.#isPlain && { POSTERN_KEY_PROTECTION: 'none' }),
      POSTERN_LISTEN_PORT: '0',
      POSTERN_ADMIN_PORT: '0',
      POSTERN_DATA_DIR: this.dataDir,
      ...more,
    }
  }

  /** Runs a command to its end. */
  async run(
    line: string,
    more: Record<string, string> = {},
    input?: string | Buffer,
  ): Promise<Ended> {
    const given = { cwd: this.cwd, env: this.env(more), ...(input !== undefined && { input }) }
    return await postern(line.split(' '), given)
  }

  /** Runs a command that must go well. @returns what it printed, trimmed */
  async does(
    line: string,
    more?: Record<string, string>,
    input?: string | Buffer,
  ): Promise<string> {
    const { code, stdout, stderr } = await this.run(line, more, input)
    if (code !== 0) throw new Error(`postern ${line}: ${stderr}`)
    return stdout.trim()
  }

  /** Starts the sidecar; it is ready, its key published, when this resolves. */
  async up(more: Record<string, string> = {}): Promise<Started> {
    const sidecar = start(['run'], {
      cwd: this.cwd,
      env: this.env({ POSTERN_LOG_LEVEL: 'info', ...more }),
    })
    const [, admin] = await sidecar.waitForStderr(/"admin":"([^"]+)"/)
    await vi.waitUntil(async () => (await fetch(`${admin}/readyz`)).ok, {
      timeout: 25_000,
      interval: 50,
    })
    return sidecar
  }

  /** Stops it, and sees that it ended well. */
  async down(sidecar: Started): Promise<void> {
    sidecar.process.kill('SIGTERM')
    const { code, stderr } = await sidecar.ended
    if (code !== 0) throw new Error(stderr)
  }

  /** The fingerprint that the service shows for the bot; null when none. */
  async shown(): Promise<string | null> {
    const headers = { authorization: `Bearer ${this.sandbox.token}` }
    const answer = await fetch(`${this.sandbox.url}/bot/v1/me`, { headers })
    const { result } = (await answer.json()) as { result: { fingerprint: string | null } }
    return result.fingerprint?.toLowerCase() ?? null
  }
}
