import { spawn } from '../support/programs.ts'
import { once } from 'node:events'
import { expect, test } from 'vitest'
import { dataFolder, serve } from '../operators/support.ts'
import { mainFile } from '../support/postern-process.ts'

test('a command whose output pipe is closed ends with 0', async () => {
  const cwd = dataFolder()
  const chat = {
    id: 1,
    kind: 'group',
    personId: null,
    mode: 'open' as const,
    latched: false,
    sealed: false,
    refused: false,
  }
  await serve(cwd, { chatList: async () => Array.from({ length: 10_000 }, () => chat) })
  const script = '{ "$0" "$1" chat list; echo "ended with $?" >&2; } | head -1'
  const shell = spawn('sh', ['-c', script, process.execPath, mainFile()], {
    cwd,
    env: { PATH: '/usr/bin:/bin', POSTERN_DATA_DIR: cwd },
  })
  let stderr = ''
  shell.stderr.on('data', (text: Buffer) => (stderr += text.toString()))
  await once(shell, 'close')
  expect(stderr).toBe('ended with 0\n')
})
