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

/** It ended by itself with a reason and a hint, and printed no secret. */
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

describe('`postern run` on a store that does not open', () => {
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
  const other = { POSTERN_KEY_PASSPHRASE: 'not this' }
  // more of them, without a process: test/store/refusals.test.ts
  const wrong: [string, string, (dir: string) => void, Record<string, string>?][] = [
    ['another passphrase', 'store-passphrase', () => {}, other],
    ['a missing database', 'store-missing', (dir) => rmSync(databaseOf(dir))],
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
  test.each(wrong)(
    '`postern run` on %s exits with 3 and %s, and leaves the store unchanged',
    async (_what, code, change, env) => {
      const dir = copy(change)
      const before = contents(dir)
      const since = stage.double.mark()
      expectRefused(await start(dir, env), 3, new RegExp(`^code: ${code}$`, 'm'))
      expect(contents(dir)).toEqual(before)
      expect(stage.double.calls('PUT', undefined, since)).toEqual([])
    },
  )

  test('`postern run` on a store in use exits with 1, and names the process that has it open', async () => {
    const ended = await start(stage.sidecar.dataDir)
    expectRefused(ended, 1, /^code: store-in-use$/m)
    expect(ended.stderr).toContain(`process ${stage.sidecar.pid}`)
    expect((await stage.sidecar.call('GET', '/me')).status).toBe(200)
  })

  test('`postern run` with a file as dataDir exits with 3, and leaves the file unchanged', async () => {
    const file = join(root, 'file')
    writeFileSync(file, 'x')
    expectRefused(await start(file), 3, /^code: data-dir$/m)
    expect(readFileSync(file, 'utf8')).toBe('x')
  })
})

describe('`postern run` with wrong settings', () => {
  // each alone, without a process: test/config
  test.each<[string, Record<string, string>, RegExp[]]>([
    [
      'several wrong values',
      {
        POSTERN_UPSTREAM_URL: 'http://example.org',
        POSTERN_LISTEN_PORT: 'many',
        POSTERN_OPEN_VERIFFY: 'flag',
        POSTERN_OPEN_VERIFY: 'maybe',
        POSTERN_KEY_RETAIN_DAYS: '3',
        POSTERN_LISTEN_HOST: '0.0.0.0',
      },
      [
        /upstream\.url[^]*https/,
        /listen\.port|POSTERN_LISTEN_PORT/,
        /VERIFFY[^]*OPEN_VERIFY/,
        /flag, require, off/,
        /from 4 to 36500/,
      ],
    ],
    ['no service', { POSTERN_UPSTREAM_URL: '' }, [/upstream\.url/]],
    ['no passphrase', { POSTERN_KEY_PASSPHRASE: '' }, [/key\.passphrase/i]],
    [
      'an open door without a client token',
      { POSTERN_LISTEN_HOST: '0.0.0.0' },
      [/bot\.clientToken/],
    ],
  ])(
    '`postern run` with %s exits with 2, names all of them, and writes nothing',
    async (...row) => {
      const [, env, reasons] = row
      const dir = join(root, `never${++copies}`)
      const base: Record<string, string> = settings({ upstream: stage.double.url, dataDir: dir })
      const all = Object.entries({ ...base, ...UNDER_PASSPHRASE, ...env })
      const given = Object.fromEntries(all.filter(([, value]) => value !== ''))
      const ended = await runPostern(['run'], { env: given })
      for (const reason of reasons) expectRefused(ended, 2, reason)
      expect(readdirSync(root)).not.toContain(`never${copies}`)
    },
  )

  test('`postern run` on a port in use exits with 1, and names the port', async () => {
    const { port } = new URL(stage.sidecar.url)
    const ended = await start(join(root, `port${++copies}`), { POSTERN_LISTEN_PORT: port })
    expectRefused(ended, 1, /^code: listen$/m)
    expect(ended.stderr).toContain(port)
  })
})
