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
import { start } from './support.ts'

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

describe('`asTyped`', () => {
  /** A command in a text of a process that was started by a file, in a folder. */
  const typed = (started: string, cwd: string, command = '`postern run`'): string => {
    const argv = vi.spyOn(process, 'argv', 'get').mockReturnValue(['node', started])
    const folder = vi.spyOn(process, 'cwd').mockReturnValue(cwd)
    const text = asTyped(command)
    argv.mockRestore()
    folder.mockRestore()
    return text
  }

  test('a package is started by npx in its folder alone, and a file by its path', () => {
    const folder = realpathSync(dataFolder())
    const inside = (path: string): string => join(folder, path)
    const file = inside('node_modules/postern/bin/postern.cjs')
    const main = inside('dist/main.js')
    for (const one of ['node_modules/.bin', 'node_modules/postern/bin', 'other', 'bot', 'dist']) {
      mkdirSync(inside(one), { recursive: true })
    }
    for (const one of [file, main, inside('other/package.json')]) writeFileSync(one, '{}')
    const [link, program] = [inside('node_modules/.bin/postern'), inside('postern')]
    for (const one of [link, program]) symlinkSync(file, one)
    expect([
      typed(link, folder),
      typed(file, inside('bot')),
      typed(link, inside('other')),
      typed(main, folder),
      typed(program, '/'),
    ]).toEqual([
      '`npx postern run`',
      '`npx postern run`',
      `\`node ${file} run\``,
      '`node dist/main.js run`',
      '`postern run`',
    ])
  })

  test('a command has the settings file and the bot of the command that names it', () => {
    keepFlags({ config: 'my file.yaml', bot: 'echo' })
    onTestFinished(() => keepFlags({}))
    for (const [text, expected] of [
      ['`postern key show | gpg`', "`postern --config 'my file.yaml' --bot echo key show | gpg`"],
      ['`postern run`', "`postern --config 'my file.yaml' run`"],
      ['`postern dev`, `postern --help`', '`postern dev`, `postern --help`'],
    ] as const) {
      expect(typed('/elsewhere/other.ts', '/', text)).toBe(expected)
    }
  })
})
