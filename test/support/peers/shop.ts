/** A folder for what the programs are handed, and how they are run. */
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { run } from '../programs.ts'
import type { Bytes } from './peer.ts'

/** More than any of them needs, but for a large key of RSA. */
const SECONDS = 30
const LONG_SECONDS = 120
let numbered = 0

/** A folder for what the programs are handed. */
export class Shop {
  readonly folder: string
  readonly #made = new Map<string, Promise<string>>()
  readonly #ends: (() => void)[] = []

  constructor(folder: string) {
    this.folder = folder
  }

  onEnd(end: () => void): void {
    this.#ends.push(end)
  }

  end(): void {
    for (const end of this.#ends) end()
  }

  async file(content: Bytes): Promise<string> {
    const path = join(this.folder, `file-${++numbered}`)
    await writeFile(path, content)
    return path
  }

  files(all: readonly Bytes[]): Promise<string[]> {
    return Promise.all(all.map((one) => this.file(one)))
  }

  path(): string {
    return join(this.folder, `file-${++numbered}`)
  }

  /** A folder that is made once for its name. */
  once(name: string, make: (path: string) => Promise<void>): Promise<string> {
    const known = this.#made.get(name) ?? this.fresh(make)
    this.#made.set(name, known)
    return known
  }

  async fresh(make: (path: string) => Promise<void>): Promise<string> {
    const path = join(this.folder, `home-${++numbered}`)
    await mkdir(path, { mode: 0o700 })
    await make(path)
    return path
  }

  async run(program: string, args: string[], input: Bytes = '', seconds = SECONDS) {
    const env = { PATH: process.env['PATH'], HOME: this.folder, LC_ALL: 'C.UTF-8' }
    const options = { input, env, cwd: this.folder }
    const ran = await run('timeout', [String(seconds), program, ...args], options)
    return { isDone: ran.code === 0, stdout: ran.stdout, stderr: ran.stderr }
  }

  /** @throws Error with what the program printed last */
  async must(program: string, args: string[], input?: Bytes): Promise<string> {
    const { isDone, stdout, stderr } = await this.run(program, args, input, LONG_SECONDS)
    if (!isDone) throw new Error(stderr.trim().split('\n').at(-1)?.slice(0, 160) || 'no reason')
    return stdout.toString()
  }

  async version(program: string, ...args: string[]): Promise<string> {
    // the door to programs refuses one that is not there
    const ran = await run(program, args)
    return `${ran.stdout.toString()}${ran.stderr}`.split('\n')[0] ?? ''
  }
}
