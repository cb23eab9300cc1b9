/** A real PostgreSQL for tests: one cluster for a run, begun by whoever needs it first. */
import { execFileSync, isQuickRun, spawn } from './programs.ts'
import { randomBytes } from 'node:crypto'
import {
  chmodSync,
  chownSync,
  existsSync,
  globSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onceInRun, runFolder } from './run-folder.ts'
import { has } from './lacks.ts'
import { isRunning } from './mortal.ts'

/** What the cluster of a run is called in its folder. */
const SHARED = 'pg'
/** The name of a server's socket in its folder. */
export const SOCKET = '.s.PGSQL.5432'

/** Nothing that tests write must survive the machine; what must is tested on a cluster of its own. */
const FAST = ['fsync=off', 'full_page_writes=off', 'autovacuum=off', 'max_connections=200']

/** Of Vitest's global setup: ends the cluster of the run, if a test asked for one. */
export function stopSharedCluster(): void {
  const folder = join(runFolder(), SHARED)
  if (existsSync(join(folder, 'data'))) new Cluster(folder).stop('immediate')
}

/** Whether a server is installed, and this run may start it. */
export function hasPostgres(): boolean {
  if (isQuickRun()) return has(false, 'PostgreSQL is left to npm run test:system')
  return has(binFolder() !== undefined, 'PostgreSQL is not installed')
}

/** The cluster of this run; it is begun when it is first asked for. */
export async function sharedCluster(): Promise<Cluster> {
  const folder = await onceInRun(SHARED, (made) => {
    // its user must find it
    chmodSync(runFolder(), 0o755)
    const cluster = new Cluster(made)
    cluster.create()
    cluster.start(FAST)
  })
  return new Cluster(folder)
}

/** A cluster of a test file's own, which it may stop, starve and take away. Begin it in `beforeAll`. */
export function ownCluster(): { cluster: Cluster; [Symbol.dispose](): void } {
  return clusterOf((cluster) => cluster.create())
}

