/** The example projects whose tests start Postern themselves, run as their README says. */
import { cpSync, existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { run, works } from '../support/programs.ts'
import { afterAll, expect, test } from 'vitest'
import { GO_CACHE, hasGo } from '../support/go-bot.ts'
import { COMPILED, mainFile } from '../support/postern-process.ts'
import { mortal } from '../support/mortal.ts'
import { readPages } from '../support/readme-tables.ts'

const EXAMPLES = join(import.meta.dirname, '../../config/examples')
const WITHIN_MS = 180_000
const folder = mkdtempSync(join(tmpdir(), 'postern-projects-'))
const home = join(folder, 'home')
const environment = {
  PATH: process.env['PATH'],
  HOME: home,
  POSTERN: `${process.execPath} ${mainFile()}`,
  NODE_COMPILE_CACHE: COMPILED,
}
const hasPytest = works('pytest is not installed', 'python3', '-m', 'pytest', '--version')

afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** A copy, so that nothing is left behind in the example. */
function copyOf(name: string): string {
  const copy = join(folder, name)
  cpSync(join(EXAMPLES, name), copy, { recursive: true })
  return copy
}

test('the example for pytest passes', { timeout: WITHIN_MS }, async ({ skip }) => {
  skip(!hasPytest, 'not installed: pytest')
  const { code, stdout } = await pytest(copyOf('pytest'))
  expect([code, String(stdout)]).toEqual([0, expect.stringMatching(/\b6 passed in/)])
})

test('the example for Vitest passes', { timeout: WITHIN_MS }, async () => {
  const { code, stdout } = await vitest(linked(copyOf('vitest')))
  expect([code, String(stdout)]).toEqual([0, expect.stringMatching(/Tests {2}6 passed \(6\)/)])
})

test(
  'the example for pytest without POSTERN names it',
  { timeout: WITHIN_MS },
  async ({ skip }) => {
    skip(!hasPytest, 'not installed: pytest')
    const cwd = copyOf('pytest')
    const { code, stdout, stderr } = await pytest(cwd, { ...environment, POSTERN: 'no-postern' })
    const message = 'there is no program no-postern; set POSTERN to what starts it'
    expect([code, String(stdout) + stderr]).toEqual([4, expect.stringContaining(message)])
  },
)

test('the example for Vitest names the Node that it needs', { timeout: WITHIN_MS }, async () => {
  const old = `Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '20.20.2' } })`
  const NODE_OPTIONS = `--import=data:text/javascript,${encodeURIComponent(old)}`
  const cwd = linked(copyOf('vitest'))
  const { code, stdout, stderr } = await vitest(cwd, { ...environment, NODE_OPTIONS })
  const message = 'Postern needs Node 24.15 or newer, and this is Node 20.20.2'
  expect([code, String(stdout) + stderr]).toEqual([1, expect.stringContaining(message)])
})

test('pages advise npx for Postern only below an installation', () => {
  const advised = readPages().flatMap(({ path, text }) =>
    text
      .split('\n')
      .flatMap((line) => (/^[^#]*npx postern/.test(line) ? [`${path}: ${line}`] : [])),
  )
  for (const line of advised) {
    expect(line).toMatch(
      /^config\/examples\/README\.md: |only in \[a folder where it is installed\]/,
    )
  }
})

test('the example for Go passes', { timeout: WITHIN_MS }, async ({ skip }) => {
  skip(!hasGo, 'not installed: go')
  const { code, stdout, stderr } = await goTest(copyOf('go'))
  expect([code, String(stdout) + stderr]).toEqual([0, expect.stringMatching(/^ok\s/m)])
})

/** What `npm install` of a clone and of Vitest leaves in a project. */
function linked(cwd: string): string {
  const modules = join(cwd, 'node_modules')
  mkdirSync(modules, { recursive: true })
  for (const [name, target] of [
    ['postern', '../..'],
    ['vitest', '../../node_modules/vitest'],
  ] as const) {
    const link = join(modules, name)
    if (!existsSync(link)) symlinkSync(join(import.meta.dirname, target), link)
  }
  return cwd
}

const vitest = (cwd: string, env: NodeJS.ProcessEnv = environment) =>
  run(...mortal(process.execPath, ['node_modules/vitest/vitest.mjs', 'run', '--no-color']), {
    cwd,
    env,
  })

const pytest = (cwd: string, env: NodeJS.ProcessEnv = environment) =>
  run(...mortal('python3', ['-m', 'pytest', '-p', 'no:cacheprovider']), { cwd, env })

const goTest = (cwd: string, ...args: string[]) =>
  run(...mortal('go', ['test', ...args]), {
    cwd,
    env: { ...environment, GOCACHE: GO_CACHE, GOPROXY: 'off', CGO_ENABLED: '0' },
  })
