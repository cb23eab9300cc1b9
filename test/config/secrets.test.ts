import { chmodSync, rmSync, writeFileSync } from 'node:fs'
import { inspect } from 'node:util'
import { expect, test } from 'vitest'
import { load } from '../../src/config/load.ts'
import { SecretSource } from '../../src/config/secrets.ts'
import { ENOUGH, file, folder, refusalOf, sources } from './support.ts'

const { POSTERN_BOT_TOKEN: _token, ...TOKENLESS } = ENOUGH

function withTokenFile(text: string, mode = 0o600) {
  const cwd = folder()
  const path = file(cwd, 'token', text, mode)
  chmodSync(path, mode)
  return sources({ cwd, env: { ...TOKENLESS, POSTERN_BOT_TOKEN_FILE: 'token' } })
}

test.each(['bot_7.token', 'bot_7.token\n', 'bot_7.token\r\n'])(
  'the token file %j is read without its line end',
  (text) => {
    expect(load(withTokenFile(text)).secrets.botToken.reveal()).toBe('bot_7.token')
  },
)

test.each([
  ['an empty file', '', 'is empty'],
  ['a line break alone', '\n', 'is empty'],
  ['a space inside', 'bot 7', 'holds a space, a line break'],
  ['two lines', 'bot\n7', 'holds a space, a line break'],
  ['a character outside ASCII', 'böt', 'holds a space, a line break or a character outside ASCII'],
  ['more than 64 KiB', 'x'.repeat(65_537), 'is larger than 64 KiB'],
])('a token file with %s is refused without its text in the message', (_name, text, message) => {
  const error = refusalOf(() => load(withTokenFile(text)))
  expect(error.message).toMatch(/POSTERN_BOT_TOKEN_FILE bot\.token: \/\S+\/token: /)
  expect(error.message).toContain(`/token: ${message}`)
  if (text.trim() !== '') expect(error.message).not.toContain(text)
})

test.each(['0640', '0604', '0644', '0620'])('a token file of mode %s is refused', (shown) => {
  const error = refusalOf(() => load(withTokenFile('bot_7.token', Number.parseInt(shown, 8))))
  expect(error.message).toContain(`others can read it (mode ${shown}); run chmod 600 on it`)
})

test('a missing token file is refused with its path', () => {
  const refusal = (path: string) =>
    refusalOf(() => load(sources({ env: { ...TOKENLESS, POSTERN_BOT_TOKEN_FILE: path } })))
  expect(refusal('/no/token').message).toContain('/no/token: there is no such file')
  expect(refusal('./token').message).toContain('/nowhere/token: there is no such file')
})

test('a token in place of a path is not repeated in the message', () => {
  for (const secret of ['bot_7.hunter2hunter2', 'aHVudGVy/Mmh1bnRlcjI=']) {
    const env = { ...TOKENLESS, POSTERN_BOT_TOKEN_FILE: secret }
    const { message } = refusalOf(() => load(sources({ env })))
    expect(message).toContain('there is no such file, looked for in /nowhere')
    for (const part of secret.split('/')) expect(message).not.toContain(part)
  }
})

test('a token file is read again on demand, and an invalid file keeps the former value', async () => {
  const path = file(folder(), 'token', 'first\n')
  const secret = SecretSource.fromFile(path, 'token')
  expect(await secret.reload()).toBe(false)
  writeFileSync(path, 'second\n')
  expect(await secret.reload()).toBe(true)
  expect(secret.reveal()).toBe('second')
  writeFileSync(path, 'not a token\n')
  expect(await secret.reload()).toBe(false)
  chmodSync(path, 0o644)
  writeFileSync(path, 'third\n')
  expect(await secret.reload()).toBe(false)
  expect(secret.reveal()).toBe('second')
})

test('`looksChanged` reports a file written since it was read', async () => {
  const path = file(folder(), 'token', 'first\n')
  const secret = SecretSource.fromFile(path, 'token')
  expect(secret.looksChanged()).toBe(false)
  writeFileSync(path, 'a second one\n')
  expect(secret.looksChanged()).toBe(true)
  await secret.reload()
  expect(secret.looksChanged()).toBe(false)
  rmSync(path)
  expect(secret.looksChanged()).toBe(true)
  expect(SecretSource.fromValue('a value', 'passphrase').looksChanged()).toBe(false)
})

test('a secret and its file in one source are refused', () => {
  const env = { ...ENOUGH, POSTERN_BOT_TOKEN_FILE: '/x' }
  expect(refusalOf(() => load(sources({ env }))).message).toContain(
    'POSTERN_BOT_TOKEN_FILE bot.token: expected the secret or its file, not both ' +
      '(POSTERN_BOT_TOKEN is set too)',
  )
})

test('a secret of the environment overrides the file of the settings', () => {
  const cwd = folder()
  const configFlag = file(cwd, 'a.yaml', 'bot: {tokenFile: gone}\n')
  const loaded = load(sources({ cwd, configFlag }))
  expect(loaded.secrets.botToken.reveal()).toBe('bot_7.token')
  expect(loaded.origins.get('bot.token')).toBe('POSTERN_BOT_TOKEN')
})

test('a token in the settings file is accepted while others cannot read the file', () => {
  const cwd = folder()
  const configFlag = file(cwd, 'a.yaml', 'bot:\n  token: bot_7.inline\n')
  const given = sources({ cwd, configFlag, env: TOKENLESS })
  expect(load(given).secrets.botToken.reveal()).toBe('bot_7.inline')
  chmodSync(configFlag, 0o644)
  expect(refusalOf(() => load(given)).message).toContain(
    'a.yaml:2:10 bot.token: the file holds a secret and others can read it (mode 0644)',
  )
})

test('an empty variable for a secret is refused', () => {
  const env = { ...ENOUGH, POSTERN_BOT_CLIENT_TOKEN: '' }
  expect(refusalOf(() => load(sources({ env }))).message).toContain(
    'POSTERN_BOT_CLIENT_TOKEN bot.clientToken: is empty',
  )
})

test('a passphrase with spaces inside is accepted, and with a line break refused', () => {
  expect(load(sources()).secrets.passphrase?.reveal()).toBe('correct horse battery staple')
  for (const wrong of ['a\nb', ' a', 'a ', 'a\u0000b']) {
    const env = { ...ENOUGH, POSTERN_KEY_PASSPHRASE: wrong }
    expect(refusalOf(() => load(sources({ env }))).message).toContain('holds a line break')
  }
})

test('a printed `SecretSource` does not contain the secret', () => {
  const secret = SecretSource.fromValue('hunter2')
  const shown = [
    String(secret),
    ['', secret].join(''),
    JSON.stringify({ secret }),
    inspect(secret, { showHidden: true, depth: 9 }),
    inspect({ deep: [secret] }, { depth: 9 }),
    Object.values(secret).join(),
    JSON.stringify(Object.assign({}, secret)),
    JSON.stringify(Object.getOwnPropertyDescriptors(secret)),
  ]
  expect(shown.join('\n')).not.toContain('hunter2')
  expect(shown[0]).toBe('[secret]')
})
