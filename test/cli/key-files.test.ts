import { existsSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { generateKey } from 'openpgp'
import { afterAll, describe, expect, test } from 'vitest'
import { mainFile } from '../support/postern-process.ts'
import { atTerminal, hasTerminals } from '../support/terminal.ts'
import { OUT, Stage } from './secrets-stage.ts'

const withOut = { POSTERN_EXPORT_PASSPHRASE: OUT }
const modeOf = (path: string): string => (statSync(path).mode & 0o777).toString(8)

/** A secret key that somebody else made. */
async function foreign(
  passphrase = OUT,
  lifeSeconds = 0,
  date = new Date(),
): Promise<{ armored: string; fingerprint: string }> {
  const { privateKey } = await generateKey({
    type: 'ecc',
    curve: 'curve25519Legacy',
    userIDs: [{ name: 'bot' }],
    passphrase,
    keyExpirationTime: lifeSeconds,
    date,
    format: 'object',
  })
  return { armored: privateKey.armor(), fingerprint: privateKey.getFingerprint() }
}

describe('postern key generate', () => {
  test('makes the first key and a store for it, publishes nothing, and is done once', async () => {
    const stage = await Stage.make()
    const fingerprint = await stage.does('key generate')
    expect(fingerprint).toMatch(/^[0-9a-f]{40}$/)
    expect(await stage.shown()).toBeNull()
    const again = await stage.run('key generate')
    expect([again.code, again.stderr]).toEqual([1, expect.stringContaining(fingerprint)])
    await stage.down(await stage.up())
    expect(await stage.shown()).toBe(fingerprint)
  })

  test('makes none while the service does not answer, or key.publish is off', async () => {
    const stage = await Stage.make()
    const nowhere = await stage.run('key generate', { POSTERN_UPSTREAM_URL: 'http://127.0.0.1:1' })
    expect(nowhere.stderr).toContain('code: postern_upstream_unreachable')
    const off = await stage.run('key generate', { POSTERN_KEY_PUBLISH: 'false' })
    expect(off.stderr).toContain('key.publish is off')
    expect(await stage.does('key list --json')).toBe('[]')
  })
})

/** A stage with a key in it, made by the first test that asks; they only give the key away. */
let shared: Promise<Stage & { key: string }> | null = null
const ends: (() => Promise<void>)[] = []
const withKey = (): Promise<Stage & { key: string }> => {
  shared ??= Stage.make((end) => ends.push(end)).then(async (stage) =>
    Object.assign(stage, { key: await stage.does('key generate') }),
  )
  return shared
}
afterAll(async () => {
  for (const end of ends) await end()
})

describe('postern key export', () => {
  test('goes to a new file of mode 0600, and never over another', async () => {
    const stage = await withKey()
    const file = stage.path('key.asc')
    expect(await stage.does(`key export --output ${file}`, withOut)).toBe(file)
    expect(modeOf(file)).toBe('600')
    const before = readFileSync(file, 'utf8')
    expect(before).toMatch(/^-----BEGIN PGP PRIVATE KEY BLOCK-----/)
    const again = await stage.run(`key export -o ${file}`, withOut)
    expect([again.code, again.stderr]).toEqual([1, expect.stringContaining('is there already')])
    expect(readFileSync(file, 'utf8')).toBe(before)
    await stage.does(`key export -o ${file} --force`, withOut)
    expect(readFileSync(file, 'utf8')).not.toBe(before)
  })

  test('with --force replaces a link, and leaves what it leads to', async () => {
    const stage = await withKey()
    const [kept, link] = [stage.path('kept'), stage.path('link')]
    writeFileSync(kept, 'somebody else’s', { mode: 0o644 })
    symlinkSync(kept, link)
    await stage.does(`key export -o ${link} --force`, withOut)
    expect(readFileSync(kept, 'utf8')).toBe('somebody else’s')
    expect(modeOf(link)).toBe('600')
  })

  test('goes to a pipe, armored, with all talk on stderr', async () => {
    const stage = await withKey()
    const { stdout, stderr } = await stage.run('key export', withOut)
    expect(stdout).toMatch(/^-----BEGIN PGP PRIVATE KEY BLOCK-----\n[^]*\n-----END [A-Z ]+-----\n$/)
    expect(stderr).toBe(`${stage.key}, pending: the secret key, locked under the passphrase\n`)
  })

  test.each([
    [
      'no passphrase and nobody to ask',
      '',
      {},
      /passphrase is needed[^]*POSTERN_EXPORT_PASSPHRASE/,
    ],
    [
      'a passphrase and its file',
      '',
      { ...withOut, POSTERN_EXPORT_PASSPHRASE_FILE: 'x' },
      /not both/,
    ],
    ['an empty passphrase', '', { POSTERN_EXPORT_PASSPHRASE: '' }, /is empty/],
    [
      'a file that is not there',
      '',
      { POSTERN_EXPORT_PASSPHRASE_FILE: 'x' },
      /there is no such file/,
    ],
    ['a key that is not ours', ` ${'0'.repeat(40)}`, withOut, /no key of ours/],
    ['a folder that is not there', ' -o no/where.asc', withOut, /cannot be written \(ENOENT\)/],
  ])('%s: refused, and nothing is given', async (_what, more, env, words) => {
    const stage = await withKey()
    const { code, stdout, stderr } = await stage.run(`key export${more}`, env)
    expect(code).not.toBe(0)
    expect(stdout).toBe('')
    expect(stderr).toMatch(words)
    expect(stderr).not.toContain(OUT)
  })
})

describe('postern key import', () => {
  test('makes a key pending, and the sidecar publishes it as any other', async () => {
    const stage = await Stage.make()
    const { armored, fingerprint } = await foreign()
    expect(await stage.does('key import', withOut, armored)).toBe(fingerprint)
    expect(await stage.shown()).toBeNull()
    const sidecar = await stage.up()
    expect(await stage.shown()).toBe(fingerprint)

    const next = await foreign()
    writeFileSync(stage.path('next.asc'), next.armored)
    expect(await stage.does('key import next.asc', withOut)).toBe(next.fingerprint)
    const keys = async () =>
      JSON.parse(await stage.does('key list --json')) as { fingerprint: string; state: string }[]
    await expect.poll(async () => (await keys())[0]?.state).toBe('active')
    expect(await stage.shown()).toBe(next.fingerprint)
    expect((await keys()).map(({ state }) => state)).toEqual(['active', 'retired'])
    await stage.down(sidecar)
  })

  test('with --retired takes in what opens alone, and publishes it never', async () => {
    const stage = await Stage.make()
    const sidecar = await stage.up()
    const ours = await stage.shown()
    const { armored, fingerprint } = await foreign()
    const taken = await stage.run('key import --retired', withOut, armored)
    expect(taken.stdout.trim()).toBe(fingerprint)
    expect(taken.stderr).toMatch(/for opening alone.*key\.retainDays/)
    await stage.down(sidecar)
    await stage.down(await stage.up())
    expect(await stage.shown()).toBe(ours)
    const keys = JSON.parse(await stage.does('key list --json'))
    expect(keys).toMatchObject([
      { fingerprint, state: 'retired', opens: true, publishedAt: null },
      { fingerprint: ours, state: 'active' },
    ])
  })

  test('takes a key that has expired with --retired alone', async () => {
    const stage = await Stage.make()
    await stage.does('key generate')
    const { armored, fingerprint } = await foreign(OUT, 3600, new Date(Date.now() - 86_400_000))
    for (const line of ['key import', 'key import --force']) {
      const refused = await stage.run(line, withOut, armored)
      expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining('(expired)')])
      expect(refused.stderr).toContain('--retired')
    }
    expect(await stage.does('key import --retired', withOut, armored)).toBe(fingerprint)
    await stage.down(await stage.up())
    const keys = JSON.parse(await stage.does('key list --json'))
    expect(keys[0]).toMatchObject({ fingerprint, state: 'retired', opens: true })
    expect(await stage.shown()).toBe(keys[1].fingerprint)
  })

  test('refuses with --retired the key that the service shows', async () => {
    const [one, two] = [await Stage.make(), await Stage.make()]
    await one.does('key generate')
    const { stdout } = await one.run('key export', withOut)
    await one.down(await one.up())
    const shown = await two.run(
      'key import --retired',
      { ...withOut, POSTERN_UPSTREAM_URL: one.sandbox.url, POSTERN_BOT_TOKEN: one.sandbox.token },
      stdout,
    )
    expect([shown.code, shown.stderr]).toEqual([1, expect.stringContaining('is not retired')])
    expect(await two.does('key list --json')).toBe('[]')
  })

  test('refuses a key that ends within a day, without --force', async () => {
    const stage = await Stage.make()
    const { armored, fingerprint } = await foreign(OUT, 3600)
    const refused = await stage.run('key import', withOut, armored)
    expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining('within a day')])
    expect(await stage.does('key import --force', withOut, armored)).toBe(fingerprint)
  })

  test('takes what export gave, into another store', async () => {
    const [one, two] = [await Stage.make(), await Stage.make()]
    const fingerprint = await one.does('key generate')
    const { stdout } = await one.run('key export', withOut)
    expect(await two.does('key import', withOut, stdout)).toBe(fingerprint)
  })

  test('refuses by reason, and keeps nothing', async () => {
    const stage = await Stage.make()
    const { armored } = await foreign()
    const wrong = await stage.run(
      'key import',
      { POSTERN_EXPORT_PASSPHRASE: 'quite-wrong-words' },
      armored,
    )
    expect(wrong.stderr).toMatch(/passphrase-wrong[^]*code: passphrase/)
    const none = await stage.run('key import', {}, armored)
    expect(none.stderr).toMatch(/passphrase-missing[^]*POSTERN_EXPORT_PASSPHRASE/)
    const words = await stage.run('key import', {}, 'not a key')
    expect(words.stderr).toMatch(/unparseable[^]*hint: export one/)
    const large = await stage.run('key import', {}, Buffer.alloc(513 * 1024, 0x80))
    expect(large.stderr).toContain('larger than 512 KiB')
    const nowhere = await stage.run('key import nowhere.asc')
    expect(nowhere.stderr).toContain('cannot be read (ENOENT)')
    expect(await stage.does('key list --json')).toBe('[]')
    for (const { stderr } of [wrong, none, words]) expect(stderr).not.toContain('BEGIN PGP')
  })

  test('takes one key at a time, and none that is ours already', async () => {
    const stage = await Stage.make()
    const { armored } = await foreign()
    await stage.does('key import', withOut, armored)
    expect((await stage.run('key import', withOut, armored)).stderr).toContain('is ours already')
    const other = await stage.run('key import', withOut, (await foreign()).armored)
    expect(other.stderr).toContain('another key waits for its publication')
  })
})

