import { spawnSync } from '../support/programs.ts'
import { readFileSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { createControlClient } from '../../src/sandbox/control/table.ts'
import { postern, startSandbox, type SandboxLine } from '../cli/support.ts'
import { execute } from '../store/support.ts'
import { ask } from './support.ts'
import { temporaryFolder } from './world-file.ts'

const cwd = tmpdir()

/** `postern sandbox --data` as a process, and the line that it prints. */
async function sandbox(data: string, args: string[] = []) {
  const { line: world, ...started } = await startSandbox(['--data', data, ...args], cwd)
  const kill = async (signal: 'SIGKILL' | 'SIGTERM' = 'SIGKILL') => {
    started.process.kill(signal)
    return await started.ended
  }
  return { ...started, ...world, control: createControlClient(world.controlUrl), kill }
}

/** What a call of the bot gives; null when it is refused, or nobody answers. */
async function call(
  { url, bots }: Pick<SandboxLine, 'url' | 'bots'>,
  request: string,
  body?: object,
) {
  const at = { url, token: bots[0]?.token ?? '' }
  const answer = ask<Record<string, unknown>>(at, request, body === undefined ? {} : { body })
  const read = await answer.catch(() => null)
  return read?.ok === true ? read : null
}

test('a sandbox restarted on its file and ports has the same bots, people and chats', async () => {
  const data = join(temporaryFolder(), 'a.world')
  const first = await sandbox(data)
  await first.kill('SIGTERM')
  const port = new URL(first.url).port
  const controlPort = new URL(first.controlUrl).port
  const second = await sandbox(data, ['--port', port, '--control-port', controlPort])
  await second.waitForStderr(/goes on/)
  const { url, controlUrl, bots, people, chats } = first
  expect(second).toMatchObject({ url, controlUrl, bots, people, chats })
  expect((await second.kill('SIGTERM')).code).toBe(0)
})

test('a second sandbox on a file in use exits with 1, and the first continues', async () => {
  const data = join(temporaryFolder(), 'a.world')
  const first = await sandbox(data)
  const second = await postern(['sandbox', '--data', data], { cwd })
  expect(second).toMatchObject({ code: 1, stdout: '' })
  expect(second.stderr).toContain(`${data} is in use by another sandbox`)
  expect(second.stderr).toMatch(/end that one first, or name another file/)
  expect(await call(first, 'GET /me')).not.toBeNull()
})

/** Exit code and output of a sandbox that is given a file, which must not change by it. */
async function refused(data: string): Promise<string> {
  const before = readFileSync(data)
  const { code, stdout, stderr } = await postern(['sandbox', '--data', data], { cwd })
  expect([code, stdout]).toEqual([3, ''])
  expect(readFileSync(data).equals(before)).toBe(true)
  return stderr
}

test('a file that is no sandbox’s world is refused unchanged', async () => {
  const dir = temporaryFolder()
  const notes = join(dir, 'notes.txt')
  writeFileSync(notes, 'these are somebody’s notes, more than a hundred bytes of them. '.repeat(4))
  expect(await refused(notes)).toMatch(/is no sandbox’s world/)
  const short = join(dir, 'short')
  writeFileSync(short, '')
  expect(await refused(short)).toMatch(/is no sandbox’s world/)
  const other = join(dir, 'other.db')
  execute(other, 'CREATE TABLE records (n INTEGER)')
  expect(await refused(other)).toMatch(/is no sandbox’s world/)
})

test('the file of a newer version, and a truncated file, are refused unchanged', async () => {
  const data = join(temporaryFolder(), 'a.world')
  await (await sandbox(data)).kill('SIGTERM')
  execute(data, 'PRAGMA user_version = 2')
  expect(await refused(data)).toMatch(/newer version.*\n.*use that version/s)
  execute(data, 'PRAGMA user_version = 1; PRAGMA wal_checkpoint(TRUNCATE)')
  truncateSync(data, Math.floor(statSync(data).size / 2))
  expect(await refused(data)).toMatch(/is broken/)
})

test('a file in a missing folder, a folder and a pipe are refused as --data', async () => {
  const nowhere = join(temporaryFolder(), 'no', 'such', 'folder.world')
  const { code, stderr } = await postern(['sandbox', '--data', nowhere], { cwd })
  expect(code).toBe(1)
  expect(stderr).toMatch(/cannot be opened.*ENOENT/)
  const dir = temporaryFolder()
  expect((await postern(['sandbox', '--data', dir], { cwd })).stderr).toMatch(/no sandbox’s world/)
  const pipe = join(dir, 'pipe')
  if (spawnSync('mkfifo', [pipe]).status !== 0) return
  expect((await postern(['sandbox', '--data', pipe], { cwd })).stderr).toMatch(/no sandbox’s world/)
})
