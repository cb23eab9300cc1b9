import {
  cpSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { useStage } from '../support/double-stage.ts'
import { runPostern, settings, UNDER_PASSPHRASE, type Ended } from '../support/sidecar.ts'

const stage = useStage({ env: UNDER_PASSPHRASE })
const root = mkdtempSync(join(tmpdir(), 'bs-'))
afterAll(() => rmSync(root, { recursive: true, force: true }))
let copies = 0

/** Runs `postern run` to its end over a data directory. */
async function start(dataDir: string, env: Record<string, string> = {}): Promise<Ended> {
  const all = { ...settings({ upstream: stage.double.url, dataDir }), ...UNDER_PASSPHRASE, ...env }
  return await runPostern(['run'], { env: all })
}

/** It ended by itself, said why and what to do, and told no secret. */
function expectRefused(ended: Ended, code: number, reason: RegExp): void {
  expect([ended.code, ended.stdout]).toEqual([code, ''])
  expect(ended.stderr).toMatch(/^postern: /m)
  expect(ended.stderr).toMatch(/^ *hint: \S/m)
  expect(ended.stderr).toMatch(reason)
  expect(ended.stderr).not.toMatch(/a passphrase for tests|Tk0_-Tk0/)
}

/** Every file of a directory, by name, but SQLite's own notes of who reads: they hold no data. */
function contents(dir: string): Record<string, string> {
  const names = readdirSync(dir).filter((name) => !/-(wal|shm)$/.test(name))
  return Object.fromEntries(names.map((name) => [name, readFileSync(join(dir, name), 'base64')]))
}

describe('a store that will not open ends `postern run` with 3, and is left as it was', () => {
  let kept = ''

  beforeAll(async () => {
    kept = join(root, 'kept')
    await stage.sidecar.stop()
    cpSync(stage.sidecar.dataDir, kept, { recursive: true })
    await stage.restart()
  })

  /** A copy of the store with something wrong about it. */
  function copy(change: (dir: string) => void = () => {}): string {
    const dir = join(root, `copy${++copies}`)
    cpSync(kept, dir, { recursive: true })
    change(dir)
    return dir
  }

  const databaseOf = (dir: string): string => join(dir, 'postern.db')
  const none = 'not a database, but long enough to be looked at'.repeat(99)
  const other = { POSTERN_KEY_PASSPHRASE: 'not this' }
  const wrong: [string, string, (dir: string) => void, Record<string, string>?][] = [
    ['another passphrase', 'store-passphrase', () => {}, other],
    ['no database any more', 'store-missing', (dir) => rmSync(databaseOf(dir))],
    ['an empty database', 'store-corrupt', (dir) => truncateSync(databaseOf(dir))],
    ['a database that is none', 'store-corrupt', (dir) => writeFileSync(databaseOf(dir), none)],
    ['half a database', 'store-corrupt', (dir) => truncateSync(databaseOf(dir), 8192)],
    [
      'a later version',
      'store-newer',
      (dir) => {
        using database = new DatabaseSync(databaseOf(dir))
        database.exec('PRAGMA user_version = 4711')
      },
    ],
  ]
  test.each(wrong)('%s', async (_what, code, change, env) => {
    const dir = copy(change)
    const before = contents(dir)
    const since = stage.double.mark()
    expectRefused(await start(dir, env), 3, new RegExp(`^code: ${code}$`, 'm'))
    expect(contents(dir)).toEqual(before)
    expect(stage.double.calls('PUT', undefined, since)).toEqual([])
  })

  test('one that another sidecar holds, which is named and goes on', async () => {
    const ended = await start(stage.sidecar.dataDir)
    expectRefused(ended, 1, /^code: store-in-use$/m)
    expect(ended.stderr).toContain(`process ${stage.sidecar.pid}`)
    expect((await stage.sidecar.call('GET', '/me')).status).toBe(200)
  })

  test('a directory that is a file', async () => {
    const file = join(root, 'file')
    writeFileSync(file, 'x')
    expectRefused(await start(file), 3, /^code: data-dir$/m)
    expect(readFileSync(file, 'utf8')).toBe('x')
  })
})

describe('settings that are wrong end `postern run` with 2, all named at once, and write nothing', () => {
  test.each<[string, Record<string, string>, RegExp]>([
    ['no service', { POSTERN_UPSTREAM_URL: '' }, /upstream\.url/],
    ['plain http', { POSTERN_UPSTREAM_URL: 'http://example.org' }, /upstream\.url[^]*https/],
    ['a number that is none', { POSTERN_LISTEN_PORT: 'many' }, /listen\.port|POSTERN_LISTEN_PORT/],
    ['a name that is nearly right', { POSTERN_OPEN_VERIFFY: 'flag' }, /VERIFFY[^]*OPEN_VERIFY/],
    ['a value that is not one of the few', { POSTERN_OPEN_VERIFY: 'maybe' }, /flag, require, off/],
    ['no passphrase', { POSTERN_KEY_PASSPHRASE: '' }, /key\.passphrase/i],
    ['a door to the world', { POSTERN_LISTEN_HOST: '0.0.0.0' }, /bot\.clientToken/],
    ['too short a retention', { POSTERN_KEY_RETAIN_DAYS: '3' }, /from 4 to 36500/],
  ])('%s', async (_what, env, reason) => {
    const dir = join(root, `never${++copies}`)
    const base: Record<string, string> = settings({ upstream: stage.double.url, dataDir: dir })
    const all = Object.entries({ ...base, ...UNDER_PASSPHRASE, ...env })
    const given = Object.fromEntries(all.filter(([, value]) => value !== ''))
    expectRefused(await runPostern(['run'], { env: given }), 2, reason)
    expect(readdirSync(root)).not.toContain(`never${copies}`)
  })

  test('a port that is taken is said, with 1', async () => {
    const { port } = new URL(stage.sidecar.url)
    const ended = await start(join(root, `port${++copies}`), { POSTERN_LISTEN_PORT: port })
    expectRefused(ended, 1, /^code: listen$/m)
    expect(ended.stderr).toContain(port)
  })
})
