/** Settings that others can change are not taken. */
import {
  chmodSync,
  chownSync,
  lchownSync,
  mkdirSync,
  readFileSync,
  renameSync,
  symlinkSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { Pkcs11Token } from '../../src/agent/pkcs11.ts'
import { passphraseFrom } from '../../src/config/key-commands.ts'
import { load, loadAll } from '../../src/config/load.ts'
import { byCommand } from '../../src/observe/alert-ways.ts'
import type { SentAlert } from '../../src/observe/alerts.ts'
import { exitCodeOf } from '../../src/cli/terminal.ts'
import { canMount, mounted } from '../store/support.ts'
import { spawnSync } from '../support/programs.ts'
import { ENOUGH, file, folder, refusalOf, sources } from './support.ts'
import { has } from '../support/lacks.ts'

const isRoot = has(process.getuid?.() === 0, 'these tests do not run as root')
const TEXT = 'listen: {port: 8711}\n'
const portOf = (path: string): number =>
  load(sources({ cwd: folder(), configFlag: path })).settings.listen.port

/** A refusal with exit code 2 whose hint is a command that helps. */
function refused(path: string, message: RegExp, command: string): void {
  const error = refusalOf(() => load(sources({ cwd: folder(), configFlag: path })))
  expect(error.message).toMatch(message)
  expect(error.hint).toContain(`\`${command}\``)
  expect([error.code, exitCodeOf(error)]).toEqual(['settings', 2])
}

test.each([0o602, 0o666, 0o646])(
  'a settings file writable by others is refused: mode %o',
  (mode) => {
    const path = file(folder(), 'a.yaml', TEXT)
    chmodSync(path, mode)
    refused(path, /a\.yaml: may be written by others/, `chmod go-w ${path}`)
    spawnSync('chmod', ['go-w', path])
    expect(portOf(path)).toBe(8711)
  },
)

test.each([0o777, 0o703])(
  'a settings file in a folder writable by others is refused: mode %o',
  (mode) => {
    const cwd = folder()
    const path = file(cwd, 'a.yaml', TEXT)
    chmodSync(cwd, mode)
    refused(path, /lies in .*, which may be written by others/, `chmod go-w ${cwd}`)
    spawnSync('chmod', ['go-w', cwd])
    expect(portOf(path)).toBe(8711)
  },
)

test('the default settings file in a folder that others may write is refused', () => {
  const cwd = folder()
  mkdirSync(join(cwd, 'config'), { mode: 0o700 })
  file(join(cwd, 'config'), 'postern.yaml', TEXT)
  expect(load(sources({ cwd })).settings.listen.port).toBe(8711)
  chmodSync(join(cwd, 'config'), 0o777)
  expect(refusalOf(() => load(sources({ cwd }))).message).toContain('may be written by others')
})

test.each([0o600, 0o644, 0o640, 0o400])('a settings file of mode %o is accepted', (mode) => {
  const path = file(folder(), 'a.yaml', TEXT)
  chmodSync(path, mode)
  expect(portOf(path)).toBe(8711)
})

test('a settings file in a sticky folder is accepted for its owner', () => {
  const cwd = folder()
  chmodSync(cwd, 0o1777)
  expect(portOf(file(cwd, 'a.yaml', TEXT))).toBe(8711)
})

test('a linked settings file is refused when others may write the folder of link or target', () => {
  const [cwd, elsewhere] = [folder(), folder()]
  symlinkSync(file(elsewhere, 'b.yaml', TEXT), join(cwd, 'a.yaml'))
  expect(portOf(join(cwd, 'a.yaml'))).toBe(8711)
  chmodSync(cwd, 0o777)
  refused(join(cwd, 'a.yaml'), /lies in/, `chmod go-w ${cwd}`)
  chmodSync(cwd, 0o700)
  chmodSync(elsewhere, 0o777)
  refused(join(cwd, 'a.yaml'), /lies in/, `chmod go-w ${elsewhere}`)
})

test.skipIf(!isRoot)('a settings file or folder of another user is refused', () => {
  const cwd = folder()
  const path = file(cwd, 'a.yaml', TEXT)
  chownSync(path, 4321, 4321)
  refused(path, /belongs to user 4321/, `sudo chown 0 ${path}`)
  chownSync(path, 0, 0)
  chownSync(cwd, 4321, 4321)
  refused(path, /lies in .*, which belongs to user 4321/, `sudo chown 0 ${cwd}`)
  chownSync(cwd, 0, 0)
  chmodSync(cwd, 0o1777)
  renameSync(path, join(cwd, 'b.yaml'))
  symlinkSync(join(cwd, 'b.yaml'), path)
  lchownSync(path, 4321, 4321)
  refused(path, /is a link of user 4321/, `sudo rm ${path}`)
})

test.skipIf(!isRoot)(
  "a settings file that a group may write is refused, except the user's own group",
  () => {
    const path = file(folder(), 'a.yaml', TEXT)
    chmodSync(path, 0o660)
    chownSync(path, 0, 4321)
    refused(path, /may be written by others/, `chmod go-w ${path}`)
    chownSync(path, 0, 0)
    expect(portOf(path)).toBe(8711)
  },
)

/** A program in two folders, behind a link in a third. */
function program() {
  const [cwd, links] = [folder(), folder()]
  mkdirSync(join(cwd, 'in'))
  const path = file(join(cwd, 'in'), 'vault', '#!/bin/sh\necho words of a passphrase\n')
  chmodSync(path, 0o755)
  symlinkSync(path, join(links, 'vault'))
  return { path, cwd, links, link: join(links, 'vault') }
}
const change: [what: string, (at: ReturnType<typeof program>) => string][] = [
  ['the program', ({ path }) => path],
  ['its folder', ({ path }) => dirname(path)],
  ['a folder above it', ({ cwd }) => cwd],
  ['the folder of a link to it', ({ links }) => links],
]
const named: [what: string, (link: string) => Record<string, string>][] = [
  ['key.passphraseCommand', (link) => ({ POSTERN_KEY_PASSPHRASE_COMMAND: `["${link}"]` })],
  [
    'key.passphraseCommand',
    (link) => ({ POSTERN_KEY_PASSPHRASE_COMMAND: '["vault"]', PATH: dirname(link) }),
  ],
  [
    'key.passphraseCommand',
    (link) => ({ POSTERN_KEY_PASSPHRASE_COMMAND: `["/bin/sh", "${link}"]` }),
  ],
  ['key.protection', (link) => ({ POSTERN_KEY_PROTECTION: `{"exec": ["${link}"]}` })],
  ['key.agent', (link) => ({ POSTERN_KEY_AGENT: `pkcs11:token=a?module-path=${encodeURI(link)}` })],
  [
    'key.agent',
    (link) => {
      renameSync(link, join(dirname(link), 'gpgconf'))
      return { POSTERN_KEY_AGENT: 'gpg-agent:', PATH: dirname(link) }
    },
  ],
  ['alert.command', (link) => ({ POSTERN_ALERT_COMMAND: link })],
]
const { POSTERN_KEY_PASSPHRASE: passphrase, ...without } = ENOUGH

test.each(change)('settings with a program are refused where others may write %s', (_, of) => {
  for (const [setting, env] of named) {
    const at = program()
    const given: Record<string, string> = { ...without, ...env(at.link) }
    if (setting !== 'key.passphraseCommand') given['POSTERN_KEY_PASSPHRASE'] = passphrase
    const settings = sources({ cwd: folder(), env: given })
    expect(load(settings).settings).toBeDefined()
    chmodSync(of(at), 0o777)
    const { message, hint, code } = refusalOf(() => load(settings))
    expect(message).toContain(setting)
    expect(message).toContain('may be written by others (mode 777)')
    expect(hint + message).toContain(`chmod go-w ${of(at)}`)
    expect(code).toBe('settings')
  }
})

test.each(change)('a program is not run once others may write %s', async (_, of) => {
  const at = program()
  const env = { PATH: `${folder()}:${at.links}:/bin` }
  const vault = { argv: ['vault'], env }
  expect(await passphraseFrom(vault)).toBe('words of a passphrase')
  chmodSync(of(at), 0o777)
  for (const argv of [['vault'], [at.link], ['/bin/sh', at.link]]) {
    const refusal = await passphraseFrom({ argv, env }).catch((error: unknown) => error)
    expect(refusal).toMatchObject({
      code: 'key-command',
      exitCode: 2,
      message: expect.stringMatching(/is not run: .*may be written by others/),
      hint: expect.stringContaining(`chmod go-w ${of(at)}`),
    })
  }
  const alert = { alert: 'at-rest', holds: true, at: '' } as unknown as SentAlert
  const sending = byCommand(at.link).send(alert, new AbortController().signal)
  await expect(sending).rejects.toMatchObject({ name: 'OthersProgramError' })
})

test('a library of a token is not loaded once others may write it', async () => {
  const { path } = program()
  chmodSync(path, 0o777)
  const token = new Pkcs11Token({ label: 'a', modulePath: path }, null)
  await expect(token.sign({ fingerprint: 'f', digest: Buffer.alloc(32) } as never)).rejects.toThrow(
    'its library may be written by others',
  )
  await token[Symbol.asyncDispose]()
})

const bot = 'token: bot_7.token\n'
const given = (bots: string) =>
  sources({
    cwd: folder(),
    env: {
      POSTERN_UPSTREAM_URL: 'https://api.example.org',
      POSTERN_KEY_PASSPHRASE: 'x'.repeat(30),
    },
    flags: { bots },
  })
const botsIn = (bots: string): number => {
  const loaded = loadAll(given(bots))
  return 'several' in loaded ? loaded.several.bots.length : 0
}

test('a folder of bots that only its owner may write is accepted', () => {
  const bots = folder()
  file(bots, 'news.yaml', bot)
  expect(botsIn(bots)).toBe(1)
})

test.each([0o777, 0o1777])('a folder of bots writable by others is refused: mode %o', (mode) => {
  const bots = folder()
  file(bots, 'news.yaml', bot)
  chmodSync(bots, mode)
  const error = refusalOf(() => loadAll(given(bots)))
  expect(error.message).toContain(`${bots} may be written by others`)
  expect(error.hint).toContain(`chmod go-w ${bots}`)
})

test('a folder of bots with a file that others may write is refused', () => {
  const bots = folder()
  chmodSync(file(bots, 'news.yaml', bot), 0o606)
  expect(refusalOf(() => loadAll(given(bots))).message).toContain('may be written by others')
})

describe.skipIf(!canMount())('Kubernetes volumes', () => {
  test.each([
    ['a Secret', 0o1777, 0o440],
    ['a ConfigMap', 0o2777, 0o640],
  ])(
    '%s of root and a group is accepted when its mount is read-only',
    (_what, folderMode, fileMode) => {
      const mount = join(mounted('1m'), '.')
      const version = join(mount, '..2026_01_01')
      mkdirSync(version)
      chmodSync(file(version, 'postern.yaml', TEXT), fileMode)
      chownSync(join(version, 'postern.yaml'), 0, 1000)
      chmodSync(version, 0o755)
      symlinkSync('..2026_01_01', join(mount, '..data'))
      symlinkSync('..data/postern.yaml', join(mount, 'postern.yaml'))
      chownSync(mount, 0, 1000)
      chmodSync(mount, folderMode)
      spawnSync('mount', ['-o', 'remount,ro', mount])
      expect(readFileSync(join(mount, 'postern.yaml'), 'utf8')).toBe(TEXT)
      expect(portOf(join(mount, 'postern.yaml'))).toBe(8711)
    },
  )
})
