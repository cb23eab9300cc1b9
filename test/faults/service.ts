/** The service of a run: a process that can be killed, and goes on at its addresses in its file. */
import type { ChildProcess } from 'node:child_process'
import { spawn } from '../support/programs.ts'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { createControlClient, type Control } from '../../src/sandbox/control/table.ts'
import { ControlError } from '../../src/sandbox/control/operation.ts'
import type { ServiceLine } from './service-process.ts'
import { mortal } from '../support/mortal.ts'

const PROCESS = fileURLToPath(new URL('service-process.ts', import.meta.url))
const RETRY_MS = 50

/** Ends a process that may have ended already. */
export async function kill(child: ChildProcess | null): Promise<void> {
  if (child === null || child.exitCode !== null) return
  const ended = once(child, 'exit')
  child.kill('SIGKILL')
  await ended
}

export class Service implements AsyncDisposable {
  readonly #folder = mkdtempSync(join(tmpdir(), 'postern-faults-service-'))
  #child: ChildProcess | null = null
  #line: ServiceLine | null = null
  /** What its processes wrote to stderr: a service has nothing to say. */
  #said = ''

  private constructor() {}

  static async start(): Promise<Service> {
    const service = new Service()
    await service.#start()
    return service
  }

  get url(): string {
    return this.#known().url
  }

  get home(): ServiceLine['home'] {
    return this.#known().home
  }

  /** One try each: what does not answer may have happened or not. */
  get control(): Control {
    return createControlClient(this.#known().controlUrl)
  }

  /** Kills it and starts it again, on the same ports and file. */
  async killAndRestart(downMs: number): Promise<void> {
    await this.#kill()
    await pause(downMs)
    await this.#start()
  }

  /**
   * Asks the control until it answers; only for what does no harm twice.
   * @throws ControlError when the answer is no
   */
  async surely<T>(ask: (control: Control) => Promise<T>): Promise<T> {
    for (;;) {
      try {
        return await ask(this.control)
      } catch (error) {
        if (error instanceof ControlError) throw error
        await pause(RETRY_MS)
      }
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#kill()
    rmSync(this.#folder, { recursive: true, force: true })
  }

  async #start(): Promise<void> {
    const portOf = (url: string | undefined) => (url === undefined ? 0 : Number(new URL(url).port))
    const options = {
      data: join(this.#folder, 'service.world'),
      port: portOf(this.#line?.url),
      controlPort: portOf(this.#line?.controlUrl),
    }
    const child = spawn(...mortal(process.execPath, [PROCESS, JSON.stringify(options)]))
    this.#child = child
    child.stderr.setEncoding('utf8').on('data', (text: string) => (this.#said += text))
    const ended = once(child, 'close').then(() => {
      throw new Error(`the service ended by itself: ${this.#said}`)
    })
    // who waits for its end is told, and nobody has to
    ended.catch(() => undefined)
    let text = ''
    for await (const piece of child.stdout.setEncoding('utf8') as AsyncIterable<string>) {
      text += piece
      if (text.includes('\n')) break
    }
    if (!text.includes('\n')) await ended
    this.#line = JSON.parse(text) as ServiceLine
  }

  async #kill(): Promise<void> {
    await kill(this.#child)
    this.#child = null
  }

  #known(): ServiceLine {
    if (this.#line === null) throw new Error('the service was never started')
    return this.#line
  }
}
