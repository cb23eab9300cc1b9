/** The runbooks of the documentation: their commands are run as they stand there. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, test, vi } from 'vitest'
import { PASSPHRASE, Stage } from '../cli/secrets-stage.ts'
import { blocks, commands, shell } from './runbook.ts'

// Each is a good many processes, one after the other.
vi.setConfig({ testTimeout: 240_000 })

/** What stands before the sidecar is started again. */
function untilRun(heading: string): string[] {
  const lines = commands(heading)
  expect(lines.at(-1)).toMatch(/^postern run\b/)
  return lines.slice(0, -1)
}

const keysOf = async (stage: Stage) =>
  JSON.parse(await stage.does('key list --json')) as { fingerprint: string; state: string }[]

test('the runbook “Moving to another host” moves the key and the store', async () => {
  const [old, fresh] = [await Stage.make(), await Stage.make()]
  await old.down(await old.up())
  const lines = untilRun('Moving to another host')
  const create = lines.findIndex((line) => line.startsWith('postern backup create'))
  await shell(old, lines.slice(0, create + 1))
  const backup = readFileSync(old.path('postern.backup'))
  writeFileSync(fresh.path('postern.backup'), backup, { mode: 0o600 })
  const sameService = {
    POSTERN_UPSTREAM_URL: old.sandbox.url,
    POSTERN_BOT_TOKEN: old.sandbox.token,
  }
  const { stdout } = await shell(fresh, lines.slice(create + 1), { more: sameService })
  const shown = await old.shown()
  expect(stdout).toContain(shown)
  const sidecar = await fresh.up(sameService)
  expect(await old.shown()).toBe(shown)
  await fresh.down(sidecar)
})

test('the runbook “Restored backup” runs the store again after the comparison with the service', async () => {
  const stage = await Stage.plain()
  const sidecar = await stage.up()
  await stage.does('backup create postern.backup')
  await stage.down(sidecar)
  const lines = untilRun('Restored backup')
  const { stderr } = await shell(stage, lines)
  expect(stderr).toContain('which is in the backup (active)')
  expect(stderr).toContain('withheld as replayed')
  await stage.down(await stage.up())
})

test('the runbook “Restored backup” refuses a backup older than the published key until that is replaced', async () => {
  const stage = await Stage.plain()
  const first = await stage.does('key generate')
  await stage.does('backup create postern.backup')
  await stage.does('key publish')
  const sidecar = await stage.up()
  const second = (await stage.does('key rotate')).split('\n').at(-1) ?? ''
  await expect.poll(() => stage.shown()).toBe(second)
  await stage.down(sidecar)

  const lines = untilRun('Restored backup')
  const failed = await shell(stage, lines).catch((error: { stderr: string }) => error)
  expect(failed.stderr).toContain(`the service shows ${second}, which is not in this backup`)
  expect(failed.stderr).toContain('older than the service’s view')
  // until then a start halts, and says the way on
  const { code, stderr } = await stage.run('run')
  expect(code).toBe(4)
  expect(stderr).toContain('code: store-restored')
  expect(stderr).toContain('postern backup accept')
  await shell(stage, ['postern key publish --replace', 'postern backup accept'])
  await stage.down(await stage.up())
  expect(await stage.shown()).toBe(first)
})

test('the runbook “Lost passphrase” replaces the key of a store that no longer opens', async () => {
  const stage = await Stage.make()
  await stage.down(await stage.up())
  const lost = await stage.shown()
  stage.passphrase = 'another one altogether'
  expect((await stage.run('run')).stderr).toContain('code: store-passphrase')
  await shell(stage, untilRun('Lost passphrase'))
  await stage.down(await stage.up())
  expect(await stage.shown()).not.toBe(lost)
  expect((await keysOf(stage)).map(({ state }) => state)).toEqual(['active'])
})

test('the runbook “Revoked token” gives a running sidecar its new token', async () => {
  const stage = await Stage.plain()
  const file = stage.path('.config/postern/token')
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, stage.sandbox.token, { mode: 0o600 })
  const { POSTERN_BOT_TOKEN: old = '', ...env } = stage.env()
  stage.env = (more) => ({ ...env, POSTERN_BOT_TOKEN_FILE: file, ...more })
  const sidecar = await stage.up()
  const [, door, admin] = await sidecar.waitForStderr(/"bot":"([^"]+)","admin":"([^"]+)"/)
  const call = async (token: string) => {
    const headers = { authorization: `Bearer ${token}` }
    return (await fetch(`${door}/bot/v1/me`, { headers })).status
  }
  expect(await call(old)).toBe(200)
  const { control, home } = stage.sandbox
  const { token } = await control.issueToken({ botId: home.bot.id })
  expect(await call(old)).toBe(401)
  const reasons = await (await fetch(`${admin}/readyz`)).text()
  expect(reasons).toContain('"code":"token"')
  await shell(stage, commands('Revoked token'), { typed: `${token}\n` })
  await expect.poll(() => call(token)).toBe(200)
  expect((await fetch(`${admin}/readyz`)).status).toBe(200)
  await stage.down(sidecar)
})

test('the runbook “A new passphrase” changes the passphrase and leaves the settings unchanged', async () => {
  const stage = await Stage.make()
  const folder = stage.path('.config/postern')
  mkdirSync(folder, { recursive: true })
  const write = (name: string, text: string) =>
    writeFileSync(join(folder, name), text, { mode: 0o600 })
  write('passphrase', PASSPHRASE)
  write('passphrase.new', 'the next passphrase')
  await stage.does('key generate')
  const [block = []] = blocks('A new passphrase')
  expect(block.join('\n')).toContain('POSTERN_NEW_PASSPHRASE_FILE')
  const env = { ...stage.env(), POSTERN_KEY_PASSPHRASE_FILE: join(folder, 'passphrase') }
  delete (env as Record<string, string | undefined>)['POSTERN_KEY_PASSPHRASE']
  stage.env = () => env
  await shell(stage, block)
  expect(readFileSync(join(folder, 'passphrase'), 'utf8')).toBe('the next passphrase')
  expect((await keysOf(stage)).length).toBe(1)
})
