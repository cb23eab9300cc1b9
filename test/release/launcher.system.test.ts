/** What `npx postern` and the exports do before anything else: look at the Node they were given. */
import { run, spawn } from '../support/programs.ts'
import { once } from 'node:events'
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join, resolve } from 'node:path'
import { describe, expect, onTestFinished, test, type TestContext } from 'vitest'
import { mortal } from '../support/mortal.ts'

const LAUNCHER = resolve('bin/postern.cjs')

/** Runs the launcher in a Node that says it is of another version. */
const launchAs = (version: string) =>
  run(process.execPath, [
    '--eval',
    `Object.defineProperty(process.versions, 'node', { value: '${version}' })
     process.argv.push('postern', '--version')
     require(${JSON.stringify(LAUNCHER)})`,
  ])

/** A Node before 24 on this machine. */
async function olderNode({ skip }: TestContext): Promise<string> {
  for (const folder of (process.env['PATH'] ?? '').split(delimiter)) {
    if (!existsSync(join(folder, 'node'))) continue
    const { stdout } = await run(join(folder, 'node'), ['--version'])
    const major = /^v(\d+)/.exec(String(stdout))?.[1]
    if (major !== undefined && Number(major) < 24) return join(folder, 'node')
  }
  return skip('there is no Node before 24 here')
}

/** Whether the oldest Node could read a file. */
function isPlain(file: string): boolean {
  const code = readFileSync(file, 'utf8')
    .replace(/\/\*[^]*?\*\//g, '')
    .replace(/'[^']*'/g, "''")
  return !/=>|`|\b(let|const|class|async|await|import)\b|,\s*\)|\?\.|\?\?/.test(code)
}

describe('the launcher', () => {
  test.each(['0.12.18', '8.17.0', '23.11.1', '24.14.1'])(
    'the launcher refuses Node %s',
    async (version) => {
      const { code, stdout, stderr } = await launchAs(version)
      expect([code, String(stdout)]).toEqual([2, ''])
      expect(stderr).toBe(
        `postern: Node ${version} is too old, Postern needs 24.15\n` +
          `hint: run \`npm ci\` in ${resolve('.')}, which installs the libraries and Node for them\n` +
          'code: environment\n',
      )
    },
  )

  test.each(['24.15.0', '26.10.0', '100.0.0'])(
    'the launcher runs with Node %s',
    async (version) => {
      const { code, stdout, stderr } = await launchAs(version)
      expect([code, String(stdout), stderr]).toEqual([0, expect.stringMatching(/^\d/), ''])
    },
  )

  const NODE_OF_SITE = /hint: install Node 24.15 or newer/
  const NPM_CI = /hint: run `npm ci` in .*postern-launcher-/
  test.for([
    ['an older Node', 'the package', ['bin', 'package.json'], NODE_OF_SITE],
    ['an older Node', 'a clone', ['bin', 'package.json', 'src/main.ts'], NPM_CI],
    ['this Node', 'a clone', ['bin', 'package.json', 'src/main.ts'], NPM_CI],
  ] as const)(
    'the launcher refuses %s without the libraries of %s with a hint for it',
    async ([which, _of, names, hint], context) => {
      const node = which === 'this Node' ? process.execPath : await olderNode(context)
      const folder = mkdtempSync(join(tmpdir(), 'postern-launcher-'))
      onTestFinished(() => rmSync(folder, { recursive: true }))
      for (const name of names) cpSync(name, join(folder, name), { recursive: true })
      const { code, stderr } = await run(node, [join(folder, 'bin/postern.cjs'), 'demo', '--once'])
      expect(code).toBe(2)
      expect(stderr).toMatch(
        which === 'this Node' ? /its libraries are not/ : /^postern: Node [\d.]+ is too old/,
      )
      expect(stderr).toMatch(hint)
    },
  )

  test('the launcher under an older Node starts the installed Node with arguments, exit code and signals', async (context) => {
    const node = await olderNode(context)
    const refused = await run(node, [LAUNCHER, 'run', '--no-such-flag'])
    expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining('code: usage')])
    const sandbox = spawn(...mortal(node, [LAUNCHER, 'sandbox', '--json']), { stdio: 'pipe' })
    const [line] = (await once(sandbox.stdout as NodeJS.EventEmitter, 'data')) as [Buffer]
    const { controlUrl } = JSON.parse(line.toString()) as { controlUrl: string }
    expect((await fetch(controlUrl)).status).toBe(200)
    sandbox.kill('SIGTERM')
    expect(await once(sandbox, 'exit')).toEqual([0, null])
    await expect(fetch(controlUrl)).rejects.toThrow()
  })

  test.skipIf(process.platform !== 'linux').each(['run', 'sandbox'])(
    'the launcher restarts `%s` in the same process with its Node options',
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
        '--min-semi-space-size=2',
        '--max-semi-space-size=2',
        '--initial-heap-size=48',
        '--no-parallel-scavenge',
        '--memory-saver-mode',
        '--disable-sigusr1',
        '--report-exclude-env',
      ])
    },
  )

  test('the launcher starts other commands without Node options', async () => {
    const { code, stderr } = await run(process.execPath, [LAUNCHER, '--version'])
    expect([code, stderr]).toEqual([0, ''])
    const report = 'process.on("exit",()=>console.log(process.execArgv.length))'
    const imported = `data:text/javascript,${encodeURIComponent(report)}`
    for (const command of ['run', 'status', 'sandbox reset']) {
      const args = [LAUNCHER, ...command.split(' '), '--help']
      const { stdout } = await run(process.execPath, ['--import', imported, ...args])
      expect(String(stdout), command).toMatch(/^2$/m)
    }
  })

  test('the launcher has syntax of any Node', () => expect(isPlain(LAUNCHER)).toBe(true))

  test('the launcher passes on arguments and exit code', async () => {
    const { code, stderr } = await run(process.execPath, [LAUNCHER, 'key', 'polish'])
    expect([code, stderr]).toEqual([2, expect.stringContaining('code: usage')])
  })
})

