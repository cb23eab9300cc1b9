/** What a person at a terminal may expect of every command. */
import { spawn } from '../support/programs.ts'
import { once } from 'node:events'
import { mkdirSync, readdirSync, realpathSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { asTyped, keepFlags } from '../../src/cli/terminal.ts'
import { dataFolder } from '../operators/support.ts'
import { mortal } from '../support/mortal.ts'
import { mainFile } from '../support/postern-process.ts'
import { hasTerminals } from '../support/terminal.ts'
import { runInProcess, start } from './support.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const BIN = join(ROOT, 'bin', 'postern.cjs')

/** Starts a command at a terminal; `close` closes that, as one closes a window. */
function inWindow(args: readonly string[], o: { cwd: string }) {
  const command = `stty cols 80; exec '${process.execPath}' '${mainFile()}' ${args.join(' ')}`
  const child = spawn(...mortal('script', ['-qfec', command, '/dev/null']), {
    cwd: o.cwd,
    env: { PATH: '/usr/bin:/bin', TERM: 'xterm', SHELL: '/bin/sh', HOME: o.cwd, TMPDIR: o.cwd },
  })
  onTestFinished(() => void child.kill('SIGKILL'))
  let screen = ''
  const looks = new Set<() => void>()
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    screen += text
    for (const look of looks) look()
  })
  return {
    child,
    shows: (words: string) =>
      new Promise<void>((resolve) => {
        const look = (): void => {
          if (screen.includes(words)) resolve()
        }
        looks.add(look)
        look()
      }),
  }
}

test.runIf(hasTerminals)(
  'the demo leaves no files behind when its terminal is closed',
  async () => {
    const cwd = dataFolder()
    const { child, shows } = inWindow(['demo'], { cwd })
    await shows('Ctrl-D ends the demo')
    expect(readdirSync(cwd)).toHaveLength(1)
    child.kill('SIGKILL')
    await expect.poll(() => readdirSync(cwd), { timeout: 20_000 }).toEqual([])
  },
)

test('a sandbox ends with 0 after SIGHUP', async () => {
  const sandbox = start(['sandbox'], { cwd: dataFolder() })
  await sandbox.waitForStderr(/the sandbox runs/)
  sandbox.process.kill('SIGHUP')
  sandbox.process.kill('SIGHUP')
  expect((await sandbox.ended).code).toBe(0)
})

test.runIf(hasTerminals)('the demo at a terminal ends with 0 at Ctrl-D', async () => {
  const { child, shows } = inWindow(['demo'], { cwd: dataFolder() })
  await shows('Ctrl-D ends the demo')
  child.stdin.write('\u0004')
  expect(await once(child, 'close')).toEqual([0, null])
})

describe('hints in a clone', () => {
  const say = async (cwd: string, args: string[]): Promise<string> => {
    const child = spawn(...mortal(process.execPath, [BIN, ...args]), {
      cwd,
      env: { PATH: '/usr/bin:/bin', HOME: cwd },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    let text = ''
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (part: string) => (text += part))
    }
    await once(child, 'close')
    return text
  }

  test('a hint names a command that works in the current folder', async () => {
    expect(await say(ROOT, ['status', '--data-dir', '/nowhere'])).toContain(
      'hint: start it with `node bin/postern.cjs run`',
    )
    expect(await say(dataFolder(), ['status'])).toContain(`hint: start it with \`node ${BIN} run\``)
    expect(await say(ROOT, ['nonsense'])).toContain('`node bin/postern.cjs --help` lists')
  })

  test('the examples of help name a command that works in the current folder', async () => {
    expect(await say(ROOT, ['key', 'show', '--help'])).toContain(
      'example: node bin/postern.cjs key show | gpg --import',
    )
  })
})

/** Commands in texts of a process that was started by a file, in a folder. */
function typedAs(started: string, cwd: string): (text: string) => string {
  const { argv } = process
  process.argv = [argv[0] ?? '', started]
  const spy = vi.spyOn(process, 'cwd').mockReturnValue(cwd)
  onTestFinished(() => {
    process.argv = argv
    spy.mockRestore()
    keepFlags({})
  })
  return asTyped
}

describe('`asTyped`', () => {
  /** A folder with Postern as a package, as npm installs it. */
  function project() {
    const folder = realpathSync(dataFolder())
    const file = join(folder, 'node_modules', 'postern', 'bin', 'postern.cjs')
    for (const one of ['.bin', 'postern/bin', '../inside', '../other']) {
      mkdirSync(join(folder, 'node_modules', one), { recursive: true })
    }
    writeFileSync(file, '')
    writeFileSync(join(folder, 'other', 'package.json'), '{}')
    const link = join(folder, 'node_modules', '.bin', 'postern')
    symlinkSync('../postern/bin/postern.cjs', link)
    const program = join(folder, 'postern')
    symlinkSync(file, program)
    return { folder, file, link, program }
  }

  test('a package is started by npx in its folder alone', () => {
    const { folder, file, link } = project()
    for (const [started, cwd, command] of [
      [link, folder, 'npx postern'],
      [file, join(folder, 'inside'), 'npx postern'],
      [link, join(folder, 'other'), `node ${file}`],
      [link, '/', `node ${file.slice(1)}`],
    ] as const) {
      expect(typedAs(started, cwd)('run `postern run`')).toBe(`run \`${command} run\``)
    }
  })

  test('a program on the path is named alone, and a container’s file from its folder', () => {
    const { folder, program } = project()
    expect(typedAs(program, '/')('`postern run`')).toBe('`postern run`')
    mkdirSync(join(folder, 'dist'))
    const main = join(folder, 'dist', 'main.js')
    writeFileSync(main, '')
    expect(typedAs(main, folder)('`postern status`')).toBe('`node dist/main.js status`')
  })

  test('a command has the settings file and the bot of the command that names it', () => {
    const typed = typedAs('/elsewhere/main.ts', '/')
    keepFlags({ config: 'my file.yaml', bot: 'echo' })
    expect(typed('`postern key list`, `postern key show | gpg --import`')).toBe(
      "`postern --config 'my file.yaml' --bot echo key list`, " +
        "`postern --config 'my file.yaml' --bot echo key show | gpg --import`",
    )
    expect(typed('`postern run`')).toBe("`postern --config 'my file.yaml' run`")
    const others = '`postern sandbox`, `postern --help`, `postern dev`, `postern <command> --help`'
    expect(typed(others)).toBe(others)
  })
})

test('a command that a hint names with --config and --bot is accepted', async () => {
  const { code } = await runInProcess(['--config', '/nowhere', '--bot', 'x', 'config', 'list'])
  expect(code).toBe(0)
})
