/** The exit code of every family, as the shell sees it. */
import {
  chmodSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { describe, expect, test } from 'vitest'
import { OPERATOR_REFUSALS } from '../../src/operator-refusals.ts'
import { dataFolder } from '../control/support.ts'
import { made } from '../store/support.ts'
import { Stage } from './secrets-stage.ts'
import { postern, TOKEN } from './support.ts'

const PASSPHRASE = 'swordfish-swordfish'
/** A command that works without a sidecar, on a store under a passphrase. */
const SETTINGS = {
  POSTERN_UPSTREAM_URL: 'http://127.0.0.1:1',
  POSTERN_BOT_TOKEN: TOKEN,
  POSTERN_KEY_PASSPHRASE: PASSPHRASE,
}

/** Runs a command, and gives its exit code with the code that it printed. */
async function ending(
  line: string,
  cwd: string,
  env: Record<string, string> = {},
): Promise<(string | number | null | undefined)[]> {
  const { code, stderr } = await postern(line.split(' '), { cwd, env })
  return [code, /^code: (\S+)$/m.exec(stderr)?.[1]]
}

describe('1: it failed, and trying again may help', () => {
  test('a service that cannot be reached', async () => {
    const cwd = dataFolder()
    expect(await ending('check', cwd, SETTINGS)).toEqual([1, 'failed'])
    expect(await ending('key generate', cwd, SETTINGS)).toEqual([1, 'postern_upstream_unreachable'])
  })

  test('no sidecar that runs', async () => {
    expect(await ending('status', dataFolder())).toEqual([1, 'not-running'])
  })

  test('a store that another process holds, perhaps only until it has ended', async () => {
    const stage = await Stage.plain()
    await stage.up()
    expect(await ending('run', stage.cwd, stage.env())).toEqual([1, 'store-in-use'])
  })
})

describe('whether trying again may help', () => {
  test('a database that is away, on a full disk or not yet promoted is tried again', async () => {
    const env = { ...SETTINGS, POSTERN_STORE_URL: 'postgres://postern@/postern?host=/nowhere' }
    expect(await ending('run', dataFolder(), env)).toEqual([1, 'store-unreachable'])
    for (const code of ['store-unwritable', 'store-read-only', 'listen'] as const) {
      expect([code, OPERATOR_REFUSALS[code].exitCode]).toEqual([code, 1])
    }
  })

  test('the unit of systemd stays down after every other code', () => {
    const unit = readFileSync('config/examples/postern.service', 'utf8')
    const codes = Object.values(OPERATOR_REFUSALS).map(({ exitCode }) => exitCode)
    const hopeless = [...new Set(codes)].filter((code) => code !== 1).toSorted()
    expect(/^RestartPreventExitStatus=(.*)$/m.exec(unit)?.[1]).toBe(hopeless.join(' '))
    for (const code of ['store-corrupt', 'store-newer', 'store-other-bot'] as const) {
      expect(hopeless).toContain(OPERATOR_REFUSALS[code].exitCode)
    }
  })
})

describe('2: the input is wrong', () => {
  test.each([
    ['an unknown command', 'frobnicate', {}, 'usage'],
    ['an unknown option', 'status --frobnicate', {}, 'usage'],
    ['an unknown setting', 'run', { POSTERN_FROBNICATE: '1' }, 'settings'],
    ['a setting that is missing', 'run', {}, 'settings'],
    [
      'a process that would not be safe',
      'run',
      { NODE_TLS_REJECT_UNAUTHORIZED: '0' },
      'environment',
    ],
  ])('%s', async (_name, line, env, code) => {
    expect(await ending(line, dataFolder(), env)).toEqual([2, code])
  })

  test.each([
    ['shared by all', 0o1777],
    ['open to others', 0o755],
    ['full of other files', 0o700],
  ])('a folder that is no data directory, and stays as it is: %s', async (_how, mode) => {
    const cwd = dataFolder()
    const dataDir = join(cwd, 'shared')
    mkdirSync(dataDir)
    writeFileSync(join(dataDir, 'letters.txt'), '')
    chmodSync(dataDir, mode)
    for (const line of ['run', 'key generate']) {
      const env = { ...SETTINGS, POSTERN_DATA_DIR: dataDir }
      expect(await ending(line, cwd, env)).toEqual([2, 'data-dir'])
      expect([statSync(dataDir).mode & 0o7777, readdirSync(dataDir)]).toEqual([
        mode,
        ['letters.txt'],
      ])
    }
  })

  test('a passphrase that a command needs and is not given', async () => {
    const stage = await Stage.plain()
    await stage.does('key generate')
    expect(await ending('key export', stage.cwd, stage.env())).toEqual([2, 'passphrase'])
  })
})

describe('3: the store does not open', () => {
  test.each(['run', 'chat list'])('a data directory that cannot be used: `%s`', async (line) => {
    const cwd = dataFolder()
    writeFileSync(join(cwd, '.postern'), '')
    expect(await ending(line, cwd, SETTINGS)).toEqual([3, 'data-dir'])
  })

  test.each<[string, (dataDir: string) => void, Record<string, string>]>([
    ['store-missing', (dataDir) => rmSync(join(dataDir, 'postern.db')), {}],
    ['store-locked', () => {}, { POSTERN_KEY_PASSPHRASE: '' }],
    ['store-passphrase', () => {}, { POSTERN_KEY_PASSPHRASE: 'swordfish-not' }],
    ['store-corrupt', (dataDir) => truncateSync(join(dataDir, 'postern.db'), 8192), {}],
    ['store-newer', makeNewer, {}],
  ])('%s', async (code, change, env) => {
    const cwd = await withStore()
    change(join(cwd, '.postern'))
    const all = Object.entries({ ...SETTINGS, ...env }).filter(([, value]) => value !== '')
    for (const line of ['run', 'chat list']) {
      expect(await ending(line, cwd, Object.fromEntries(all))).toEqual([3, code])
    }
  })

  test('protection', async () => {
    const env = { ...SETTINGS, POSTERN_KEY_PROTECTION: 'none' }
    expect(await ending('run', await withStore(), env)).toEqual([3, 'protection'])
  })
})

describe('4: an operator must decide first', () => {
  test('a restored store', async () => {
    const stage = await Stage.plain()
    await stage.does('key generate')
    await stage.does('backup create postern.backup')
    rmSync(stage.dataDir, { recursive: true })
    await stage.does('backup restore postern.backup')
    expect(await ending('run', stage.cwd, stage.env())).toEqual([4, 'store-restored'])
  })

  test('a key at the service that is not ours', async () => {
    const stage = await Stage.plain()
    await stage.does('key generate')
    await stage.does('key publish')
    rmSync(stage.dataDir, { recursive: true })
    await stage.does('key generate')
    expect(await ending('key publish', stage.cwd, stage.env())).toEqual([4, 'postern_key_conflict'])
    await stage.does('key publish --replace')
  })
})

/** A folder with a store under the passphrase in it. */
async function withStore(): Promise<string> {
  const cwd = dataFolder()
  const dataDir = join(cwd, '.postern')
  mkdirSync(dataDir, { mode: 0o700 })
  await made(dataDir, PASSPHRASE)
  return cwd
}

function makeNewer(dataDir: string): void {
  const database = new DatabaseSync(join(dataDir, 'postern.db'))
  database.exec('PRAGMA user_version = 4711')
  database.close()
}
