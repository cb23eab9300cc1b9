import { existsSync, readFileSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { CommandError, runCommand } from '../../src/util/run-command.ts'
import { temporary } from '../store/support.ts'

const { PATH } = process.env
const sh = (script: string, o: { timeoutMs?: number; env?: NodeJS.ProcessEnv } = {}) => ({
  argv: ['/bin/sh', '-c', script],
  env: { PATH },
  ...o,
})
const failure = async (run: Promise<Buffer>): Promise<CommandError> => {
  const error: unknown = await run.catch((thrown: unknown) => thrown)
  expect(error).toBeInstanceOf(CommandError)
  return error as CommandError
}
const isAlive = (pid: number): boolean => {
  // one that nobody has waited for yet has ended all the same
  const path = `/proc/${pid}/stat`
  return existsSync(path) && !/^\d+ \(.*\) Z/.test(readFileSync(path, 'utf8'))
}

test('a command receives its input, and its output is the result', async () => {
  expect((await runCommand(sh('cat; echo done'), 'words\n')).toString()).toBe('words\ndone\n')
  expect((await runCommand(sh('exit 0'), 'x'.repeat(1_000_000))).length).toBe(0)
})

test('the arguments of a command are not read by a shell', async () => {
  const argv = ['/usr/bin/printf', '%s|', '$HOME', '; echo', '"']
  expect((await runCommand({ argv, env: {} })).toString()).toBe('$HOME|; echo|"|')
})

test('a command has only the given environment', async () => {
  process.env['TESTS_CANARY'] = 'of the process'
  const printed = await runCommand(sh('echo "$MINE-$TESTS_CANARY-"', { env: { PATH, MINE: 'a' } }))
  delete process.env['TESTS_CANARY']
  expect(printed.toString()).toBe('a--\n')
})

test.each([
  ['exit 7', 'ended with exit code 7'],
  ['kill -SEGV $$', 'was ended by SIGSEGV'],
  ['kill -KILL $$', 'was ended by SIGKILL'],
])('a command that ends by `%s` rejects with: %s', async (script, message) => {
  const error = await failure(runCommand(sh(`echo secret; echo secret >&2; ${script}`)))
  expect(error.message).toBe(message)
  expect(error.hasStarted).toBe(true)
})

test.each([
  ['/nowhere/program', 'cannot be started (ENOENT)'],
  ['/etc/passwd', 'cannot be started (EACCES)'],
  ['/etc/passwd/program', 'cannot be started (ENOTDIR)'],
  [`/${'x'.repeat(300)}`, 'cannot be started (ENAMETOOLONG)'],
])(
  'a program %s that cannot be started rejects with an error of its own',
  async (program, message) => {
    const error = await failure(runCommand({ argv: [program], env: {} }))
    expect(error).toMatchObject({ message, hasStarted: false })
  },
)

test.each([
  ['sleep 300 & echo $! > PID; wait'],
  // it is gone, and a process that it left behind holds its output open
  ['sleep 300 & echo $! > PID'],
  ['trap "" TERM; sleep 300 & echo $! > PID; wait'],
])('a command past its time limit is killed with all its processes: %s', async (script) => {
  const file = `${temporary()}/pid`
  const command = sh(script.replace('PID', file), { timeoutMs: 2000 })
  expect((await failure(runCommand(command))).message).toMatch(/^did not end within 2 s/)
  const pid = Number((await runCommand(sh(`cat ${file}`))).toString())
  for (let tries = 0; isAlive(pid) && tries < 200; tries += 1) await pause(10)
  expect(isAlive(pid)).toBe(false)
})

test('a command that prints more than 64 KiB is killed', async () => {
  expect((await failure(runCommand(sh('yes')))).message).toBe('printed more than 64 KiB')
  expect((await runCommand(sh('head -c 65536 /dev/zero'))).length).toBe(65_536)
})
