/** What a person at a terminal may expect of every command. */
import { spawn } from '../support/programs.ts'
import { once } from 'node:events'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, onTestFinished, test } from 'vitest'
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
      'hint: start it with `npm run -s postern -- run`',
    )
    expect(await say(dataFolder(), ['status'])).toContain(`hint: start it with \`node ${BIN} run\``)
    expect(await say(ROOT, ['nonsense'])).toContain(
      '`npm run -s postern -- --help` lists the commands',
    )
  })

  test('the examples of help name a command that works in the current folder', async () => {
    expect(await say(ROOT, ['key', 'show', '--help'])).toContain(
      'example: npm run -s postern -- key show | gpg --import',
    )
  })
})