function clusterOf(create: (cluster: Cluster) => void) {
  const folder = mkdtempSync(join(tmpdir(), 'pg-'))
  const cluster = new Cluster(folder)
  create(cluster)
  return {
    cluster,
    [Symbol.dispose]() {
      try {
        cluster.stop('immediate')
      } catch {
        // it does not run
      }
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** A standby that follows a cluster, by name, as far as that one has written; it does not run yet. */
export function standbyOf(
  primary: Cluster,
  name: string,
): { cluster: Cluster; [Symbol.dispose](): void } {
  return clusterOf((cluster) => cluster.createStandby(primary, name))
}

/** A name for a schema that nobody has. */
export const freshSchema = (): string => `t_${randomBytes(8).toString('hex')}`

/** A cluster in a folder of its own, which holds its socket too; it listens nowhere else. */
export class Cluster {
  readonly folder: string
  #port = 5432

  constructor(folder: string) {
    this.folder = folder
  }

  /** Of its superuser, who is let in without a password. */
  get url(): string {
    return this.urlOf('postern')
  }

  urlOf(user: string, database = 'postgres'): string {
    const place = new URLSearchParams({ host: this.folder, port: String(this.#port) })
    return `postgres://${user}@/${database}?${place}`
  }

  get #data(): string {
    return join(this.folder, 'data')
  }

  /** initdb, which refuses root: then it is the user `postgres`, as the server is. */
  create(): void {
    this.#giveFolder()
    const options = ['-U', 'postern', '--auth=trust', '--no-sync', '-E', 'UTF8', '--locale=C']
    this.#run('initdb', '-D', this.#data, ...options)
  }

  /** A copy of a primary that runs, which will go on to follow it (pg_basebackup). */
  createStandby(primary: Cluster, name: string): void {
    this.#giveFolder()
    const from = `host=${primary.folder} port=${primary.#port} user=postern application_name=${name}`
    const options = ['--write-recovery-conf', '--checkpoint=fast', '--no-sync']
    this.#run('pg_basebackup', '-d', from, '-D', this.#data, ...options)
  }

  /** Makes a standby a primary, which is over when this returns. */
  promote(): void {
    this.#run('pg_ctl', '-D', this.#data, '-w', 'promote')
  }

  /** Ends it without a word, as a machine does that loses its power. */
  kill(): void {
    // it must have no more children than those that are listed
    for (const pid of this.pids().slice(0, 1)) signalTo(pid, 'SIGSTOP')
    const pids = this.pids()
    for (const pid of pids) signalTo(pid, 'SIGKILL')
    while (pids.some(isRunning)) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 20)
    // its number may be taken for a server that runs, until somebody has asked how it ended
    rmSync(join(this.#data, 'postmaster.pid'), { force: true })
    rmSync(join(this.folder, `.s.PGSQL.${this.#port}.lock`), { force: true })
  }

  #giveFolder(): void {
    chmodSync(this.folder, 0o755)
    const user = serverUser()
    if (user !== null) chownSync(this.folder, user, user)
  }

  /**
   * @param settings as in postgresql.conf, `name=value`
   * @param o `port` of this machine that it listens on too
   */
  start(settings: readonly string[] = [], { port }: { port?: number } = {}): void {
    this.#port = port ?? this.#port
    const listens = port === undefined ? ["listen_addresses=''"] : ['listen_addresses=127.0.0.1']
    const places = [...listens, `unix_socket_directories=${this.folder}`]
    const all = [...settings, ...places, ...(port === undefined ? [] : [`port=${port}`])]
    const options = all.map((one) => `-c ${one}`).join(' ')
    const log = join(this.folder, 'log')
    this.#run('pg_ctl', '-D', this.#data, '-l', log, '-o', options, '-w', 'start')
    this.#stopWithin(process.ppid)
  }

  stop(mode: 'fast' | 'immediate'): void {
    this.#run('pg_ctl', '-D', this.#data, '-m', mode, '-w', 'stop')
  }

  /** Stops it, at the latest when a process is gone: nothing outlives a run that is cut short. */
  #stopWithin(pid: number): void {
    const [server = ''] = readFileSync(join(this.#data, 'postmaster.pid'), 'utf8').split('\n')
    const script =
      'while kill -0 "$1" && kill -0 "$2"; do sleep 1; done 2>/dev/null; kill -QUIT "$2" 2>/dev/null'
    const args = ['-c', script, 'sh', String(pid), server]
    spawn('sh', args, { detached: true, stdio: 'ignore' }).unref()
  }

  /** Stops every process of the server in its tracks, or lets them go on. */
  signal(signal: 'SIGSTOP' | 'SIGCONT'): void {
    for (const pid of this.pids()) signalTo(pid, signal)
  }

  /** Of all its processes. */
  pids(): number[] {
    const [first = ''] = readFileSync(join(this.#data, 'postmaster.pid'), 'utf8').split('\n')
    const children = execFileSync('ps', ['-o', 'pid=', '--ppid', first], { encoding: 'utf8' })
    return [first, ...children.trim().split(/\s+/)].map(Number)
  }

  /** Replaces who is let in, and how (pg_hba.conf), before the server starts. */
  letIn(...lines: string[]): void {
    writeFileSync(join(this.#data, 'pg_hba.conf'), `${lines.join('\n')}\n`)
  }

  /** A file of this user among those of the server. */
  own(path: string): void {
    const user = serverUser()
    if (user !== null) chownSync(path, user, user)
  }

  /** Runs SQL as the superuser. @returns what psql prints, unaligned */
  sql(statement: string, database = 'postgres'): string {
    const args = [
      '-X',
      '-q',
      '-A',
      '-t',
      '-h',
      this.folder,
      '-p',
      String(this.#port),
      '-U',
      'postern',
      '-d',
      database,
    ]
    return execFileSync('psql', [...args, '-c', statement], { encoding: 'utf8' }).trim()
  }

  /** Everything in a database, as SQL. */
  dump(database = 'postgres'): Buffer {
    const args = ['-h', this.folder, '-U', 'postern', '-d', database]
    return execFileSync('pg_dump', args, { maxBuffer: 1 << 30 })
  }

  #run(program: string, ...args: string[]): void {
    const [file, all] = asServerUser(join(binFolder() ?? '', program), args)
    execFileSync(file, all, { stdio: ['ignore', 'ignore', 'pipe'], cwd: this.folder })
  }
}

/** A process of the server may have ended since it was listed. */
function signalTo(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
  }
}

/** Debian keeps the server's programs out of PATH. */
const binFolder = (): string | undefined => globSync('/usr/lib/postgresql/*/bin').toSorted().at(-1)

/** A command that root runs as the server's user, and anybody else as themselves. */
export function asServerUser(command: string, args: string[]): [string, string[]] {
  const user = serverUser()
  return user === null
    ? [command, args]
    : ['setpriv', [`--reuid=${user}`, `--regid=${user}`, '--clear-groups', command, ...args]]
}

/** Whom root lets the server run as; null for anybody else, who runs it. */
function serverUser(): number | null {
  if (process.getuid?.() !== 0) return null
  return Number(execFileSync('id', ['-u', 'postgres'], { encoding: 'utf8' }))
}
