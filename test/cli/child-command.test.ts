import { spawn } from '../support/programs.ts'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { setTimeout as pause } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import { startCommand } from '../../src/cli/child-command.ts'
import { isRunning } from './support.ts'

const env = { PATH: process.env['PATH'] ?? '' }
const MODULE = fileURLToPath(new URL('../../src/cli/child-command.ts', import.meta.url))

/** A shell script as a command, with all that it prints. */
async function run(script: string, graceMs?: number) {
  const lines: string[] = []
  const command = await startCommand({
    command: ['sh', '-c', script],
    env,
    onLine: (line, stream) => lines.push(`${stream} ${line}`),
    ...(graceMs === undefined ? {} : { graceMs }),
  })
  return { command, lines }
}

test('a child command prints line by line, each line with its stream', async () => {
  const { command, lines } = await run(
    String.raw`printf 'one\ntwo\r\n\n10%%\r20%%\rthree'; printf 'bad\n' >&2; sleep 0.1; printf ' and four'`,
  )
  expect(await command.ended).toEqual({ code: 0, signal: null })
  expect(lines.filter((line) => line.startsWith('stdout'))).toEqual([
    'stdout one',
    'stdout two',
    'stdout ',
    'stdout three and four',
  ])
  expect(lines).toContain('stderr bad')
  await command[Symbol.asyncDispose]()
})

test('a child command that prints faster than its lines are handled waits', async () => {
  const counts = { taken: 0, early: 0 }
  let isBusy = false
  const command = await startCommand({
    command: [
      'sh',
      '-c',
      'i=0; while [ $i -lt 50000 ]; do echo "line $i of many"; i=$((i+1)); done; sleep 60',
    ],
    env,
    onLine: () => {
      counts.taken += 1
      if (isBusy) counts.early += 1
    },
    untilTaken: async () => {
      isBusy = true
      await pause(1)
      isBusy = false
    },
  })
  await expect.poll(() => counts.taken, { timeout: 10_000 }).toBe(50_000)
  expect(counts.early).toBe(0)
  await command[Symbol.asyncDispose]()
})

test('a child command whose lines are never handled can be ended', async () => {
  const command = await startCommand({
    command: ['sh', '-c', 'while :; do echo "a line of many"; done'],
    env,
    onLine: () => undefined,
    untilTaken: () => new Promise(() => undefined),
  })
  await command[Symbol.asyncDispose]()
  expect(isRunning(command.pid)).toBe(false)
})

test('a line without end arrives in parts, and no character is cut in two', async () => {
  const { command, lines } = await run(
    `i=0; while [ $i -lt 3000 ]; do printf 'ééé日'; i=$((i+1)); done`,
  )
  await command.ended
  const text = lines.map((line) => line.replace('stdout ', '')).join('')
  expect(text).toBe('ééé日'.repeat(3000))
  expect(lines.length).toBeGreaterThan(1)
  await command[Symbol.asyncDispose]()
})

test('the exit code is reported although a process left behind holds the output', async () => {
  const { command, lines } = await run('echo before; sleep 100 & echo $!; exit 5')
  expect(await command.ended).toEqual({ code: 5, signal: null })
  const left = Number(lines[1]?.split(' ')[1])
  expect(isRunning(left)).toBe(true)
  await command[Symbol.asyncDispose]()
  await expect.poll(() => isRunning(left)).toBe(false)
})

test('disposal of a child command ends every process that it started', async () => {
  const { command, lines } = await run('sleep 100 & echo $!; sleep 100 & echo $!; wait')
  await expect.poll(() => lines.length).toBe(2)
  const pids = [command.pid, ...lines.map((line) => Number(line.split(' ')[1]))]
  expect(pids.map(isRunning)).toEqual([true, true, true])
  await command[Symbol.asyncDispose]()
  expect(await command.ended).toEqual({ code: null, signal: 'SIGTERM' })
  await expect.poll(() => pids.map(isRunning)).toEqual([false, false, false])
})

test('a child command that exits in time after SIGTERM is not killed', async () => {
  const { command, lines } = await run(`trap 'echo bye; exit 0' TERM; echo up; sleep 100 & wait`)
  await expect.poll(() => lines).toContain('stdout up')
  await command[Symbol.asyncDispose]()
  expect(await command.ended).toEqual({ code: 0, signal: null })
  expect(lines).toContain('stdout bye')
})

test('a child command that ignores SIGTERM is killed with its own processes', async () => {
  const script = `trap '' TERM; sh -c 'trap "" TERM; echo $$; while :; do sleep 1; done' & echo up; while :; do sleep 1; done`
  const { command, lines } = await run(script, 300)
  await expect.poll(() => lines.length).toBe(2)
  const inner = Number(/\d+/.exec(lines.join())?.[0])
  await command[Symbol.asyncDispose]()
  expect(await command.ended).toEqual({ code: null, signal: 'SIGKILL' })
  await expect.poll(() => isRunning(inner)).toBe(false)
})

test('a child command has no standard input and only the given environment', async () => {
  const lines: string[] = []
  const command = await startCommand({
    command: ['sh', '-c', 'read -r x || echo "no input"; echo "$GREETING"'],
    env: { ...env, GREETING: 'hello there' },
    onLine: (line) => lines.push(line),
  })
  await command.ended
  expect(lines).toEqual(['no input', 'hello there'])
})

test('a child command and its processes end when their parent is killed', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'postern-child-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const source = `
    import { startCommand } from ${JSON.stringify(MODULE)}
    const command = ['sh', '-c', 'sleep 100 & echo $!; echo $$; wait']
    await startCommand({ command, env: process.env, onLine: (line) => console.log(line) })
    setInterval(() => {}, 1000)`
  const parent = spawn(process.execPath, ['--input-type=module', '--eval', source], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let printed = ''
  parent.stdout.setEncoding('utf8').on('data', (text: string) => (printed += text))
  await expect.poll(() => printed.split('\n').length).toBe(3)
  const pids = printed.trim().split('\n').map(Number)
  expect(pids.map(isRunning)).toEqual([true, true])
  parent.kill('SIGKILL')
  await once(parent, 'exit')
  await expect.poll(() => pids.map(isRunning), { timeout: 10_000 }).toEqual([false, false])
})
