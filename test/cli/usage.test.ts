import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { dataFolder } from '../control/support.ts'
import { runInProcess, postern } from './support.ts'

const COMMANDS = [
  'run',
  'demo',
  'dev',
  'sandbox',
  'sandbox reset',
  'sandbox snapshot',
  'sandbox restore',
  'sandbox say',
  'sandbox press',
  'sandbox attach',
  'sandbox watch',
  'init',
  'check',
  'status',
  'config',
  'config show',
  'config schema',
  'key',
  'key list',
  'key show',
  'key generate',
  'key publish',
  'key export',
  'key import',
  'key protect',
  'backup',
  'backup create',
  'backup verify',
  'backup restore',
  'backup accept',
  'store',
  'store move',
  'chat',
  'chat list',
  'chat allow-readable',
  'trust list',
  'trust accept',
  'trust verify',
  'trust block',
  'trust policy',
  'trust log',
  'open',
  'explain',
  'completion',
]

describe('help', () => {
  test('lists the commands that work, and no other', async () => {
    const { code, stdout, stderr } = await postern(['--help'], { cwd: dataFolder() })
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    const listed = [...stdout.matchAll(/^ {2}([a-z]+)(?: [[<].*?[\]>])* {2,}/gm)].map(
      ([, name]) => name,
    )
    const names = [
      'run',
      'demo',
      'dev',
      'sandbox',
      'init',
      'check',
      'status',
      'config',
      'key',
      'bot',
      'backup',
      'store',
      'chat',
      'trust',
      'open',
      'explain',
      'completion',
    ]
    expect(new Set(listed)).toEqual(new Set([...names, 'help']))
  })

  test.each(COMMANDS)('of `%s` has an example of one line', async (name) => {
    const { code, stdout, stderr } = await runInProcess([...name.split(' '), '--help'])
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    expect(stdout).toMatch(new RegExp(`^example: postern ${name}.*$`, 'm'))
  })

  test('of `run` lists each setting that works, and no secret as a flag', async () => {
    const { stdout } = await postern(['run', '--help'], { cwd: dataFolder() })
    for (const flag of ['--upstream-url', '--listen-allowed-hosts', '--log-level', '--config']) {
      expect(stdout).toContain(`${flag} <`)
    }
    expect(stdout).toMatch(/--key-protection <choice>[^]*one of auto, passphrase,\s+keychain, none/)
    expect(stdout).toContain('<accept|first-use|pinned>')
    for (const flag of ['--bot-token <', '--key-passphrase <']) {
      expect(stdout).not.toContain(flag)
    }
  })
})

test('--version prints the version of package.json', async () => {
  const manifest = readFileSync(new URL('../../package.json', import.meta.url), 'utf8')
  const { version } = JSON.parse(manifest) as { version: string }
  const cwd = dataFolder()
  expect(await postern(['--version'], { cwd })).toEqual({
    code: 0,
    stdout: `${version}\n`,
    stderr: '',
  })
})

describe('a wrong command line', () => {
  test.each([
    ['statsu', "unknown command 'statsu' (Did you mean status?)"],
    ['key lst', "unknown command 'lst' (Did you mean list?)"],
    ['key list --jsn', "unknown option '--jsn' (Did you mean --json?)"],
    ['--lsten-port 1', "unknown option '--lsten-port' (Did you mean --listen-port?)"],
    ['--bot-token x', "unknown option '--bot-token'"],
    ['run extra', 'too many arguments'],
    ['sandbox --port 70000', 'is invalid, expected a number from 0 to 65535'],
    ['--config', "option '--config <file>' argument missing"],
    ['key', 'a command is missing'],
    ['chat allow-readable', 'expected chat ids, or --pending, or --private'],
    ['chat allow-readable 1 --pending', 'and only one of these'],
    ['chat allow-readable 9007199254740993', 'a chat id is a whole number'],
  ])('`postern %s` is refused with 2, a hint and nothing on stdout', async (line, message) => {
    const { code, stdout, stderr } = await runInProcess(line.split(' '))
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
    const lines = stderr.trim().split('\n').slice(-3)
    expect(lines[0]).toMatch(/^postern: [^A-Z].*[^.]$/)
    expect(lines[0]).toContain(message)
    expect(lines[1]).toMatch(/^hint: .*[^.]$/)
    expect(lines[2]).toBe('code: usage')
  })
})

test('what is said of a command line is what a process says', async () => {
  for (const args of [
    ['key', 'lst'],
    ['trust', 'accept', '--help'],
  ]) {
    expect(await postern(args, { cwd: dataFolder() })).toEqual(await runInProcess(args))
  }
})

test('settings that are refused end with 2, every problem said', async () => {
  const cwd = dataFolder()
  const env = { POSTERN_LISTEN_PROT: '1' }
  const { code, stdout, stderr } = await postern(['--admin-port', 'x'], { cwd, env })
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
  expect(stderr).toMatch(/^postern: the settings are refused, for 5 reasons:$/m)
  expect(stderr).toContain('did you mean POSTERN_LISTEN_PORT?')
  expect(stderr).toContain('--admin-port admin.port: expected a whole number')
  expect(stderr).toMatch(/^code: settings$/m)
})

test('`config show` names sources and masks secrets; `config schema` is JSON', async () => {
  const cwd = dataFolder()
  const env = {
    POSTERN_UPSTREAM_URL: 'https://api.example.org',
    POSTERN_BOT_TOKEN: 'hunter2',
    POSTERN_KEY_PASSPHRASE: 'hunter2',
  }
  const shown = await postern(['config', 'show', '--listen-port', '5'], { cwd, env })
  expect(shown).toMatchObject({ code: 0, stderr: '' })
  expect(shown.stdout).toContain('port: 5 # --listen-port')
  expect(shown.stdout).toContain('# token: set, from POSTERN_BOT_TOKEN')
  expect(shown.stdout).not.toContain('hunter2')
  const { stdout } = await postern(['config', 'schema'], { cwd })
  expect(JSON.parse(stdout)).toMatchObject({ title: 'Postern settings' })
})

test('`config show --output` makes a file that `--config` takes, and writes over none', async () => {
  const cwd = dataFolder()
  const [token, passphrase] = ['token', 'passphrase'].map((name) => join(cwd, name))
  for (const path of [token, passphrase]) writeFileSync(path!, 'hunter2', { mode: 0o600 })
  const env = {
    POSTERN_UPSTREAM_URL: 'https://api.example.org',
    POSTERN_BOT_TOKEN_FILE: token!,
    POSTERN_KEY_PASSPHRASE_FILE: passphrase!,
  }
  const output = join(cwd, 'shown.yaml')
  const made = await runInProcess(['config', 'show', '--output', output], env)
  expect(made).toEqual({ code: 0, stdout: '', stderr: `made ${output}\n` })
  const shown = await runInProcess(['--config', output, 'config', 'show'])
  expect(shown).toMatchObject({ code: 0, stderr: '' })
  expect(shown.stdout).toContain('url: https://api.example.org')

  const again = await runInProcess(['config', 'show', '--output', output], env)
  expect(again).toMatchObject({ code: 1, stdout: '' })
  expect(again.stderr).toContain('is there already')
  expect(again.stderr).not.toContain('--force')
})
