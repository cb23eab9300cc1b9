/** Three nodes of PostgreSQL under Patroni on this machine, with etcd, behind one HAProxy. */
import type { ChildProcess } from 'node:child_process'
import { execFileSync, spawn } from '../support/programs.ts'
import { chmodSync, existsSync, globSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { freePort } from '../bench/processes.ts'
import { mortal } from '../support/mortal.ts'
import { asServerUser } from '../support/postgres.ts'

const PROGRAMS = ['etcd', 'patroni', 'patronictl', 'haproxy']
const NAMES = ['one', 'two', 'three']
const READY_MS = 120_000
const LOOK_MS = 200
const PROXY_MS = 3000
/** As hosts of databases set them. */
const LIMITS = {
  max_connections: 100,
  idle_session_timeout: '5s',
  statement_timeout: '30s',
  idle_in_transaction_session_timeout: '10s',
}

/** Of these programs, those that are not installed. */
export const missingForPatroni = (): string[] =>
  PROGRAMS.filter((name) => !['/usr/bin', '/usr/sbin'].some((at) => existsSync(join(at, name))))

interface Node {
  name: string
  port: number
  restPort: number
  process: ChildProcess
}

export class PatroniCluster implements AsyncDisposable {
  readonly #folder = mkdtempSync(join(tmpdir(), 'patroni-'))
  readonly #children: ChildProcess[] = []
  readonly #nodes: Node[] = []
  readonly #isSynchronous: boolean
  #etcdPort = 0
  #proxyPort = 0

  private constructor(isSynchronous: boolean) {
    this.#isSynchronous = isSynchronous
    chmodSync(this.#folder, 0o777)
  }

  /** @param o `isSynchronous`: a commit waits for a standby, which alone may be promoted */
  static async start(o: { isSynchronous: boolean }): Promise<PatroniCluster> {
    const cluster = new PatroniCluster(o.isSynchronous)
    try {
      await cluster.#start()
      return cluster
    } catch (error) {
      await cluster[Symbol.asyncDispose]()
      throw error
    }
  }

  /** Through the proxy, which leads to the primary; of a user who owns a database, and no more. */
  get url(): string {
    return this.#urlOf('app')
  }

  #urlOf(user: string, database = user): string {
    return `postgres://${user}@127.0.0.1:${this.#proxyPort}/${database}`
  }

  /** The name of the primary; null while there is none. */
  async primary(): Promise<string | null> {
    for (const { name, restPort } of this.#nodes) {
      const signal = AbortSignal.timeout(1000)
      const answer = await fetch(`http://127.0.0.1:${restPort}/primary`, { signal }).catch(
        () => null,
      )
      if (answer?.ok === true) return name
    }
    return null
  }

  /** Asks Patroni for another primary, in order. @throws with the answer when it refuses */
  switchOver(): void {
    const answer = this.#control('switchover', '--force')
    if (!answer.includes('Successfully')) throw new Error(answer)
  }

  /** @returns the name of the primary that follows another */
  async untilAfter(former: string): Promise<string> {
    return await this.#until(`no primary follows ${former}`, async () => {
      const now = await this.primary()
      return now === former ? null : now
    })
  }

  /** Kills a node as a machine does that loses its power; it is started again by `revive`. */
  kill(name: string): void {
    this.#signal(name, 'SIGKILL')
  }

  /** Stops every process of a node in its tracks, or lets them go on. */
  pause(name: string): void {
    this.#signal(name, 'SIGSTOP')
  }

  resume(name: string): void {
    this.#signal(name, 'SIGCONT')
  }

  revive(name: string): void {
    const node = this.#node(name)
    rmSync(join(this.#folder, name, 'postmaster.pid'), { force: true })
    node.process = this.#run('patroni', [this.#configOf(name)], 'as the server')
  }

  /** Until there is a primary, and each of the others streams from it, one of them as it must. */
  async untilWhole(): Promise<void> {
    await this.#until('the cluster is not whole', async () => {
      const list = this.#control('list', '--format', 'json')
      const nodes = JSON.parse(list) as { State: string; Role: string }[]
      const whole = nodes.filter(({ State }) => ['running', 'streaming'].includes(State))
      const maySwitch = !this.#isSynchronous || nodes.some(({ Role }) => Role === 'Sync Standby')
      return whole.length === NAMES.length && maySwitch ? await this.primary() : null
    })
  }

  async #until<T>(problem: string, look: () => Promise<T | null>): Promise<T> {
    const untilMs = performance.now() + READY_MS
    for (;;) {
      const found = await look()
      if (found !== null) return found
      if (performance.now() > untilMs) throw new Error(problem)
      await pause(LOOK_MS)
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const { name } of this.#nodes) this.#signal(name, 'SIGKILL')
    for (const child of this.#children) child.kill('SIGKILL')
    await pause(LOOK_MS)
    rmSync(this.#folder, { recursive: true, force: true })
  }

  async #start(): Promise<void> {
    const peerPort = await freePort()
    this.#etcdPort = await freePort()
    this.#proxyPort = await freePort()
    const [client, peer] = [this.#etcdPort, peerPort].map((port) => `http://127.0.0.1:${port}`)
    const etcd = {
      'data-dir': join(this.#folder, 'etcd'),
      'log-level': 'error',
      'listen-client-urls': client,
      'advertise-client-urls': client,
      'listen-peer-urls': peer,
      'initial-advertise-peer-urls': peer,
      'initial-cluster': `default=${peer}`,
    }
    this.#run(
      'etcd',
      Object.entries(etcd).map(([name, value]) => `--${name}=${value}`),
    )
    for (const name of NAMES) {
      const node = { name, port: await freePort(), restPort: await freePort() }
      writeFileSync(this.#configOf(name), JSON.stringify(this.#settingsOf(node)))
      const child = this.#run('patroni', [this.#configOf(name)], 'as the server')
      this.#nodes.push({ ...node, process: child })
    }
    writeFileSync(join(this.#folder, 'haproxy.cfg'), this.#proxySettings())
    this.#run('haproxy', ['-f', join(this.#folder, 'haproxy.cfg'), '-db'])
    await this.untilWhole()
    // until the proxy has found the primary
    await pause(PROXY_MS)
    const make = ['CREATE ROLE app LOGIN', 'CREATE DATABASE app OWNER app']
    const superuser = this.#urlOf('postern', 'postgres')
    execFileSync('psql', ['-q', superuser, ...make.flatMap((one) => ['-c', one])])
  }

  /** As its documentation has them, with its shortest times. */
  #settingsOf({ name, port, restPort }: Omit<Node, 'process'>): object {
    const dcs = { ttl: 20, loop_wait: 2, retry_timeout: 5, synchronous_mode: this.#isSynchronous }
    return {
      scope: 'postern',
      name,
      restapi: { listen: `127.0.0.1:${restPort}`, connect_address: `127.0.0.1:${restPort}` },
      etcd3: { host: `127.0.0.1:${this.#etcdPort}` },
      bootstrap: { dcs, initdb: [{ auth: 'trust' }, { encoding: 'UTF8' }, { locale: 'C' }] },
      postgresql: {
        listen: `127.0.0.1:${port}`,
        connect_address: `127.0.0.1:${port}`,
        data_dir: join(this.#folder, name),
        bin_dir: globSync('/usr/lib/postgresql/*/bin').toSorted().at(-1),
        pgpass: join(this.#folder, `pgpass-${name}`),
        parameters: { unix_socket_directories: this.#folder, ...LIMITS },
        pg_hba: ['local all all trust', 'host all all 127.0.0.1/32 trust'].concat(
          'host replication all 127.0.0.1/32 trust',
        ),
        authentication: {
          superuser: { username: 'postern', password: 'p' },
          replication: { username: 'standby', password: 'p' },
        },
      },
    }
  }

  #proxySettings(): string {
    const servers = this.#nodes.map(
      ({ name, port, restPort }) =>
        `  server ${name} 127.0.0.1:${port} check port ${restPort} inter 1s fall 2 rise 1 on-marked-down shutdown-sessions`,
    )
    return [
      'defaults',
      '  mode tcp',
      '  timeout connect 2s',
      '  timeout client 1h',
      '  timeout server 1h',
      'listen primary',
      `  bind 127.0.0.1:${this.#proxyPort}`,
      '  option httpchk GET /primary',
      ...servers,
      '',
    ].join('\n')
  }

  #configOf(name: string): string {
    return join(this.#folder, `${name}.yaml`)
  }

  #control(command: string, ...args: string[]): string {
    const config = this.#configOf(NAMES[0] ?? '')
    const all = ['-c', config, command, 'postern', ...args]
    return execFileSync('patronictl', all, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] })
  }

  #run(program: string, args: string[], as?: 'as the server'): ChildProcess {
    const [command, all] = as === undefined ? [program, args] : asServerUser(program, args)
    const [whole, rest] = mortal(command, all)
    const child = spawn(whole, rest, { stdio: 'ignore', cwd: this.#folder })
    this.#children.push(child)
    return child
  }

  #node(name: string): Node {
    const node = this.#nodes.find((one) => one.name === name)
    if (node === undefined) throw new Error(`there is no node ${name}`)
    return node
  }

  /** To Patroni and to every process of its server, which are recognized by their folder. */
  #signal(name: string, signal: NodeJS.Signals): void {
    const folder = join(this.#folder, name)
    const list = execFileSync('ps', ['-eo', 'pid=,ppid=,args='], { encoding: 'utf8' })
    const rows = list.split('\n').map((line) => line.trim().split(/\s+/))
    const own = rows.filter((row) => row.some((word) => [folder, `${folder}.yaml`].includes(word)))
    const pids = new Set(own.map(([pid]) => pid))
    const children = rows.filter(([, parent]) => pids.has(parent)).map(([pid]) => pid)
    for (const pid of new Set([...pids, ...children])) {
      try {
        process.kill(Number(pid), signal)
      } catch {
        // it has ended
      }
    }
  }
}
