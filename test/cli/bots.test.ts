/** Commands on several bots, before a sidecar that runs as a process of its own, and before none. */
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { createSandbox, type Sandbox } from '../../src/sandbox/create.ts'
import { canaries } from '../support/canaries.ts'
import { until } from '../support/sidecar.ts'
import { startSidecarProcess, type SidecarProcess } from '../support/sidecar-process.ts'
import { runInProcess, type Ended } from './support.ts'

const root = mkdtempSync(join(tmpdir(), 'bots-'))
const folder = join(root, 'bots.d')
const OF_THE_PROCESS = `admin: {readyWhen: any}\ndataDir: ${join(root, 'data')}\n`
let sandbox: Sandbox
let env: Record<string, string>
let sidecar: SidecarProcess

beforeAll(async () => {
  sandbox = await createSandbox({ rates: 'off' })
  mkdirSync(folder)
  writeFileSync(join(root, 'process.yaml'), OF_THE_PROCESS)
  env = {
    POSTERN_CONFIG: join(root, 'process.yaml'),
    POSTERN_UPSTREAM_URL: sandbox.url,
    POSTERN_BOTS: folder,
    POSTERN_KEY_PROTECTION: 'none',
  }
  await tokenFile('first')
  await tokenFile('second')
  writeFileSync(join(folder, 'first.yaml'), `tokenFile: ${join(root, 'first')}\n`)
  sidecar = await startSidecarProcess({ cwd: root, env })
  await ready('first')
}, 60_000)

afterAll(async () => {
  await sidecar[Symbol.asyncDispose]()
  await sandbox[Symbol.asyncDispose]()
  rmSync(root, { recursive: true, force: true })
})

/** Makes a bot at the sandbox, and the file of its token. */
async function tokenFile(name: string): Promise<string> {
  const { token } = await sandbox.control.addBot({ username: `${name}_of_bots_bot` })
  canaries()?.secret(token)
  const file = join(root, name)
  writeFileSync(file, `${token}\n`, { mode: 0o600 })
  return file
}

async function run(...args: string[]): Promise<Ended> {
  try {
    return await runInProcess(args, env)
  } finally {
    vi.unstubAllEnvs()
  }
}

interface Listed {
  name: string
  ready: boolean
  reasons: { code: string }[]
}

async function list(): Promise<Listed[]> {
  const { code, stdout } = await run('bot', 'list', '--json')
  expect(code).toBe(0)
  return JSON.parse(stdout) as Listed[]
}

const ready = (name: string) =>
  until(
    async () => (await list()).some((bot) => bot.name === name && bot.ready),
    `${name} is ready`,
  )

async function reasonOf(name: string): Promise<string | undefined> {
  return (await list()).find((bot) => bot.name === name)?.reasons[0]?.code
}

async function statusOf(name: string): Promise<number> {
  const token = readFileSync(join(root, name), 'utf8').trim()
  const headers = { authorization: `Bearer ${token}` }
  return (await fetch(`${sidecar.bot}/bot/v1/me`, { headers })).status
}

