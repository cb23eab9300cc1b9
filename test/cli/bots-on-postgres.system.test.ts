/** Commands on several bots whose stores move into one PostgreSQL. */
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { createSandbox, type Sandbox } from '../../src/sandbox/create.ts'
import { canaries } from '../support/canaries.ts'
import { freshSchema, hasPostgres, sharedCluster, type Cluster } from '../support/postgres.ts'
import { startSidecarProcess, untilReady, type SidecarProcess } from '../support/sidecar-process.ts'
import { runInProcess, type Ended } from './support.ts'

const DATABASE = freshSchema()
const NAMES = ['first', 'second']
const root = mkdtempSync(join(tmpdir(), 'bots-'))
const folder = join(root, 'bots.d')
let cluster: Cluster
let sandbox: Sandbox
let env: Record<string, string>
let onDatabase: Record<string, string>
let sidecar: SidecarProcess

beforeAll(async () => {
  if (!hasPostgres()) return
  cluster = await sharedCluster()
  cluster.sql(`CREATE DATABASE ${DATABASE}`)
  sandbox = await createSandbox({ rates: 'off' })
  mkdirSync(folder)
  env = {
    POSTERN_UPSTREAM_URL: sandbox.url,
    POSTERN_BOTS: folder,
    POSTERN_DATA_DIR: join(root, 'data'),
    POSTERN_KEY_PROTECTION: 'none',
  }
  onDatabase = { ...env, POSTERN_STORE_URL: cluster.urlOf('postern', DATABASE) }
  for (const name of NAMES) {
    const { token } = await sandbox.control.addBot({ username: `${name}_moves_bot` })
    canaries()?.secret(token)
    writeFileSync(join(root, name), `${token}\n`, { mode: 0o600 })
    writeFileSync(join(folder, `${name}.yaml`), `tokenFile: ${join(root, name)}\n`)
  }
  sidecar = await startSidecarProcess({ cwd: root, env })
  await untilReady(sidecar.admin)
}, 60_000)

afterAll(async () => {
  await sidecar?.[Symbol.asyncDispose]()
  await sandbox?.[Symbol.asyncDispose]()
  rmSync(root, { recursive: true, force: true })
})

async function run(settings: Record<string, string>, ...args: string[]): Promise<Ended> {
  try {
    return await runInProcess(args, settings)
  } finally {
    vi.unstubAllEnvs()
  }
}

async function keys(settings: Record<string, string>): Promise<string[]> {
  const found: string[] = []
  for (const name of NAMES) {
    const { stdout } = await run(settings, 'key', 'list', '--json', '--bot', name)
    const [key] = JSON.parse(stdout) as { fingerprint: string }[]
    found.push(key?.fingerprint ?? '')
  }
  return found
}

describe.skipIf(!hasPostgres())('several bots in one PostgreSQL', () => {
  let before: string[] = []

  test('`store move` moves each bot into a schema of its own while no sidecar runs', async () => {
    const to = ['--to', cluster.urlOf('postern', DATABASE)]
    before = await keys(env)
    expect(new Set(before).size).toBe(2)
    expect(await run(env, 'store', 'move', ...to)).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('name one with --bot: first, second'),
    })
    expect(await run(env, 'store', 'move', '--bot', 'first', ...to)).toMatchObject({
      stderr: expect.stringContaining('store-in-use'),
    })
    await sidecar.stop('SIGTERM')
    for (const name of NAMES) {
      const moved = await run(env, 'store', 'move', '--bot', name, '--json', ...to)
      expect(moved.code).toBe(0)
      expect((JSON.parse(moved.stdout) as { to: string }).to).toContain(`schema postern_${name}`)
    }
    // what was left behind opens for nobody
    const left = await run(env, 'key', 'list', '--bot', 'first')
    expect(left.stderr).toContain('store-moved')
    expect(await keys(onDatabase)).toEqual(before)
  })

  test('bots in PostgreSQL run with their former keys, and are checked, backed up and removed', async () => {
    sidecar = await startSidecarProcess({ cwd: root, env: onDatabase })
    await untilReady(sidecar.admin)
    expect(await keys(onDatabase)).toEqual(before)
    const check = await run(onDatabase, 'check', '--bot', 'second')
    expect(check.stdout).toContain(before[1])
    const file = join(root, 'backup')
    expect((await run(onDatabase, 'backup', 'create', '--bot', 'first', file)).code).toBe(0)
    const verified = await run(onDatabase, 'backup', 'verify', '--bot', 'first', file)
    expect(verified.stdout).toContain(before[0])
    expect(await run(onDatabase, 'backup', 'restore', '--bot', 'first', file)).toMatchObject({
      stderr: expect.stringContaining('store move'),
    })
    const removed = await run(onDatabase, 'bot', 'remove', 'second')
    expect(removed.stderr).toContain('stays in the schema postern_second of the database')
    const listed = await run(onDatabase, 'bot', 'list', '--json')
    expect((JSON.parse(listed.stdout) as { name: string }[]).map(({ name }) => name)).toEqual([
      'first',
    ])
    expect(existsSync(join(folder, 'second.yaml'))).toBe(false)
  })
})
