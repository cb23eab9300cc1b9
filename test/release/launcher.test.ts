/** What `npx postern` does before anything else: look at the Node it was given. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join, resolve } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { run } from '../support/openpgp-run.ts'

const LAUNCHER = resolve('bin/postern.cjs')

/** Runs the launcher in a Node that says it is of another version. */
const launchAs = (version: string) =>
  run(process.execPath, [
    '--eval',
    `Object.defineProperty(process.versions, 'node', { value: '${version}' })
     process.argv.push('postern', '--version')
     require(${JSON.stringify(LAUNCHER)})`,
  ])

/** A Node before 24 on this machine, if there is one. */
async function olderNode(): Promise<string | null> {
  for (const folder of (process.env['PATH'] ?? '').split(delimiter)) {
    const { stdout } = await run(join(folder, 'node'), ['--version'])
    const major = /^v(\d+)/.exec(String(stdout))?.[1]
    if (major !== undefined && Number(major) < 24) return join(folder, 'node')
  }
  return null
}

describe('the launcher', () => {
  test.each(['0.12.18', '8.17.0', '20.20.2', '23.11.1', '24.14.1'])(
    'refuses Node %s',
    async (version) => {
      const { code, stdout, stderr } = await launchAs(version)
      expect([code, String(stdout)]).toEqual([1, ''])
      expect(stderr).toBe(
        `postern: Node ${version} is too old, Postern needs 24.15\n` +
          'hint: install Node 24.15 or newer (https://nodejs.org), then try again\n' +
          'code: environment\n',
      )
    },
  )

  test.each(['24.15.0', '24.21.0', '25.1.0', '26.10.0', '100.0.0'])(
    'goes on with Node %s',
    async (version) => {
      const { code, stdout, stderr } = await launchAs(version)
      expect([code, String(stdout), stderr]).toEqual([0, expect.stringMatching(/^\d/), ''])
    },
  )

  test('says the same in a Node that really is too old', async ({ skip }) => {
    const node = await olderNode()
    if (node === null) skip('there is no Node before 24 here')
    if (node === null) return
    const { code, stderr } = await run(node, [LAUNCHER, 'demo', '--once'])
    expect(code).toBe(1)
    expect(stderr).toMatch(/^postern: Node [\d.]+ is too old, Postern needs 24.15\nhint: /)
  })

  test.skipIf(process.platform !== 'linux').each(['run', 'sandbox'])(
    'begins `%s` anew, in the same process, with what keeps it small and closed',
    async (command) => {
      const report = join(mkdtempSync(join(tmpdir(), 'postern-launcher-')), 'report.cjs')
      onTestFinished(() => rmSync(dirname(report), { recursive: true }))
      writeFileSync(
        report,
        `console.log(JSON.stringify([process.pid, process.execArgv]))\nif (process.execArgv.length > 2) process.exit(0)`,
      )
      const { stdout } = await run(process.execPath, ['--require', report, LAUNCHER, command])
      const [first, again] = String(stdout)
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line) as [number, string[]])
      expect(again?.[0]).toBe(first?.[0])
      expect(again?.[1]).toEqual([
        '--require',
        report,
        '--max-semi-space-size=2',
        '--memory-saver-mode',
        '--disable-sigusr1',
        '--report-exclude-env',
      ])
    },
  )

  test('leaves other commands as they were started', async () => {
    const { code, stderr } = await run(process.execPath, [LAUNCHER, '--version'])
    expect([code, stderr]).toEqual([0, ''])
    const report = 'process.on("exit",()=>console.log(process.execArgv.length))'
    const imported = `data:text/javascript,${encodeURIComponent(report)}`
    for (const command of ['status', 'sandbox reset']) {
      const args = [LAUNCHER, ...command.split(' '), '--help']
      const { stdout } = await run(process.execPath, ['--import', imported, ...args])
      expect(String(stdout), command).toMatch(/^2$/m)
    }
  })

  test('is written so that any Node can read it', () => {
    const code = readFileSync(LAUNCHER, 'utf8').replace(/\/\*[^]*?\*\//g, '')
    expect(code).not.toMatch(/=>|`|\b(let|const|class|async|await|import)\b|,\s*\)|\?\.|\?\?/)
  })

  test('hands on arguments and exit code', async () => {
    const { code, stderr } = await run(process.execPath, [LAUNCHER, 'key', 'polish'])
    expect([code, stderr]).toEqual([2, expect.stringContaining('code: usage')])
  })
})

describe('the version', () => {
  const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string }

  test('is a semantic one', () => {
    expect(version).toMatch(/^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(-[\da-z.-]+)?$/i)
  })

  test('is the newest that the changelog tells of', () => {
    const newest = /^## (\S+?),? /m.exec(readFileSync('CHANGELOG.md', 'utf8'))?.[1]
    expect(newest).toBe(version)
  })
})
