/** Keeps a key agent running on one folder, across its lives: no sidecar of the run has a secret key. */
import type { ChildProcess } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import type { Random } from '../support/faults-random.ts'
import { spawnPostern } from '../support/postern-process.ts'
import type { Trouble } from './history.ts'
import { kill } from './service.ts'

export class Holder implements AsyncDisposable {
  readonly #folder = mkdtempSync(join(tmpdir(), 'pf-'))
  readonly #socket = join(this.#folder, 'a.sock')
  #child: ChildProcess | null = null
  #said = ''

  /** Setting `key.agent`. */
  get address(): string {
    return `unix:${this.#socket}`
  }

  async start(): Promise<void> {
    const child = spawnPostern(['agent', 'run', '--socket', this.#socket], {
      cwd: this.#folder,
      env: {
        PATH: '/usr/bin:/bin',
        HOME: this.#folder,
        POSTERN_DATA_DIR: join(this.#folder, 'data'),
        POSTERN_KEY_PROTECTION: 'none',
      },
    })
    this.#child = child
    let text = ''
    for await (const piece of child.stderr
      ?.setEncoding('utf8')
      .iterator({ destroyOnReturn: false }) ?? []) {
      text += piece as string
      if (text.includes('the key agent listens')) break
    }
    this.#said += text
    if (!text.includes('the key agent listens')) throw new Error(`the agent ended: ${text}`)
    child.stderr?.on('data', (piece: string) => (this.#said += piece))
  }

  async kill(): Promise<void> {
    await kill(this.#child)
    this.#child = null
  }

  pause(): void {
    this.#child?.kill('SIGSTOP')
  }

  resume(): void {
    this.#child?.kill('SIGCONT')
  }

  /** Everything that was written to any log. */
  output(): string {
    return this.#said
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.kill()
    rmSync(this.#folder, { recursive: true, force: true })
  }
}

/** What happens to it, and ends. */
export const HOLDER: Partial<Record<Trouble, (holder: Holder, random: Random) => Promise<void>>> = {
  'agent-killed': async (holder, random) => {
    await holder.kill()
    await pause(random.between(0, 2500))
    await holder.start()
  },
  'agent-stopped': async (holder, random) => {
    holder.pause()
    await pause(random.pick([500, 3000, 8000]))
    holder.resume()
  },
}