describe('while it runs', () => {
  test('a bot is added, listed and removed without a restart', async () => {
    expect(await statusOf('second')).toBe(401)
    const added = await run('bot', 'add', 'second', '--token-file', join(root, 'second'))
    expect(added).toMatchObject({ code: 0, stdout: `${join(folder, 'second.yaml')}\n` })
    expect(statSync(join(folder, 'second.yaml')).mode & 0o777).toBe(0o600)
    await ready('second')
    expect(await statusOf('second')).toBe(200)
    const table = await run('bot', 'list')
    expect((await run('bot', 'list', '--bot', 'second')).stdout).not.toContain('first')
    expect((await run('bot', 'list', '--bot', 'nobody')).code).toBe(2)
    expect(table.stdout).toMatch(
      /^NAME +READY +BOT +REASONS\nfirst +yes +@first_of_bots_bot, id \d+ +-\n/,
    )

    const removed = await run('bot', 'remove', 'second')
    expect(removed.code).toBe(0)
    expect(removed.stderr).toContain(`its store with its keys stays in ${root}/data/bots/second`)
    expect(await statusOf('second')).toBe(401)
    expect((await list()).map(({ name }) => name)).toEqual(['first'])
    expect(existsSync(join(root, 'data/bots/second/postern.db'))).toBe(true)
  })

  test.each([
    [['bot', 'add', 'first', '--token-file', '/dev/null'], 'there is a bot first already'],
    [['bot', 'add', 'No', '--token-file', '/dev/null'], 'a bot’s name is at most 63'],
    [['bot', 'remove', 'nobody'], 'there is no bot nobody in'],
    [['bot', 'add', 'third', '--token-file', '/nowhere'], 'there is no such file'],
    [['bot', 'add', 'third', '--token-file', join(root, 'first')], 'the token of the same bot'],
  ])('%j is refused, and changes nothing', async (args, message) => {
    const { code, stderr } = await run(...args)
    expect(code).not.toBe(0)
    expect(stderr).toContain(message)
    expect(existsSync(join(folder, 'third.yaml'))).toBe(false)
    expect(await statusOf('first')).toBe(200)
  })

  test('SIGHUP has it read the folder again; a wrong file changes nothing', async () => {
    const file = join(folder, 'second.yaml')
    const wrong = Array.from({ length: 9 }, (_, n) => `nonsense${n}: true\n`)
    writeFileSync(file, wrong.join(''))
    sidecar.process.kill('SIGHUP')
    await until(() => sidecar.output().includes('everything goes on as it was'), 'the refusal')
    const last = 'bots.second.nonsense8: no such setting'
    await until(() => sidecar.output().includes(last), 'all that is wrong')
    writeFileSync(file, `tokenFile: ${join(root, 'second')}\n`)
    sidecar.process.kill('SIGHUP')
    await ready('second')
    expect(await statusOf('first')).toBe(200)
    rmSync(file)
    sidecar.process.kill('SIGHUP')
    await until(async () => (await list()).length === 1, 'one bot')
  })

  test('settings of the process that are otherwise are named, and count after a restart', async () => {
    const status = async (): Promise<string> => (await run('status', '--bot', 'first')).stdout
    const before = await status()
    const file = join(folder, 'second.yaml')
    writeFileSync(file, `tokenFile: ${join(root, 'second')}\n`)
    writeFileSync(join(root, 'process.yaml'), 'admin: {readyWhen: all}\ndataDir: elsewhere\n')
    sidecar.process.kill('SIGHUP')
    const named = '"settings":["admin.readyWhen","dataDir"],"msg":"these settings'
    await until(() => sidecar.output().includes(named), 'the warning')
    await until(async () => (await statusOf('second')) === 200, 'the other bot')
    writeFileSync(join(root, 'process.yaml'), OF_THE_PROCESS)
    const since = /since \S+/
    expect(since.exec(await status())).toEqual(since.exec(before))
    expect(existsSync(join(root, 'elsewhere'))).toBe(false)
    await run('bot', 'remove', 'second')
  })

  test('a bot whose file another process took away is added again', async () => {
    const add = () => run('bot', 'add', 'second', '--token-file', join(root, 'second'))
    await add()
    await ready('second')
    rmSync(join(folder, 'second.yaml'))
    expect((await add()).code).toBe(0)
    expect(existsSync(join(folder, 'second.yaml'))).toBe(true)
    expect(await statusOf('second')).toBe(200)
    await run('bot', 'remove', 'second')
  })

  test('a bot is removed also when its file is wrong, unless another one is', async () => {
    const [second, third] = [join(folder, 'second.yaml'), join(folder, 'third.yaml')]
    writeFileSync(second, 'nonsense: true\n')
    writeFileSync(third, 'tokenFile: [\n')
    const refused = await run('bot', 'remove', 'second')
    expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining('third.yaml')])
    expect(readFileSync(second, 'utf8')).toBe('nonsense: true\n')
    rmSync(third)
    expect((await run('bot', 'remove', 'second')).code).toBe(0)
    expect(readdirSync(folder)).toEqual(['first.yaml'])
    expect((await run('bot', 'remove', '../process')).code).toBe(1)
    expect(existsSync(join(root, 'process.yaml'))).toBe(true)
  })

  test('commands are about the bot that --bot names, and need it', async () => {
    const named = await run('key', 'list', '--bot', 'first', '--json')
    expect(JSON.parse(named.stdout)).toHaveLength(1)
    for (const args of [
      ['key', 'list'],
      ['key', 'list', '--bot', 'nobody'],
    ]) {
      const { code, stderr } = await run(...args)
      expect([code, stderr]).toEqual([2, expect.stringContaining('name one with --bot: first')])
    }
  })

  test('status is of all, or of the one', async () => {
    const all = await run('status')
    expect(all.stdout).toMatch(/^ready\n.*NAME/s)
    expect((await run('status', '--ready', '--json')).code).toBe(0)
    const one = JSON.parse((await run('status', '--bot', 'first', '--json')).stdout) as object
    expect(one).toMatchObject({ ready: true, bot: { username: 'first_of_bots_bot' } })
  })

  test('the doctor looks at the bot that is named, and needs a name', async () => {
    const { stdout } = await run('check', '--bot', 'first', '--json')
    const lines = JSON.parse(stdout) as { name: string; level: string; message: string }[]
    expect(lines.filter(({ level }) => level === 'fail')).toEqual([])
    expect(lines.length).toBeGreaterThan(5)
    expect((await run('check')).stderr).toContain('name one with --bot: first')
  })

  test('a backup is of the bot that is named', async () => {
    const file = join(root, 'first.backup')
    expect((await run('backup', 'create', file, '--bot', 'first')).code).toBe(0)
    expect((await run('backup', 'verify', file, '--bot', 'first')).code).toBe(0)
    expect((await run('backup', 'create', `${file}2`)).code).toBe(2)
  })

  test('a bot whose store is damaged is brought back from a backup while the others are served', async () => {
    const file = join(root, 'second.backup')
    const store = join(root, 'data/bots/second')
    await run('bot', 'add', 'second', '--token-file', join(root, 'second'))
    await ready('second')
    expect((await run('backup', 'create', file, '--bot', 'second')).code).toBe(0)
    await run('bot', 'remove', 'second')
    writeFileSync(join(store, 'postern.db'), Buffer.alloc(100_000, 7))
    await run('bot', 'add', 'second', '--token-file', join(root, 'second'))
    await until(async () => (await reasonOf('second')) === 'store-corrupt', 'the damage')
    const checked = await run('check', '--bot', 'second')
    expect(checked.stdout).toMatch(/^fail {2}store: /m)

    renameSync(store, `${store}.aside`)
    expect((await run('backup', 'restore', file, '--bot', 'second')).code).toBe(0)
    await until(async () => (await reasonOf('second')) === 'store-restored', 'the backup')
    const accepted = await run('backup', 'accept', '--bot', 'second', '--latest')
    expect([accepted.code, accepted.stderr]).toEqual([0, expect.not.stringContaining('code:')])
    await ready('second')
    expect(await statusOf('first')).toBe(200)
    await run('bot', 'remove', 'second')
  })

  test('a second sidecar on the same folder is refused', async () => {
    const second = startSidecarProcess({ cwd: root, env })
    await expect(second).rejects.toThrow('a sidecar already runs on')
  })
})

