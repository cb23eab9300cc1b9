/** The example projects whose tests start Postern themselves, run as their README says. */
import { cpSync, existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { isInstalled, run, works } from '../support/programs.ts'
import { afterAll, expect, test } from 'vitest'
import { GO_CACHE, hasGo } from '../support/go-bot.ts'
import { COMPILED, mainFile } from '../support/postern-process.ts'
import { mortal } from '../support/mortal.ts'
import { npm } from '../support/npm.ts'
import { readPages } from '../support/readme-tables.ts'

const ROOT = join(import.meta.dirname, '../..')
const WITHIN_MS = 180_000
const folder = mkdtempSync(join(tmpdir(), 'postern-projects-'))
const environment = {
  PATH: process.env['PATH'],
  HOME: join(folder, 'home'),
  POSTERN: `${process.execPath} ${mainFile()}`,
  NODE_COMPILE_CACHE: COMPILED,
  GOCACHE: GO_CACHE,
  GOPROXY: 'off',
  CGO_ENABLED: '0',
}

afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** A copy with the packages that its README names, so that nothing is left behind in the example. */
async function copyOf(name: string): Promise<string> {
  const copy = join(folder, name)
  cpSync(join(ROOT, 'config/examples', name), copy, { recursive: true })
  const hasPackages = existsSync(join(copy, 'package.json')) && name !== 'vitest'
  if (hasPackages) await npm(['install', '--ignore-scripts'], copy)
  mkdirSync(join(copy, 'node_modules'), { recursive: true })
  for (const [link, to] of [
    ['postern', '.'],
    ['vitest', 'node_modules/vitest'],
  ] as const) {
    const path = join(copy, 'node_modules', link)
    if (!existsSync(path)) symlinkSync(join(ROOT, to), path)
  }
  return copy
}

const PYTEST = ['python3', '-m', 'pytest', '-p', 'no:cacheprovider']
const VITEST = [process.execPath, 'node_modules/vitest/vitest.mjs', 'run', '--no-color']
const NODE_TEST = [process.execPath, '--test', '--test-reporter=tap']
const OLD = `Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '20.20.2' } })`
const NODE_OPTIONS = `--import=data:text/javascript,${encodeURIComponent(OLD)}`

const IS_MISSING: Partial<Record<string, boolean>> = {
  pytest: !works('pytest is not installed', 'python3', '-m', 'pytest', '--version'),
  go: !hasGo,
  'bots/nats': !isInstalled('nats-server'),
}

/** An example, how it is run, its exit code, and a part of its output. */
const ROWS: [string, string, string[], NodeJS.ProcessEnv, number, RegExp][] = [
  ['pytest', 'passes', PYTEST, {}, 0, /\b6 passed in/],
  [
    'pytest',
    'without POSTERN names it',
    PYTEST,
    { POSTERN: 'no-postern' },
    4,
    /there is no program no-postern; set POSTERN to what starts it/,
  ],
  ['vitest', 'passes', VITEST, {}, 0, /Tests {2}6 passed \(6\)/],
  [
    'vitest',
    'names the Node that it needs',
    VITEST,
    { NODE_OPTIONS },
    1,
    /Postern needs Node 24.15 or newer, and this is Node 20.20.2/,
  ],
  ['go', 'passes', ['go', 'test'], {}, 0, /^ok\s/m],
  ['bots/alerts', 'passes', NODE_TEST, {}, 0, /^# pass [78]$/m],
  ['bots/archive', 'passes', NODE_TEST, {}, 0, /^# pass 7$/m],
  ['bots/mcp', 'passes', NODE_TEST, {}, 0, /^# pass 8$/m],
  ['bots/nats', 'passes', NODE_TEST, {}, 0, /^# pass 5$/m],
]

test.for(ROWS)(
  'the example for %s %s',
  { timeout: WITHIN_MS },
  async ([name, , [program = '', ...args], env, expected, part], { skip }) => {
    skip(IS_MISSING[name] === true, `not installed: the program of ${name}`)
    const options = { cwd: await copyOf(name), env: { ...environment, ...env } }
    const { code, stdout, stderr } = await run(...mortal(program, args), options)
    expect([code, String(stdout) + stderr]).toEqual([expected, expect.stringMatching(part)])
  },
)

test('pages advise npx for Postern only below an installation', () => {
  const advised = readPages().flatMap(({ path, text }) =>
    text
      .split('\n')
      .flatMap((line) => (/^[^#]*npx postern/.test(line) ? [`${path}: ${line}`] : [])),
  )
  for (const line of advised) {
    expect(line).toMatch(
      /^config\/examples\/README\.md: |: npm install .* && npx|only in \[a folder where it is installed\]/,
    )
  }
})
