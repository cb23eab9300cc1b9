import { spawnSync } from './support/programs.ts'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'

const LOGGER = new URL('../src/logger.ts', import.meta.url).href
const SECRETS = new URL('../src/config/secrets.ts', import.meta.url).href
const SECRET = 'bot_7."quoted"\\and-more'

/** Runs a script that has `createLogger` and `SECRET`; gives what came out on fd 2. */
function logged(script: string, { stderr = 'pipe' }: { stderr?: 'pipe' | number } = {}) {
  const source = `
    import { createLogger } from ${JSON.stringify(LOGGER)}
    const SECRET = ${JSON.stringify(SECRET)}
    ${script}`
  const {
    status,
    stdout,
    stderr: text,
  } = spawnSync(process.execPath, ['--input-type=module-typescript', '-e', source], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', stderr],
    env: {},
  })
  return { status, stdout, text: text ?? '' }
}

const jsonOf = (text: string) =>
  text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, unknown>)

test('the logger writes JSON lines to fd 2, and nothing to fd 1', () => {
  const { stdout, text } = logged(`
    const log = createLogger({ level: 'info', pretty: false })
    log.debug('not at this level')
    log.info({ code: 'upstream', ms: 12 }, 'reached')`)
  expect(stdout).toBe('')
  expect(jsonOf(text)).toEqual([
    {
      level: 'info',
      time: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      code: 'upstream',
      ms: 12,
      msg: 'reached',
    },
  ])
})

test('the logger writes name and code of an error at any depth, and not its message', () => {
  const { text } = logged(`
    const log = createLogger({ level: 'trace', pretty: false })
    const error = Object.assign(new TypeError('words'), { code: 'E1', body: 'words' })
    error.cause = new Error('words')
    log.error(error)
    log.error({ err: error }, 'said')
    log.error({ other: error, list: [error], deep: { deeper: error } })
    log.error('%s', error)
    log.child({ err: error }).error('child')
    log.child({ part: 'x' }).error(error)`)
  const lines = jsonOf(text)
  expect(text).not.toContain('words')
  const shown = { name: 'TypeError', code: 'E1' }
  expect(lines[0]).toMatchObject({ err: shown })
  expect(lines[1]).toMatchObject({ err: shown, msg: 'said' })
  expect(lines[2]).toMatchObject({ other: shown, list: [shown], deep: { deeper: shown } })
  expect(lines[4]).toMatchObject({ err: shown, msg: 'child' })
  expect(lines[5]).toMatchObject({ part: 'x', err: shown })
})

test('the logger masks a secret, in nested JSON and URLs too, and the line stays JSON', () => {
  const { text } = logged(`
    const log = createLogger({ level: 'info', pretty: false, secrets: [SECRET, '12345678'] })
    log.info({ a: SECRET, b: JSON.stringify({ c: SECRET }), [SECRET]: 1, n: 12345678 }, SECRET)
    log.info({ url: 'http://x/' + encodeURIComponent(SECRET) }, 'Bearer ' + SECRET + '!')`)
  expect(jsonOf(text)).toMatchObject([
    { a: '[secret]', b: '{"c":"[secret]"}', '[secret]': 1, n: 12345678, msg: '[secret]' },
    { url: 'http://x/[secret]', msg: 'Bearer [secret]!' },
  ])
})