describe.each(['sandbox', 'testing'])('postern/%s', (name) => {
  const file = resolve('bin', `${name}.cjs`)
  const said = (version: string) =>
    `postern/${name} needs Node 24.15 or newer, and this is Node ${version} (https://nodejs.org)`
  /** Ways of taking it in, each as a program that prints what came of it. */
  const ways = {
    import: `import(${JSON.stringify(file)}).then(show, fail)`,
    require: `try { show(require(${JSON.stringify(file)})) } catch (error) { fail(error) }`,
  }
  const show = `
    var show = function (found) { console.log(Object.keys(found).sort().join()) }
    var fail = function (error) { console.log(error.code + ': ' + error.message) }`
  const load = async (how: keyof typeof ways, version?: string, node = process.execPath) => {
    const pretend = `Object.defineProperty(process.versions, 'node', { value: '${version}' })`
    const program = [...(version === undefined ? [] : [pretend]), show, ways[how]].join('\n')
    const { code, stdout, stderr } = await run(node, ['--eval', program])
    return [code, String(stdout).trim(), stderr]
  }

  test.each(['import', 'require'] as const)(
    'the export for %s has every name of its module',
    async (how) => {
      const module = (await import(`../../src/${name}/index.ts`)) as object
      const [code, names, stderr] = await load(how)
      expect([code, stderr]).toEqual([0, ''])
      expect(String(names).split(',')).toEqual(expect.arrayContaining(Object.keys(module)))
    },
  )

  test.each(['import', 'require'] as const)(
    'the export fails to %s under an older version with one sentence',
    async (how) => {
      for (const version of ['8.17.0', '24.14.1']) {
        expect(await load(how, version)).toEqual([0, `environment: ${said(version)}`, ''])
      }
    },
  )

  test('the export has syntax of any Node', () => {
    const files = [file, resolve('bin/load-module.cjs'), resolve('bin/node-version.cjs')]
    expect(files.filter((one) => !isPlain(one))).toEqual([])
  })
})

test('the version of package.json is the newest of the changelog', () => {
  const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string }
  const newest = /^## (\S+?),? /m.exec(readFileSync('CHANGELOG.md', 'utf8'))?.[1]
  expect(newest).toBe(version)
})
