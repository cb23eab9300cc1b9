/** A sidecar whose keys are in gpg-agent, or in a token of SoftHSM, before the sandbox. */
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { has } from '../support/lacks.ts'
import { Gpg } from '../support/openpgp-gpg.ts'
import { run } from '../support/programs.ts'
import { freshFolder, sandboxOf, startSidecar, talk } from './support.ts'

const MODULE = '/usr/lib/softhsm/libsofthsm2.so'
const hasToken = await import('pkcs11js').then(
  () => existsSync(MODULE),
  () => false,
)

/** Runs a sidecar, which reads a message of a person and answers, before and after a rotation. */
async function converse(folder: string, more: Record<string, string>, first?: string[]) {
  const sandbox = await sandboxOf()
  const { call, command, done, readiness } = await startSidecar(sandbox, more, folder, first)
  const { hear, say } = await talk(sandbox, { call })
  const exchange = async (words: string): Promise<void> => {
    await hear(words)
    await say(`${words}, answered`)
  }
  await exchange('first words')
  const send = () =>
    call('POST', '/messages', { chatId: sandbox.home.privateChat, text: 'more words' })
  return { command, done, exchange, send, readiness }
}

test('a sidecar with its key in gpg-agent opens and signs by the agent, rotates no key, and is not ready while the agent lacks the passphrase', async () => {
  await using gpg = await Gpg.start()
  await gpg.run(['--quick-gen-key', 'bot', 'ed25519', 'sign', '0'], undefined, 'words')
  const listed = (await gpg.run(['--list-keys', '--with-colons'])).stdout.toString()
  const fingerprint = /^fpr:+([0-9A-F]{40}):/m.exec(listed)?.[1] ?? ''
  await gpg.run(['--quick-add-key', fingerprint, 'cv25519', 'encr', '0'], undefined, 'words')
  const recall = () => gpg.run(['--sign'], 'x', 'words')
  await recall()
  const folder = freshFolder()
  const { stdout } = await gpg.run(['--armor', '--export'])
  writeFileSync(join(folder, 'bot.asc'), stdout)
  const more = { POSTERN_KEY_AGENT: `gpg-agent:${join(gpg.home, 'S.gpg-agent')}` }
  const { command, done, exchange, send, readiness } = await converse(folder, more, [
    'key',
    'import',
    'bot.asc',
  ])
  expect(done).toMatchObject({ code: 0, stdout: `${fingerprint.toLowerCase()}\n` })
  const rotated = await command('key', 'rotate')
  expect([rotated.code === 0, rotated.stderr]).toEqual([
    false,
    expect.stringContaining('gpg-agent makes no keys'),
  ])
  await run('gpgconf', ['--homedir', gpg.home, '--reload', 'gpg-agent'])
  expect([(await send()).status, await readiness()]).toEqual([
    503,
    { status: 503, reasons: ['key-agent'] },
  ])
  await recall()
  await expect.poll(readiness, { timeout: 10_000 }).toEqual({ status: 200, reasons: [] })
  await exchange('words after that')
}, 120_000)

test.skipIf(!has(hasToken, 'softhsm2 or pkcs11js is not installed'))(
  'a sidecar with its key in a PKCS #11 token makes its keys there, also for a rotation',
  async () => {
    const folder = freshFolder()
    mkdirSync(join(folder, 'tokens'))
    const SOFTHSM2_CONF = join(folder, 'conf')
    writeFileSync(SOFTHSM2_CONF, `directories.tokendir = ${join(folder, 'tokens')}\n`)
    const pins = ['--pin', '1234', '--so-pin', '87654321']
    const init = ['--init-token', '--free', '--label', 'bot', ...pins]
    const env = { PATH: process.env['PATH'], SOFTHSM2_CONF }
    expect((await run('softhsm2-util', init, { env })).code).toBe(0)
    const more = {
      SOFTHSM2_CONF,
      POSTERN_KEY_AGENT: `pkcs11:token=bot?module-path=${MODULE}`,
      POSTERN_KEY_AGENT_PIN: '1234',
    }
    const { command, exchange } = await converse(folder, more)
    expect((await command('key', 'rotate', '--watch')).code).toBe(0)
    await exchange('words after the rotation')
    const { stdout } = await command('key', 'list', '--json')
    const states = (JSON.parse(stdout) as { state: string }[]).map(({ state }) => state)
    expect(states).toEqual(['active', 'retired'])
  },
  120_000,
)
