import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { Command } from 'commander'
import { createFullProgram } from '../../src/cli/program.ts'
import { SETTINGS } from '../../src/config/settings.ts'
import { dataFolder } from '../control/support.ts'
import { runInProcess, postern } from './support.ts'

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
    expect(new Set(listed)).toEqual(new Set(names))
  })

  test('of every command fits a screen of 24 lines, and has an example', async () => {
    const root = await createFullProgram()
    const withInner = (command: Command): Command[] => [
      command,
      ...command.commands.flatMap(withInner),
    ]
    const all = withInner(root)
    expect(all.length).toBeGreaterThan(50)
    for (const command of all) {
      let text = ''
      command.configureOutput({ writeOut: (more) => (text += more), getOutHelpWidth: () => 80 })
      command.outputHelp()
      const lines = text.trimEnd().split('\n')
      expect([text, lines.length, lines.filter((line) => line.length > 80)]).toEqual([
        text,
        Math.min(lines.length, 24),
        [],
      ])
      expect(lines.at(-1)).toMatch(/^example: postern /)
    }
  })

  test('of a command of `sandbox` lists no flag of the sandbox itself', async () => {
    const { stdout } = await runInProcess(['sandbox', 'say', '--help'])
    expect(stdout).toMatch(/^ {2}--reply <messageId> /m)
    expect(stdout).not.toMatch(/--port|--rates|--config/)
  })

  test('of `run` lists the settings that one needs first, and no secret as a flag', async () => {
    const { stdout } = await runInProcess(['run', '--help'])
    for (const flag of ['--upstream-url', '--bot-token-file', '--data-dir']) {
      expect(stdout).toContain(`${flag} <`)
    }
    expect(stdout).toContain('postern config list')
    expect(stdout).not.toMatch(/--bot-token <|--key-passphrase <|--log-level/)
  })
})

test('`config list` lists every setting, and marks secrets as no flags', async () => {
  const { stdout } = await runInProcess(['config', 'list'])
  for (const { path } of SETTINGS) expect(stdout).toMatch(new RegExp(`^${path} `, 'm'))
  expect(stdout).toMatch(
    /^key\.protection .*; one of auto, passphrase, keychain, none \("auto"\)$/m,
  )
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

test('a name that other programs use points to a command that exists', async () => {
  const names =
    'withheld doctor log logs health ready start serve stop setup install settings people users rotate publish import export restore say send'
  const pointed = new Set<string>()
  for (const name of names.split(' ')) {
    const { code, stdout, stderr } = await runInProcess([name])
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
    expect(stderr).toMatch(
      new RegExp(`^postern: unknown command '${name}'.*\nhint: .+\ncode: usage\n$`),
    )
    expect(stderr).not.toContain('lists the commands')
    for (const [, line = ''] of stderr.matchAll(/`postern ([^`]+)`/g)) pointed.add(line)
  }
  expect(pointed.size).toBeGreaterThan(12)
  for (const line of pointed) {
    expect(await runInProcess([...line.split(' '), '--help'])).toMatchObject({ code: 0 })
  }
  expect((await runInProcess(['withheld'])).stderr).toContain('`postern explain --withheld`')
  expect((await runInProcess(['constructor'])).stderr).toContain('lists the commands')
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
