import { describe, expect, test } from 'vitest'
import { dataFolder } from '../control/support.ts'
import { postern, silentService, start } from './support.ts'

describe('postern status --ready', () => {
  test('ends with 1 and says why while the service does not answer; without it, with 0', async () => {
    const cwd = dataFolder()
    const sidecar = start(['run'], { cwd, env: await silentService() })
    await sidecar.waitForStderr(/"msg":"listening"/)
    const asked = await postern(['status', '--ready'], { cwd })
    expect([asked.code, asked.stdout]).toEqual([1, expect.stringMatching(/^not ready\n/)])
    expect(asked.stderr).toMatch(/^postern: the sidecar is not ready: [a-z-]+.*\nhint: .+\n/)
    expect((await postern(['status'], { cwd })).code).toBe(0)
  })

  test('ends with 1 when no sidecar runs', async () => {
    const { code, stderr } = await postern(['status', '--ready'], { cwd: dataFolder() })
    expect([code, stderr]).toEqual([1, expect.stringContaining('code: not-running')])
  })

  test('cannot be watched', async () => {
    const asked = await postern(['status', '--ready', '--watch'], { cwd: dataFolder() })
    expect([asked.code, asked.stderr]).toEqual([2, expect.stringContaining('--watch')])
  })
})

describe('postern status --watch', () => {
  test('goes on over a restart of the sidecar, and says so meanwhile', async () => {
    const cwd = dataFolder()
    const env = await silentService()
    const first = start(['run'], { cwd, env })
    await first.waitForStderr(/"msg":"listening"/)
    const watching = start(['status', '--watch'], { cwd })
    await watching.waitForStdout(new RegExp(`process ${first.process.pid},`))
    await watching.waitForStderr(/as of \d{4}-/)
    first.process.kill('SIGTERM')
    await watching.waitForStderr(/no sidecar runs on .* just now/)
    await first.ended
    const second = start(['run'], { cwd, env })
    await watching.waitForStdout(new RegExp(`process ${second.process.pid},`))
    watching.process.kill('SIGTERM')
    expect((await watching.ended).code).toBe(0)
  })
})
