import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { parse } from 'yaml'
import { settingsSchema } from '../../src/config/template.ts'
import { createSandbox } from '../../src/sandbox/create.ts'
import { folder } from '../config/support.ts'
import { postern, start, TOKEN } from './support.ts'

/** A folder with a token in it, and flags that answer everything. */
function ready(url = 'http://127.0.0.1:1') {
  const cwd = folder()
  writeFileSync(join(cwd, 'token'), `${TOKEN}\n`, { mode: 0o600 })
  const answers = ['--upstream-url', url, '--bot-token-file', 'token', '--make-passphrase']
  return { cwd, answers }
}

const everything = (cwd: string): string[] =>
  readdirSync(cwd, { recursive: true, encoding: 'utf8' }).toSorted()

describe('`postern init` without a terminal', () => {
  test('`init` writes settings, schema and passphrase from its flags, and a sidecar runs with them', async () => {
    const sandbox = await createSandbox()
    onTestFinished(() => sandbox[Symbol.asyncDispose]())
    const { cwd, answers } = ready(sandbox.url)
    writeFileSync(join(cwd, 'token'), sandbox.token, { mode: 0o600 })
    const more = ['--listen-port', '0', '--admin-port', '0', '--log-level', 'debug']
    const made = await postern(['init', ...answers, ...more], { cwd })
    expect([made.code, made.stderr]).toEqual([0, expect.stringContaining('next: postern run\n')])
    expect(made.stdout).toMatch(/^pass {2}token: /m)
    const text = readFileSync(join(cwd, 'config/postern.yaml'), 'utf8')
    expect(text.split('\n')[0]).toBe('# yaml-language-server: $schema=postern.schema.json')
    expect(readFileSync(join(cwd, 'config/postern.schema.json'), 'utf8')).toBe(settingsSchema())
    expect(parse(text)).toMatchObject({
      upstream: { url: sandbox.url },
      bot: { tokenFile: join(cwd, 'token') },
      listen: { port: 0 },
      dataDir: join(cwd, '.postern'),
      key: { passphraseFile: join(cwd, '.config/postern/passphrase') },
      log: { level: 'debug' },
    })
    expect(text).not.toContain(sandbox.token)
    const sidecar = start(['run'], { cwd })
    await sidecar.waitForStderr(/"state":"published"/)
    sidecar.process.kill('SIGTERM')
    expect((await sidecar.ended).code).toBe(0)
  })

  test('`init` without flags lists everything that is missing and writes nothing', async () => {
    const cwd = folder()
    const { code, stderr } = await postern(['init'], { cwd })
    expect(code).toBe(2)
    expect(stderr).toMatch(/--upstream-url; --bot-token-file; --make-passphrase, .*\nhint: .+\n/)
    expect(everything(cwd)).toEqual([])
  })

  test('`init` never overwrites settings or a passphrase', async () => {
    const { cwd, answers } = ready()
    mkdirSync(join(cwd, 'config'))
    writeFileSync(join(cwd, 'config/postern.yaml'), 'mine', { mode: 0o640 })
    const modes = () =>
      ['.', 'config', 'config/postern.yaml'].map((path) => statSync(join(cwd, path)).mode)
    const before = modes()
    const first = await postern(['init', ...answers], { cwd })
    expect([first.code, first.stderr]).toEqual([
      1,
      expect.stringMatching(/is there already.*\nhint/),
    ])
    writeFileSync(join(cwd, 'words'), 'mine', { mode: 0o600 })
    const other = ['--config', 'other.yaml', '--key-passphrase-file', 'words']
    const second = await postern(['init', ...answers, ...other], { cwd })
    expect([second.code, second.stderr]).toEqual([
      1,
      expect.stringContaining('leave out --make-pas'),
    ])
    expect(everything(cwd)).toEqual(['config', 'config/postern.yaml', 'token', 'words'])
    expect(readFileSync(join(cwd, 'words'), 'utf8')).toBe('mine')
    expect(modes()).toEqual(before)
  })

  test.each<[string, string[], RegExp]>([
    ['inside the data folder', ['--key-passphrase-file', '.postern/words'], /lies inside the data/],
    ['beside the keychain', ['--key-protection', 'keychain'], /contradicts --key-protection/],
  ])('`init` makes no passphrase %s', async (_where, flags, expected) => {
    const { cwd, answers } = ready()
    const { code, stderr } = await postern(['init', ...answers, ...flags], { cwd })
    expect([code === 0, stderr]).toEqual([false, expect.stringMatching(expected)])
    expect(everything(cwd)).toEqual(['token'])
  })

  test('`init` makes no passphrase that POSTERN_KEY_PASSPHRASE overrides', async () => {
    const { cwd, answers } = ready()
    const env = { POSTERN_KEY_PASSPHRASE: 'swordfish-swordfish' }
    const { code, stderr } = await postern(['init', ...answers], { cwd, env })
    expect([code, stderr]).toEqual([
      2,
      expect.stringContaining('contradicts POSTERN_KEY_PASSPHRASE'),
    ])
    expect(stderr).not.toContain('swordfish')
    expect(everything(cwd)).toEqual(['token'])
  })

  test.each<[string, string[]]>([
    ['a service over plain http', ['--upstream-url', 'http://chat.example.org']],
    ['a token that others can read', ['--bot-token-file', 'shown']],
  ])('`init` with %s leaves nothing behind', async (_what, flags) => {
    const { cwd, answers } = ready()
    writeFileSync(join(cwd, 'shown'), `${TOKEN}\n`, { mode: 0o644 })
    const { code, stderr } = await postern(['init', ...answers, ...flags], { cwd })
    expect([code, stderr]).toEqual([
      2,
      expect.stringMatching(/the settings are refused: .+\nhint: /),
    ])
    const files = everything(cwd).filter((path) => statSync(join(cwd, path)).isFile())
    expect(files).toEqual(['shown', 'token'])
  })

  test('`init` refuses an invalid value before it writes anything', async () => {
    const { cwd, answers } = ready()
    const wrong = await postern(['init', ...answers, '--open-verify', 'requier'], { cwd })
    expect([wrong.code, wrong.stderr]).toEqual([
      2,
      expect.stringContaining('did you mean require?'),
    ])
    expect(everything(cwd)).toEqual(['token'])
  })

  test('`init` keeps its files when only the service cannot be reached, and reports that', async () => {
    const { cwd, answers } = ready()
    const { code, stdout, stderr } = await postern(['init', ...answers], { cwd })
    expect([code, stdout]).toEqual([1, expect.stringMatching(/^fail {2}upstream: /m)])
    expect(stderr).toMatch(
      /the settings are written, but \d+ of \d+ checks failed\nhint: .*postern check/,
    )
    expect(existsSync(join(cwd, 'config/postern.yaml'))).toBe(true)
  })

  test('`init` fails at once when the chosen keychain cannot be used', async () => {
    const { cwd, answers } = ready()
    const chosen = [...answers.slice(0, -1), '--key-protection', 'keychain']
    const { code, stdout } = await postern(['init', ...chosen], { cwd })
    expect([code, stdout]).toEqual([1, expect.stringMatching(/^fail {2}protection: .*keychain/m)])
  })

  test('`init` uses settings of the environment without writing them', async () => {
    const { cwd } = ready()
    const env = { POSTERN_BOT_TOKEN: TOKEN, POSTERN_UPSTREAM_URL: 'http://127.0.0.1:1' }
    const flags = ['--key-protection', 'none', '--data-dir', 'data']
    const { stdout, stderr } = await postern(['init', ...flags], { cwd, env })
    expect(stdout).toMatch(/^warn {2}protection: none/m)
    const text = readFileSync(join(cwd, 'config/postern.yaml'), 'utf8')
    expect(parse(text)).toMatchObject({ key: { protection: 'none' }, dataDir: join(cwd, 'data') })
    expect(text + stdout + stderr).not.toContain(TOKEN)
    expect(text).toContain('  # url:\n')
  })
})
