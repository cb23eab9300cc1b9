import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { createSandbox, type Sandbox } from '../../src/sandbox/create.ts'
import { folder } from '../config/support.ts'
import { atTerminal, hasTerminals, KEYS, type Terminal } from '../support/screen.ts'
import { postern } from './support.ts'

const { enter, down, end } = KEYS

async function service(): Promise<Sandbox> {
  const sandbox = await createSandbox()
  onTestFinished(() => sandbox[Symbol.asyncDispose]())
  return sandbox
}

/** Gives the same answer to a question of one line. */
async function answer(terminal: Terminal, question: string, keys: string): Promise<void> {
  await terminal.shows(question)
  terminal.types(keys)
}

describe.skipIf(!hasTerminals())('postern init at a terminal', () => {
  test('asks four questions, and writes and checks what was answered', async () => {
    const [cwd, sandbox] = [folder(), await service()]
    const terminal = atTerminal(['init'], { cwd })
    await answer(terminal, 'Where is the service?', `http://chat.example.org${enter}`)
    await terminal.shows('expected https')
    terminal.types(`${'\u007F'.repeat(30)}${sandbox.url}${enter}`)
    await answer(terminal, 'Where is the bot’s token?', `${down}${enter}`)
    await answer(terminal, 'The token, from the bot console', `${sandbox.token}${enter}`)
    await answer(terminal, 'What protects the bot’s secret keys?', enter)
    await answer(terminal, 'Where do keys and memory rest?', enter)
    const { code, screen } = await terminal.ended
    expect([code, screen]).toEqual([0, expect.stringContaining('next: postern run')])
    expect(screen).toContain('every private chat of the bot becomes encrypted for good')
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
    const terminal = atTerminal(['init', ...given], { cwd })
    await answer(terminal, 'Where is the bot’s token?', enter)
    await answer(terminal, 'Which file?', `token${enter}`)
    await terminal.shows('others can read it')
    terminal.types(`${'\u007F'.repeat(5)}~/mine${enter}`)
    await answer(terminal, 'What protects the bot’s secret keys?', `${down}${enter}`)
    await answer(terminal, 'Which file?', `nowhere${enter}`)
    await terminal.shows('there is no such file')
    terminal.types(`${'\u007F'.repeat(7)}words${enter}`)
    const { code, screen } = await terminal.ended
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
    const terminal = atTerminal(['init', ...given], { cwd })
    await answer(terminal, 'What protects the bot’s secret keys?', enter)
    await answer(terminal, 'is there already', `keys/passphrase${enter}`)
    await answer(terminal, 'Where do keys and memory rest?', `${'\u007F'.repeat(200)}keys${enter}`)
    await terminal.shows('expected another folder')
    terminal.types(`${'\u007F'.repeat(4)}data${enter}`)
    expect((await terminal.ended).code).toBe(0)
    expect(existsSync(join(cwd, 'keys/passphrase'))).toBe(true)
    const other = readFileSync(join(cwd, '.config/postern/passphrase'), 'utf8')
    expect(other).toBe('of another bot\n')
  })

  test('writes nothing when somebody gives up', async () => {
    const cwd = folder()
    const terminal = atTerminal(['init'], { cwd })
    await answer(terminal, 'Where is the service?', `https://chat.example.org${enter}`)
    await answer(terminal, 'Where is the bot’s token?', end)
    const { code, screen } = await terminal.ended
    expect([code, screen]).toEqual([1, expect.stringContaining('nothing was written')])
    expect([existsSync(join(cwd, 'config')), existsSync(join(cwd, '.config'))]).toEqual([
      false,
      false,
    ])
  })
})
