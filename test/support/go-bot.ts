/** A bot in Go, whose parser folds the case of names: what it reads in an answer. */
import { cp, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { run, works } from './programs.ts'
import type { Json } from './double-wire.ts'

/** `go` has no `--version`. */
export const hasGo = works('go is not installed', 'go', 'version')

/** What Go made of its library, which takes it long, for all tests. */
export const GO_CACHE = join(tmpdir(), 'postern-tests-go')

export class GoBot implements AsyncDisposable {
  readonly #folder: string

  private constructor(folder: string) {
    this.#folder = folder
  }

  /** Builds it, without a network and without anything of the machine's own. */
  static async build(): Promise<GoBot> {
    const folder = await mkdtemp(join(tmpdir(), 'go-bot-'))
    await cp(join(import.meta.dirname, 'go-bot'), folder, { recursive: true })
    const env = {
      PATH: process.env['PATH'],
      HOME: folder,
      GOCACHE: join(folder, 'cache'),
      GOPATH: join(folder, 'path'),
      GOFLAGS: '-mod=mod',
      GOPROXY: 'off',
      GO111MODULE: 'off',
      CGO_ENABLED: '0',
    }
    const { code, stderr } = await run('go', ['build', '-o', 'bot', 'main.go'], {
      cwd: folder,
      env,
    })
    if (code !== 0) throw new Error(`go build: ${stderr}`)
    return new GoBot(folder)
  }

  async read(text: string): Promise<Json> {
    const { stdout } = await run(join(this.#folder, 'bot'), [], { input: text })
    return JSON.parse(stdout.toString())
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await rm(this.#folder, { recursive: true, force: true, maxRetries: 5 })
  }
}
