/** A real PgBouncer before a cluster of tests. */
import { spawn } from './programs.ts'
import { chmodSync, existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { once } from 'node:events'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { mortal } from './mortal.ts'
import { asServerUser, SOCKET, type Cluster } from './postgres.ts'
import { has } from './lacks.ts'

const PROGRAM = '/usr/sbin/pgbouncer'

/** Whether it is installed. */
export const hasPgbouncer = (): boolean => has(existsSync(PROGRAM), 'PgBouncer is not installed')

export interface Pooler extends AsyncDisposable {
  /** It holds the pooler's socket. */
  folder: string
  url: string
}

/** @param settings as in pgbouncer.ini, `name=value` */
export async function startPgbouncer(
  cluster: Cluster,
  settings: readonly string[],
): Promise<Pooler> {
  const folder = mkdtempSync(join(tmpdir(), 'pgb-'))
  cluster.own(folder)
  chmodSync(folder, 0o755)
  const file = join(folder, 'pgbouncer.ini')
  const all = [
    '[databases]',
    `* = host=${cluster.folder} user=postern`,
    '[pgbouncer]',
    `unix_socket_dir=${folder}`,
    'listen_port=5432',
    'auth_type=any',
    ...settings,
  ]
  writeFileSync(file, `${all.join('\n')}\n`)
  const child = spawn(...asServerUser(...mortal(PROGRAM, ['-q', file])))
  const ended = once(child, 'exit')
  while (!existsSync(join(folder, SOCKET))) {
    if (child.exitCode !== null) throw new Error('PgBouncer did not start')
    await pause(20)
  }
  return {
    folder,
    url: `postgres://postern@/postgres?host=${encodeURIComponent(folder)}`,
    async [Symbol.asyncDispose]() {
      child.kill('SIGKILL')
      await ended
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
