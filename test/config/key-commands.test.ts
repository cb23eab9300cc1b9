import { writeFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { keyAccess, passphraseFrom, wrapperBy } from '../../src/config/key-commands.ts'
import { load } from '../../src/config/load.ts'
import { showSettings } from '../../src/config/show.ts'
import { OperatorError } from '../../src/errors.ts'
import { ENOUGH, file, folder, refusalOf, sources } from './support.ts'

const { PATH } = process.env
const sh = (script: string) => ({ argv: ['/bin/sh', '-c', script], env: { PATH } })
const refused = async (run: Promise<unknown>): Promise<OperatorError> => {
  const error: unknown = await run.catch((thrown: unknown) => thrown)
  expect(error).toBeInstanceOf(OperatorError)
  const refusal = error as OperatorError
  expect(refusal.code).toBe('key-command')
  expect(`${refusal.message}${refusal.hint}`).not.toContain('canary')
  return refusal
}
const { POSTERN_KEY_PASSPHRASE: _passphrase, ...WITHOUT } = ENOUGH

describe('`key.passphraseCommand`', () => {
  test('the passphrase command gives its output less the line end', async () => {
    expect(await passphraseFrom(sh('printf "some words\\r\\n\\n"'))).toBe('some words')
    expect(await passphraseFrom(sh('printf "ünïcode"'))).toBe('ünïcode')
  })

  test.each([
    ['true', 'printed a passphrase that is empty'],
    ['echo; echo', 'printed a passphrase that is empty'],
    ['printf "canary\\ncanary\\n"', 'a line break'],
    ['printf " canary"', 'a space at an end'],
    ['printf "canary\\377"', 'printed something other than UTF-8'],
    ['echo canary; exit 3', 'ended with exit code 3'],
    ['echo canary; kill -TERM $$', 'was ended by SIGTERM'],
    ['yes canary', 'printed more than 64 KiB'],
  ])(
    'the passphrase command `%s` is refused without its output in the message',
    async (script, words) => {
      const refusal = await refused(passphraseFrom(sh(script)))
      expect(refusal.message).toContain('the command of key.passphraseCommand')
      expect(refusal.message).toContain(words)
      // another try may help
      expect(refusal.exitCode).toBe(1)
    },
  )

  test('a passphrase command that cannot be started is refused as a setting', async () => {
    const refusal = await refused(passphraseFrom({ argv: ['/nowhere/vault'], env: {} }))
    expect(refusal).toMatchObject({ exitCode: 2, message: expect.stringContaining('ENOENT') })
  })

  test('the passphrase command runs once for bots that start together, and again after a failure', async () => {
    const cwd = folder()
    const script = `echo run >> ${cwd}/runs; sleep 0.1; cat ${cwd}/passphrase`
    const access = () =>
      keyAccess({ protection: 'auto', passphraseCommand: ['/bin/sh', '-c', script] })
    const read = async () => await (access().passphrase as () => Promise<string>)()
    const failures = await Promise.allSettled([read(), read()])
    expect(failures.map(({ status }) => status)).toEqual(['rejected', 'rejected'])
    file(cwd, 'passphrase', 'words\n')
    expect(await Promise.all([read(), read(), read()])).toEqual(['words', 'words', 'words'])
    expect((await passphraseFrom(sh(`wc -l < ${cwd}/runs`))).trim()).toBe('2')
  })

  test('the passphrase command is not run by loading the settings', () => {
    const cwd = folder()
    const env = { ...WITHOUT, POSTERN_KEY_PASSPHRASE_COMMAND: `["touch","${cwd}/ran"]` }
    const { settings } = load(sources({ env }))
    expect(settings.key.passphraseCommand).toEqual(['touch', `${cwd}/ran`])
    keyAccess(settings.key)
    expect(() => writeFileSync(`${cwd}/ran`, '', { flag: 'wx' })).not.toThrow()
  })

  test('`key.passphraseCommand` replaces `key.passphrase` and excludes it', () => {
    const command = { POSTERN_KEY_PASSPHRASE_COMMAND: '["vault","read"]' }
    expect(() => load(sources({ env: { ...WITHOUT, ...command } }))).not.toThrow()
    const { message } = refusalOf(() => load(sources({ env: { ...ENOUGH, ...command } })))
    expect(message).toContain('expected without key.passphrase and key.passphraseFile')
  })

  test.each(['vault read', '[]', '[""]', '[1]', '["a\\u0000"]', '["a"', '{"exec":["a"]}'])(
    'the passphrase command %s is refused as no list of a program and arguments',
    (text) => {
      const env = { ...WITHOUT, POSTERN_KEY_PASSPHRASE_COMMAND: text }
      const { message } = refusalOf(() => load(sources({ env })))
      expect(message).toContain('expected a list of a program and its arguments')
    },
  )

  test("the passphrase command has the environment without Postern's secrets", async () => {
    process.env['POSTERN_KEY_PASSPHRASE'] = 'canary'
    process.env['TESTS_KEPT'] = 'kept'
    const argv = ['/bin/sh', '-c', 'echo "$TESTS_KEPT-$POSTERN_KEY_PASSPHRASE-"']
    const { passphrase } = keyAccess({ protection: 'auto', passphraseCommand: argv })
    delete process.env['POSTERN_KEY_PASSPHRASE']
    expect(await (passphrase as () => Promise<string>)()).toBe('kept--')
    delete process.env['TESTS_KEPT']
  })
})

describe('`key.protection` with `exec`', () => {
  test('`key.protection` with `exec` is read from file, environment and flag, and shown', () => {
    const cwd = folder()
    const configFlag = file(cwd, 'a.yaml', 'key: { protection: { exec: [age.sh, a, b] } }\n')
    const given = load(sources({ cwd, configFlag, env: WITHOUT }))
    expect(given.settings.key.protection).toEqual({ exec: ['age.sh', 'a', 'b'] })
    expect(showSettings(given)).toContain('protection: { exec: [ age.sh, a, b ] } # a.yaml:1')
    const exec = '{"exec":["other"]}'
    const flags = { 'key-protection': exec }
    const env = { ...WITHOUT, POSTERN_KEY_PROTECTION: '{"exec":["another"]}' }
    expect(load(sources({ env })).settings.key.protection).toEqual({ exec: ['another'] })
    expect(load(sources({ env, flags })).settings.key.protection).toEqual({ exec: ['other'] })
  })

  test.each(['{"exec":[]}', '{"exec":"age"}', '{"exec":["a"],"b":1}', '{}', 'exec', '["a"]'])(
    '`key.protection` with the value %s is refused',
    (text) => {
      const env = { ...WITHOUT, POSTERN_KEY_PROTECTION: text }
      const { message } = refusalOf(() => load(sources({ env })))
      expect(message).toContain('one of auto, passphrase, keychain, none, or {exec: [...]}')
    },
  )

  test('the wrapper command reads one line of JSON and answers with one', async () => {
    const cwd = folder()
    const script = `cat >> ${cwd}/asked; printf '{"wrapped":"line\\\\nline"}\\n'`
    expect(await wrapperBy(sh(script)).wrap(Buffer.from('secret'), 'store-7')).toBe('line\nline')
    const opening = `cat >> ${cwd}/asked; echo '{"secret":"c2VjcmV0"}'`
    expect((await wrapperBy(sh(opening)).unwrap('blob', 'store-7')).toString()).toBe('secret')
    const asked = await passphraseFrom(sh(`cat ${cwd}/asked | tr '\\n' ' ' | sed 's/ $//'`))
    expect(asked).toBe(
      '{"postern":1,"op":"wrap","secret":"c2VjcmV0","context":"store-7"} ' +
        '{"postern":1,"op":"unwrap","wrapped":"blob","context":"store-7"}',
    )
  })

  test.each([
    ['', /did not answer wrap by the protocol/],
    ['[]', /by the protocol/],
    ['null', /by the protocol/],
    ['{"wrapped":""}', /by the protocol/],
    ['{"wrapped":7}', /by the protocol/],
    ['{"wrapped":"canary ü"}', /by the protocol/],
    ['{"wrapped":"canary","more":1}', /by the protocol/],
    ['{"secret":"canary"}', /by the protocol/],
    ['{"wrapped":"a"}\n{"wrapped":"b"}', /by the protocol/],
    ['{"wrapped":"a"}\n\n', /by the protocol/],
    ['canary', /by the protocol/],
    [`{"wrapped":"${'a'.repeat(16_385)}"}`, /by the protocol/],
  ])("the wrapper command's answer %j to wrap is refused", async (answer, words) => {
    const path = file(folder(), 'answer', answer)
    const wrapper = wrapperBy(sh(`cat > /dev/null; cat ${path}`))
    expect((await refused(wrapper.wrap(Buffer.from('s'), 'c'))).message).toMatch(words)
  })

  test.each(['{"secret":"not base64"}', '{"secret":"YQ"}', '{"wrapped":"YQ=="}', '{"secret":1}'])(
    "the wrapper command's answer %s to unwrap is refused",
    async (answer) => {
      const path = file(folder(), 'answer', answer)
      const { message } = await refused(wrapperBy(sh(`cat ${path}`)).unwrap('w', 'c'))
      expect(message).toContain('did not answer unwrap by the protocol')
    },
  )
})