test('the logger masks a secret that was read again, and the former one', () => {
  const folder = mkdtempSync(join(tmpdir(), 'postern-test-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const path = join(folder, 'token')
  writeFileSync(path, 'first-token', { mode: 0o600 })
  const { text } = logged(`
    import { writeFileSync } from 'node:fs'
    import { SecretSource } from ${JSON.stringify(SECRETS)}
    const secret = SecretSource.fromFile(${JSON.stringify(path)}, 'token')
    const log = createLogger({ level: 'info', pretty: false, secrets: [secret] })
    log.info('first-token second-token')
    writeFileSync(${JSON.stringify(path)}, 'second-token')
    await secret.reload()
    log.info('first-token second-token')`)
  const [before, after] = jsonOf(text)
  expect(before?.['msg']).toBe('[secret] second-token')
  expect(after?.['msg']).toBe('[secret] [secret]')
})

test('the logger writes ids as keyed hashes when so set, equal under an equal key', () => {
  const { text } = logged(`
    for (const hashIdsWith of ['one', 'one', 'two']) {
      const log = createLogger({ level: 'info', pretty: false, hashIdsWith })
      log.info({ chatId: -777777, skipped: [{ userId: 888888, reason: 'expired' }], count: 77 })
    }`)
  expect(text).not.toMatch(/777777|888888/)
  const [first, second, third] = jsonOf(text)
  expect(first).toMatchObject({ chatId: expect.stringMatching(/^#[0-9a-f]{12}$/), count: 77 })
  expect(second?.['chatId']).toBe(first?.['chatId'])
  expect(third?.['chatId']).not.toBe(first?.['chatId'])
})

test('the logger masks OpenPGP blocks that are whole, cut off or inside JSON', () => {
  const { text } = logged(`
    const log = createLogger({ level: 'info', pretty: false })
    const block = '-----BEGIN PGP MESSAGE-----\\nComment: "x"\\n\\nd29yZHM=\\n-----END PGP MESSAGE-----'
    log.info({ a: 'before ' + block + ' after', b: JSON.stringify({ block }) })
    log.info('-----BEGIN PGP PRIVATE KEY BLOCK-----\\n\\nd29yZHM=')
    log.info({ a: block, b: 'kept' }, 'two ' + block + block)`)
  expect(text).not.toContain('d29yZHM=')
  expect(jsonOf(text)).toMatchObject([
    { a: 'before [pgp] after', b: '{"block":"[pgp]"}' },
    { msg: '[pgp]' },
    { a: '[pgp]', b: 'kept', msg: 'two [pgp][pgp]' },
  ])
})

test('the logger cuts long strings, counts bytes, and escapes control characters', () => {
  const { text } = logged(`
    const log = createLogger({ level: 'info', pretty: false })
    log.info({ long: 'x'.repeat(5000), bytes: Buffer.from('words'), odd: 'a\\u001b[31m\\u202e\\u061c\\u2028\\u2029b\\u0085' })`)
  const [line] = jsonOf(text)
  expect(line?.['long']).toHaveLength(401)
  expect(line?.['bytes']).toBe('[5 bytes]')
  expect(line?.['odd']).toBe('a[31mb')
})

test('pretty log lines have the fields of JSON lines, and no others', () => {
  const { text } = logged(`
    const log = createLogger({ level: 'info', pretty: true, secrets: [SECRET] })
    log.warn({ code: 'clock', err: new Error('words') }, 'said ' + SECRET)`)
  expect(text).toMatch(/WARN.*said \[secret\]/)
  expect(text).toContain('clock')
  expect(text).not.toContain('words')
})

test('a process continues when its log’s disk is full or its pipe is closed', async () => {
  const { openSync, closeSync } = await import('node:fs')
  const full = openSync('/dev/full', 'w')
  onTestFinished(() => closeSync(full))
  const script = `
    const log = createLogger({ level: 'info', pretty: false })
    for (let i = 0; i < 5000; i += 1) log.info({ i }, 'x'.repeat(300))
    process.stdout.write('still here')`
  expect(logged(script, { stderr: full })).toMatchObject({ status: 0, stdout: 'still here' })
  const { status, stdout } = spawnSync(
    'sh',
    [
      '-c',
      '{ "$0" --input-type=module-typescript -e "$1" 2>&1 >&3 | true; } 3>&1',
      process.execPath,
      `
      import { createLogger } from ${JSON.stringify(LOGGER)}
      ${script}`,
    ],
    { encoding: 'utf8' },
  )
  expect({ status, stdout }).toEqual({ status: 0, stdout: 'still here' })
})
