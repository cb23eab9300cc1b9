import { expect, test } from 'vitest'
import { dataFolder } from '../control/support.ts'
import { postern, start, TOKENS } from './support.ts'

test('from nothing to a published key, with a service, a sidecar and commands', async () => {
  const cwd = dataFolder()
  const sandbox = start(['sandbox', '--json'], { cwd })
  const [world] = await sandbox.waitForStdout(/^\{.*\}$/m)
  const { url, bots } = JSON.parse(world) as { url: string; bots: { token: string }[] }
  const env = { ...TOKENS, POSTERN_UPSTREAM_URL: url, POSTERN_BOT_TOKEN: bots[0]?.token ?? '' }

  const before = await postern(['check'], { cwd, env })
  expect(before.code).toBe(0)
  expect(before.stdout).toMatch(/^warn {2}key: .*every private chat/m)

  const sidecar = start(['run'], { cwd, env })
  await sidecar.waitForStderr(/"state":"published"/)
  const status = await postern(['status'], { cwd })
  expect(status.stdout).toMatch(/^ready\n/)
  expect((await postern(['status', '--ready'], { cwd })).code).toBe(0)

  const keys = await postern(['key', 'list', '--json'], { cwd })
  const [key] = JSON.parse(keys.stdout) as { fingerprint: string; state: string }[]
  expect(key).toMatchObject({ state: 'active' })
  const shown = await postern(['key', 'show', key?.fingerprint ?? ''], { cwd })
  expect(shown.stdout).toMatch(/^-----BEGIN PGP PUBLIC KEY BLOCK-----\n[^]*-----END PGP PUBLIC/)
  expect(shown.stdout).not.toContain('PRIVATE')

  const after = await postern(['check', '--json'], { cwd })
  const levels = (JSON.parse(after.stdout) as { level: string }[]).map(({ level }) => level)
  expect(new Set(levels)).toEqual(new Set(['pass']))
  const opened = await postern(['open'], { cwd, input: shown.stdout })
  expect(opened).toMatchObject({ code: 1, stdout: '' })

  sidecar.process.kill('SIGTERM')
  sandbox.process.kill('SIGTERM')
  const ended = await Promise.all([sidecar.ended, sandbox.ended])
  expect(ended.map(({ code }) => code)).toEqual([0, 0])
  expect(ended[0].stderr).not.toContain(env.POSTERN_BOT_TOKEN)
})
