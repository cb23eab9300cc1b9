/**
 * Runs an image as a careful operator would have it run: read-only root, one volume, its own
 * user, no new privileges, first process of its namespace. The network is that of this machine.
 */
import type { ChildProcess } from 'node:child_process'
import { type Ran, run, spawn } from '../support/programs.ts'
import { once } from 'node:events'
import { mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { until } from '../support/sidecar.ts'
import type { Image } from './image.ts'
import { mortal } from '../support/mortal.ts'

/** `$1` root, `$2` folder of the volume, `$3` of the secrets, `$4` where to start, `$5` `$6` ids. */
const START = `
set -e
mount --bind "$1" "$1"
mount --bind "$2" "$1/var/lib/postern"
mount --bind "$3" "$1/run/secrets"
mount -t proc proc "$1/proc"
mount -o remount,bind,ro "$1"
root=$1 at=$4 uid=$5 gid=$6
shift 6
exec setpriv --no-new-privs --clear-groups \\
  unshare --root="$root" --wd="$at" --setgid="$gid" --setuid="$uid" "$@"
`

export interface ContainerOptions {
  /** A folder of this machine that is mounted at /var/lib/postern. */
  volume: string
  /** A folder of this machine that is mounted at /run/secrets. */
  secrets: string
  env: Record<string, string>
  /** What stands behind the name of the image; the image's own when absent. */
  args?: string[]
}

/** A container that was started. */
export class Container implements AsyncDisposable {
  readonly #image: Image
  readonly #outer: ChildProcess
  readonly #said: () => string

  constructor(image: Image, outer: ChildProcess) {
    const chunks: Buffer[] = []
    outer.stderr?.on('data', (chunk: Buffer) => chunks.push(chunk))
    this.#image = image
    this.#outer = outer
    this.#said = () => Buffer.concat(chunks).toString()
  }

  /** The first that it writes to stdout, where it was started with arguments. */
  async printed(): Promise<string> {
    const [chunk] = (await once(this.#outer.stdout as NodeJS.EventEmitter, 'data')) as [Buffer]
    return String(chunk)
  }

  /** What it wrote to stderr. */
  logs(): string {
    return this.#said()
  }

  /** The process that is the container's first, as this machine numbers it. */
  get pid(): number {
    const { pid } = this.#outer
    return Number(readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim())
  }

  /** A line of the process's `/proc/PID/status`. */
  fact(name: string): string {
    const status = readFileSync(`/proc/${this.pid}/status`, 'utf8')
    return new RegExp(`^${name}:\\s*(.*)$`, 'm').exec(status)?.[1] ?? ''
  }

  /** The addresses that it listens on, once it does. */
  async listening(): Promise<{ bot: string; admin: string }> {
    const line = await until(
      () => {
        if (this.#outer.exitCode !== null) throw new Error(`it ended: ${this.logs()}`)
        return /^\{.*"msg":"listening".*$/m.exec(this.logs())?.[0]
      },
      'the container listens',
      60_000,
    )
    return JSON.parse(line) as { bot: string; admin: string }
  }

  /** Runs a command inside, as `docker exec` would; as root when asked for. */
  async exec(command: string[], user: 'own' | 'root' = 'own'): Promise<Ran> {
    const [uid, gid] = user === 'own' ? this.#image.config.User.split(':') : ['0', '0']
    const into = ['--target', String(this.pid), '--mount', '--pid', '--root', '--wd']
    return await run('nsenter', [...into, `--setuid=${uid}`, `--setgid=${gid}`, '--', ...command], {
      env: environment(this.#image),
    })
  }

  /** Sends a signal to its first process. @returns the exit code */
  async end(signal: NodeJS.Signals): Promise<number | null> {
    process.kill(this.pid, signal)
    if (this.#outer.exitCode === null) await once(this.#outer, 'exit')
    return this.#outer.exitCode
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#outer.exitCode !== null || this.#outer.signalCode !== null) return
    this.#outer.kill('SIGKILL')
    await once(this.#outer, 'exit')
  }
}

/** Starts the image's own command. */
export function startContainer(image: Image, options: ContainerOptions): Container {
  const { root, config } = image
  const [uid = '', gid = ''] = config.User.split(':')
  for (const at of ['proc', 'run/secrets']) mkdirSync(join(root, at), { recursive: true })
  const places = [root, options.volume, options.secrets, config.WorkingDir, uid, gid]
  const command = [...config.Entrypoint, ...(options.args ?? config.Cmd)]
  const apart = ['--mount', '--pid', '--fork', '--kill-child']
  const child = spawn(
    ...mortal('unshare', [...apart, 'sh', '-c', START, 'sh', ...places, ...command]),
    {
      env: { ...environment(image), ...options.env },
      stdio: ['ignore', options.args === undefined ? 'ignore' : 'pipe', 'pipe'],
    },
  )
  return new Container(image, child)
}

const environment = ({ config }: Image): Record<string, string> =>
  Object.fromEntries(
    config.Env.map((one) => [one.slice(0, one.indexOf('=')), one.slice(one.indexOf('=') + 1)]),
  )
