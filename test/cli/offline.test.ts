import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { dataFolder, serve } from '../control/support.ts'
import { postern, start, TOKENS } from './support.ts'

describe('commands when no sidecar runs', () => {
  test('work on its data directory', async () => {
    const cwd = dataFolder()
    const sidecar = start(['run'], { cwd, env: TOKENS })
    await sidecar.waitForStderr(/"listening"/)
    sidecar.process.kill('SIGTERM')
    expect((await sidecar.ended).code).toBe(0)
    const listed = await postern(['chat', 'list', '--json'], { cwd, env: TOKENS })
    expect(listed).toEqual({ code: 0, stdout: '[]\n', stderr: '' })
  })

  test('say that there is nothing yet, and make nothing', async () => {
    const cwd = dataFolder()
    for (const line of ['key show', 'chat allow-readable 1']) {
      const { code, stderr } = await postern(line.split(' '), { cwd, env: TOKENS })
      expect(code).toBe(3)
      expect(stderr).toContain('code: store-missing')
    }
    expect(existsSync(`${cwd}/.postern`)).toBe(false)
  })

  test('need all settings, and say what is missing', async () => {
    const { code, stderr } = await postern(['key', 'list'], { cwd: dataFolder() })
    expect(code).toBe(2)
    expect(stderr).toContain('bot.token: is required')
  })
})

test('a reader that goes away is no failure', async () => {
  const cwd = dataFolder()
  const chat = {
    id: 1,
    kind: 'group',
    personId: null,
    mode: 'open' as const,
    latched: false,
    refused: false,
  }
  await serve(cwd, { chatList: async () => Array.from({ length: 50_000 }, () => chat) })
  const main = fileURLToPath(new URL('../../src/main.ts', import.meta.url))
  const script = '{ "$0" "$1" chat list; echo "ended with $?" >&2; } | head -1'
  const shell = spawn('sh', ['-c', script, process.execPath, main], {
    cwd,
    env: { PATH: '/usr/bin:/bin', POSTERN_DATA_DIR: cwd },
  })
  let stderr = ''
  shell.stderr.on('data', (text: Buffer) => (stderr += text.toString()))
  await once(shell, 'close')
  expect(stderr).toBe('ended with 0\n')
})
