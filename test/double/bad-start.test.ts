import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { runPostern, settings, UNDER_PASSPHRASE, type Ended } from '../support/sidecar.ts'

const root = mkdtempSync(join(tmpdir(), 'bs-'))
afterAll(() => rmSync(root, { recursive: true, force: true }))
let copies = 0

/** It ended by itself with a reason and a hint, and printed no secret. */
function expectRefused(ended: Ended, code: number, reason: RegExp): void {
  expect([ended.code, ended.stdout]).toEqual([code, ''])
  expect(ended.stderr).toMatch(/^postern: /m)
  expect(ended.stderr).toMatch(/^ *hint: \S/m)
  expect(ended.stderr).toMatch(reason)
  expect(ended.stderr).not.toMatch(/a passphrase for tests|Tk0_-Tk0/)
}

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
  ['an open door without a client token', { POSTERN_LISTEN_HOST: '0.0.0.0' }, [/bot\.clientToken/]],
])('`postern run` with %s exits with 2, names all of them, and writes nothing', async (...row) => {
  const [, env, reasons] = row
  const dir = join(root, `never${++copies}`)
  const base: Record<string, string> = settings({ upstream: 'http://127.0.0.1:9', dataDir: dir })
  const all = Object.entries({ ...base, ...UNDER_PASSPHRASE, ...env })
  const given = Object.fromEntries(all.filter(([, value]) => value !== ''))
  const ended = await runPostern(['run'], { env: given })
  for (const reason of reasons) expectRefused(ended, 2, reason)
  expect(readdirSync(root)).not.toContain(`never${copies}`)
})
