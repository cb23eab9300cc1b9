import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { createSandbox, type Sandbox } from '../../src/sandbox/create.ts'
import { folder } from '../config/support.ts'
import { COMPILED, mainFile } from '../support/postern-process.ts'
import { atTerminal, hasTerminals } from '../support/terminal.ts'
import { postern } from './support.ts'

const ENTER = '\r'
const DOWN = '\u001B[B'
const GIVE_UP = '\u0003'
const back = (count: number): string => '\u007F'.repeat(count)

async function service(): Promise<Sandbox> {
  const sandbox = await createSandbox()
  onTestFinished(() => sandbox[Symbol.asyncDispose]())
  return sandbox
}

/** Runs `postern init` at a terminal; each answer is typed once its question stands there. */
async function init(cwd: string, flags: string[], answers: [when: RegExp, types: string][]) {
  return await atTerminal(
    [process.execPath, mainFile(), 'init', ...flags],
    answers.map(([when, types]) => ({ when, types })),
    { cwd, env: { PATH: '/usr/bin:/bin', HOME: cwd, TERM: 'xterm', NODE_COMPILE_CACHE: COMPILED } },
  )
}

describe.skipIf(!hasTerminals)('postern init at a terminal', () => {
  test('asks four questions, and writes and checks what was answered', async () => {
    const [cwd, sandbox] = [folder(), await service()]
    const { code, screen } = await init(
      cwd,
      [],
      [
        [/Where is the service/, `http://chat.example.org${ENTER}`],
        [/expected https/, `${back(30)}${sandbox.url}${ENTER}`],
        [/Where is the bot’s token/, `${DOWN}${ENTER}`],
        [/The token, from the bot console/, `${sandbox.token}${ENTER}`],
        [/What protects the bot’s secret keys/, ENTER],
        [/Which folder holds the keys/, ENTER],
      ],
    )
    expect([code, screen]).toEqual([0, expect.stringContaining('next: postern run')])
    expect(screen.replace(/\s+/g, ' ')).toContain(
      'every private chat of the bot becomes encrypted for good',
    )
    expect(screen).not.toContain(sandbox.token)

    const secrets = join(cwd, '.config/postern')
    expect(statSync(secrets).mode & 0o777).toBe(0o700)
    expect(statSync(join(secrets, 'token')).mode & 0o777).toBe(0o600)
    const passphrase = readFileSync(join(secrets, 'passphrase'), 'utf8').trim()
    expect(Buffer.from(passphrase, 'base64')).toHaveLength(32)
    expect(screen).not.toContain(passphrase)
    const shown = await postern(['config', 'show'], { cwd })
    expect(shown.stdout).toContain(`url: ${sandbox.url} # config/postern.yaml:`)
    expect(shown.stdout).toContain(`dataDir: ${join(cwd, '.postern')} # config/postern.yaml:`)
    expect(existsSync(join(cwd, '.postern'))).toBe(false)
  })

  test('takes files that are there, and says at once what is wrong with one', async () => {
    const [cwd, sandbox] = [folder(), await service()]
    writeFileSync(join(cwd, 'token'), sandbox.token, { mode: 0o644 })
    writeFileSync(join(cwd, 'mine'), `${sandbox.token}\n`, { mode: 0o600 })
    writeFileSync(join(cwd, 'words'), 'correct horse battery staple\n', { mode: 0o600 })
    const given = ['--upstream-url', sandbox.url, '--data-dir', 'data', '--config', 'my.yaml']
    const { code, screen } = await init(cwd, given, [
      [/Where is the bot’s token/, ENTER],
      [/Which file/, `token${ENTER}`],
      [/others can read it/, `${back(5)}~/mine${ENTER}`],
      [/What protects the bot’s secret keys/, `${DOWN}${ENTER}`],
      [/Which file/, `nowhere${ENTER}`],
      [/there is no such file/, `${back(7)}words${ENTER}`],
    ])
    expect([code, screen]).toEqual([0, expect.stringContaining(`--config ${join(cwd, 'my.yaml')}`)])
    expect(screen).not.toContain('Where is the service?')
    const text = readFileSync(join(cwd, 'my.yaml'), 'utf8')
    expect(text).toContain(`  passphraseFile: ${join(cwd, 'words')}\n`)
    expect(text).toContain(`  tokenFile: ${join(cwd, 'mine')}\n`)
  })

  test('makes its files elsewhere when the usual ones are taken, and never in the data', async () => {
    const [cwd, sandbox] = [folder(), await service()]
    mkdirSync(join(cwd, '.config/postern'), { recursive: true, mode: 0o700 })
    writeFileSync(join(cwd, '.config/postern/passphrase'), 'of another bot\n', { mode: 0o600 })
    writeFileSync(join(cwd, 'token'), sandbox.token, { mode: 0o600 })
    const given = ['--upstream-url', sandbox.url, '--bot-token-file', 'token']
    const { code } = await init(cwd, given, [
      [/What protects the bot’s secret keys/, ENTER],
      [/exists already/, `keys/passphrase${ENTER}`],
      [/Which folder holds the keys/, `${back(200)}keys${ENTER}`],
      [/expected another folder/, `${back(4)}data${ENTER}`],
    ])
    expect([code, existsSync(join(cwd, 'keys/passphrase'))]).toEqual([0, true])
    const other = readFileSync(join(cwd, '.config/postern/passphrase'), 'utf8')
    expect(other).toBe('of another bot\n')
  })

  test('writes nothing when somebody gives up', async () => {
    const cwd = folder()
    const { code, screen } = await init(
      cwd,
      [],
      [
        [/Where is the service/, `https://chat.example.org${ENTER}`],
        [/Where is the bot’s token/, GIVE_UP],
      ],
    )
    expect([code, screen]).toEqual([1, expect.stringContaining('nothing was written')])
    const made = ['config', '.config'].map((name) => existsSync(join(cwd, name)))
    expect(made).toEqual([false, false])
  })
})