test('where none runs, commands open the store of the bot that they name', async () => {
  const other = { ...env, POSTERN_DATA_DIR: join(root, 'other') }
  const runOther = (...args: string[]) =>
    runInProcess(args, other).finally(() => vi.unstubAllEnvs())
  expect((await runOther('key', 'generate')).code).toBe(2)
  expect((await runOther('key', 'generate', '--bot', 'first')).code).toBe(0)
  expect(existsSync(join(root, 'other/bots/first/postern.db'))).toBe(true)
  const listed = await runOther('bot', 'list', '--json')
  expect(JSON.parse(listed.stdout)).toMatchObject([
    { name: 'first', ready: false, reasons: [{ code: 'not-running' }] },
  ])
  expect((await runOther('status')).stderr).toContain('no sidecar runs')
})

test('where the settings are of one bot, there is none to name, add or list', async () => {
  const { POSTERN_BOTS: _none, ...rest } = env
  const one = {
    ...rest,
    POSTERN_DATA_DIR: join(root, 'one'),
    POSTERN_BOT_TOKEN_FILE: join(root, 'first'),
  }
  const runOne = (...args: string[]) => runInProcess(args, one).finally(() => vi.unstubAllEnvs())
  expect((await runOne('key', 'list', '--bot', 'first')).stderr).toContain('there is one bot')
  expect((await runOne('bot', 'list')).stderr).toContain('the settings are of one bot')
  const added = await runOne('bot', 'add', 'x', '--token-file', join(root, 'first'))
  expect(added.stderr).toContain('the settings are of one bot')
})

test('a list in the settings file is changed there, not by commands', async () => {
  const { POSTERN_BOTS: _none, ...rest } = env
  const config = join(root, 'list.yaml')
  writeFileSync(config, `bots: [{name: first, tokenFile: ${join(root, 'first')}}]\n`)
  const runListed = (...args: string[]) =>
    runInProcess([...args, '--config', config], {
      ...rest,
      POSTERN_DATA_DIR: join(root, 'listed'),
    }).finally(() => vi.unstubAllEnvs())
  expect((await runListed('bot', 'list')).stdout).toContain('first')
  for (const args of [
    ['bot', 'remove', 'first'],
    ['bot', 'add', 'x', '--token-file', join(root, 'second')],
  ]) {
    const { code, stderr } = await runListed(...args)
    expect([code, stderr]).toEqual([
      1,
      expect.stringContaining('the bots are listed in the settings'),
    ])
  }
})