/** An arrow key, which is no part of what is typed. */
const LEFT = '\u001b[D'

describe.skipIf(!hasTerminals)('at a terminal', () => {
  const command = (line: string) => [process.execPath, mainFile(), ...line.split(' ')]
  const at = (stage: Stage) => ({
    cwd: stage.cwd,
    env: { ...stage.env(), PATH: '/usr/bin:/bin', HOME: stage.cwd },
  })

  test('no secret key is printed, unless forced', async () => {
    const stage = await withKey()
    const { code, screen } = await atTerminal(command('key export'), [], at(stage))
    expect(code).toBe(1)
    expect(screen).toContain('not printed to a terminal')
    expect(screen).not.toContain('PRIVATE KEY')
  })

  test('a passphrase is asked for twice, not shown, and may be corrected while it is typed', async () => {
    const stage = await withKey()
    const answers = [
      { when: /passphrase for the exported key: /, types: `wrong\u0015${OUT}x\u007f\r` },
      { when: /once more: /, types: `${OUT}${LEFT}\r` },
    ]
    const { code, screen } = await atTerminal(
      command('key export -o typed.asc'),
      answers,
      at(stage),
    )
    expect([code, screen]).toEqual([0, expect.stringContaining('typed.asc')])
    expect(screen).not.toContain(OUT)
    const other = await Stage.make()
    const asked = [{ when: /passphrase of the key: /, types: `${OUT}\r` }]
    const file = stage.path('typed.asc')
    const taken = await atTerminal(command(`key import ${file}`), asked, at(other))
    expect([taken.code, taken.screen]).toEqual([0, expect.stringContaining('imported')])
  })

  test.each([
    ['two that differ', [`${OUT}\r`, 'other\r'], /the two passphrases differ/],
    ['an empty one', ['\r', '\r'], /is empty/],
    ['Ctrl-C', ['abc\u0003'], /nothing was done/],
    ['Ctrl-D', ['\u0004'], /nothing was done/],
  ])('%s: nothing is done', async (_what, typed, words) => {
    const stage = await withKey()
    const questions = [/passphrase for the exported key: /, /once more: /]
    const answers = typed.map((types, at_) => ({ when: questions[at_] ?? /$/, types }))
    const { code, screen } = await atTerminal(
      command('key export -o never.asc'),
      answers,
      at(stage),
    )
    expect(code).not.toBe(0)
    expect(screen).toMatch(words)
    expect(existsSync(stage.path('never.asc'))).toBe(false)
  })
})
