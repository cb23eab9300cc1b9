import { execFileSync, spawn } from '../support/programs.ts'
import { mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { load, loadAll, loadSeveral } from '../../src/config/load.ts'
import { SecretReader } from '../../src/config/pipes.ts'
import { loadDataDir, loadStoreAccess } from '../../src/config/store-access.ts'
import { changedOfProcess } from '../../src/config/settings.ts'
import { ENOUGH, file, folder, refusalOf, sources } from './support.ts'

const token = (id: number): string => `bot_${id}.${'t'.repeat(43)}`

/** What is common to all, less the token of an only bot. */
const { POSTERN_BOT_TOKEN: _none, ...COMMON } = ENOUGH

/** Sources with a settings file of this text, in a folder of their own. */
function withFile(text: string, more: Parameters<typeof sources>[0] = {}) {
  const cwd = folder()
  const configFlag = file(cwd, 'postern.yaml', text)
  return sources({ cwd, configFlag, env: COMMON, ...more })
}

/** Sources with a folder of bots, by the names of their files. */
function withFolder(files: Record<string, string>, more: Parameters<typeof sources>[0] = {}) {
  const cwd = folder()
  mkdirSync(join(cwd, 'bots.d'))
  for (const [name, text] of Object.entries(files)) file(join(cwd, 'bots.d'), name, text)
  return sources({ cwd, env: { ...COMMON, POSTERN_BOTS: 'bots.d' }, ...more })
}

function severalOf(given: ReturnType<typeof sources>) {
  const loaded = loadAll(given)
  if (!('several' in loaded)) throw new Error('one bot')
  return loaded.several
}

const TWO = `
trust: {policy: first-use}
bots:
  - name: echo
    token: ${token(1)}
    trust: {policy: pinned}
  - name: news
    token: ${token(2)}
    clientToken: of-the-news
    upstream: {url: https://other.example.org}
    dataDir: elsewhere
`

describe('a list of bots', () => {
  test('each bot of the list has its own settings over the common ones', () => {
    const given = withFile(TWO)
    const { bots, settings, folder: none } = severalOf(given)
    expect(none).toBeNull()
    expect(bots.map(({ name }) => name)).toEqual(['echo', 'news'])
    const [echo, news] = bots
    expect(echo?.settings.trust.policy).toBe('pinned')
    expect(echo?.settings.upstream.url).toBe('https://api.example.org')
    expect(echo?.settings.dataDir).toBe(join(given.cwd, '.postern/bots/echo'))
    expect(echo?.secrets.botToken.reveal()).toBe(token(1))
    expect(echo?.secrets.clientToken).toBeNull()
    expect(echo?.secrets.passphrase?.reveal()).toBe(ENOUGH.POSTERN_KEY_PASSPHRASE)
    expect(news?.settings.trust.policy).toBe('first-use')
    expect(news?.settings.upstream.url).toBe('https://other.example.org')
    expect(news?.settings.dataDir).toBe(join(given.cwd, 'elsewhere'))
    expect(news?.secrets.clientToken?.reveal()).toBe('of-the-news')
    expect(settings.dataDir).toBe(join(given.cwd, '.postern'))
    expect(settings.listen.port).toBe(8700)
  })

  test("a bot's own setting overrides the environment", () => {
    const env = { ...COMMON, POSTERN_TRUST_POLICY: 'accept' }
    const { bots } = severalOf(withFile(TWO, { env }))
    expect(bots.map(({ settings }) => settings.trust.policy)).toEqual(['pinned', 'accept'])
  })

  test("`load` with a bot's name returns the settings of this bot", () => {
    const given = withFile(TWO)
    expect(load({ ...given, bot: 'news' }).settings.upstream.url).toBe('https://other.example.org')
    expect(loadStoreAccess({ ...given, bot: 'echo' }).dataDir).toMatch(/bots\/echo$/)
    expect(loadDataDir({ ...given, bot: 'echo' })).toBe(join(given.cwd, '.postern'))
  })
})

describe('an invalid list', () => {
  const one = (more: string): string =>
    `bots:\n  - name: echo\n    token: ${token(1)}\n    ${more}\n`
  const two = (a: string, b = a): string =>
    `bots:\n  - {name: a, token: ${token(1)}${a}}\n  - {name: b, token: ${token(2)}${b}}\n`
  const NAME = 'expected at most 63 of a-z, 0-9, _ and -'
  const refused: [string, string, string][] = [
    ['a setting of the process', one('listen: {}'), '4:5 bots.echo.listen: is the same for all'],
    ['an unknown setting', one('trust: {polcy: pinned}'), '4:13 bots.echo.trust.polcy: no such'],
    ['an invalid value', one('trust: {policy: x}'), '4:21 bots.echo.trust.policy: expected one'],
    ['a missing token', 'bots:\n  - name: echo\n', '2:5 bots.echo.token: is required, or'],
    ['a missing name', `bots:\n  - token: ${token(1)}\n`, '2:5 bots.0.name: is required'],
    ['a name with dots and slashes', two('').replace('a,', '../up,'), `2:12 bots.0.name: ${NAME}`],
    ['a repeated name', two('').replace('b,', 'a,'), 'name: is the name of another bot (postern.'],
    ['two tokens of one bot', two('').replaceAll(/bot_../g, 'bot_7.'), 'has the token of the same'],
    [
      'a repeated client token',
      two(', clientToken: x'),
      'bots.b: has the same token for the local',
    ],
    ['a repeated folder', two(', dataDir: x'), 'bots.b: has the same dataDir as bots.a'],
    [
      'a token beside the list',
      `bot: {token: ${token(3)}}\n${two('')}`,
      '1:14 bot.token: expected',
    ],
    ['a text in place of a bot', 'bots: [echo]\n', '1:8 bots.0: expected the settings of a bot'],
    ['bots within a bot', 'bots:\n  - {name: a, bots: x}\n', 'bots.a.bots: is the same for all'],
  ]
  test.each(refused)(
    'a list with %s is refused with its line, and no token is repeated',
    (_what, text, reason) => {
      const { message, hint } = refusalOf(() => loadAll(withFile(text)))
      expect(message).toContain(reason)
      expect(message + hint).not.toContain('t'.repeat(43))
    },
  )

  test('a settings file with a token that others can read is refused', () => {
    const cwd = folder()
    const configFlag = file(cwd, 'a.yaml', `bots: [{name: a, token: ${token(1)}}]\n`, 0o644)
    const error = refusalOf(() => loadAll(sources({ cwd, configFlag, env: COMMON })))
    expect(error.message).toContain('the file holds a secret and others can read it')
  })

  test('a listener beyond loopback requires a client token of each bot', () => {
    const env = { ...COMMON, POSTERN_LISTEN_HOST: '0.0.0.0' }
    const { message } = refusalOf(() => loadAll(withFile(TWO, { env })))
    expect(message).toContain('bots.echo.listen.host: expected a loopback address')
    expect(message).toContain('since clientToken is not set')
    expect(message).not.toContain('bots.news')
  })
})

describe('bots on PostgreSQL', () => {
  const URL_OF_STORE = 'postgres://postern@127.0.0.1/postern'
  const env = { ...COMMON, POSTERN_STORE_URL: URL_OF_STORE }
  const schemasOf = (text: string, more: object = {}): string[] =>
    severalOf(withFile(text, { env: { ...env, ...more } })).bots.map(
      ({ settings }) => settings.store.schema,
    )

  test('each bot uses the common database and a schema after its name', () => {
    const given = withFile(TWO, { env })
    const { bots, secrets } = severalOf(given)
    expect(secrets.storeUrl?.reveal()).toBe(URL_OF_STORE)
    expect(bots.map((bot) => bot.secrets.storeUrl?.reveal())).toEqual([URL_OF_STORE, URL_OF_STORE])
    expect(schemasOf(TWO)).toEqual(['postern_echo', 'postern_news'])
    expect(schemasOf(TWO, { POSTERN_STORE_SCHEMA: 'bots' })).toEqual(['bots_echo', 'bots_news'])
    const own = `${TWO}    store: {schema: news-of-before}\n`
    expect(schemasOf(own)).toEqual(['postern_echo', 'news-of-before'])
  })

  test("`loadStoreAccess` with a bot's name returns its schema without a database", () => {
    const given = withFile(TWO)
    expect(loadStoreAccess({ ...given, bot: 'news' }).store.schema).toBe('postern_news')
  })

  const long = 'n'.repeat(56)
  const bot = (name: string, more = ''): string =>
    `  - {name: ${name}, token: ${token(name.length)}${more}}\n`
  test.each([
    [
      'one schema for two bots',
      `bots:\n${bot('echo')}${bot('a', ', store: {schema: postern_echo}')}`,
      'bots.a: has the same store.schema as bots.echo',
      'a schema is of one bot: give one of them another store.schema',
    ],
    [
      'a name longer than PostgreSQL allows',
      `bots:\n${bot(long)}`,
      `bots.${long}.store.schema: expected at most 63 bytes, and there are 64, with a bot’s name`,
      'give the bot a store.schema of its own, or a shorter name',
    ],
    [
      'a name reserved by PostgreSQL',
      `bots:\n${bot('a', ', store: {schema: pg_a}')}`,
      'bots.a.store.schema: expected a name of a-z, 0-9, _ and -',
      '`postern config list` lists every setting',
    ],
    [
      'a database of its own',
      `bots:\n${bot('a', ', store: {url: postgres://a@127.0.0.1/b}')}`,
      'bots.a.store.url: is the same for all bots',
      '',
    ],
  ])('a list with %s is refused with a hint', (_what, text, message, hint) => {
    const error = refusalOf(() => loadAll(withFile(text, { env })))
    expect(error.message).toContain(message)
    expect(error.hint).toContain(hint)
  })

  test('a certificate authority without a database is refused once for all bots', () => {
    const cwd = folder()
    const caFile = file(cwd, 'ca.pem', '-----BEGIN CERTIFICATE-----\n')
    const given = { env: { ...COMMON, POSTERN_STORE_CA_FILE: caFile } }
    const { message } = refusalOf(() => loadAll(withFile(TWO, given)))
    expect(message.match(/expected with store.url/g)).toHaveLength(1)
  })

  test('`changedOfProcess` lists the changed settings of the process', () => {
    const given = withFile(TWO, { env })
    const before = severalOf(given)
    expect(changedOfProcess(before, severalOf(given))).toEqual([])
    const now = severalOf({ ...given, env: COMMON })
    expect(changedOfProcess(before, now)).toEqual(['store.url'])
  })
})

describe('a folder of bots', () => {
  test('each file of the folder is one bot with the name of the file', () => {
    const given = withFolder({
      'echo.yaml': `token: ${token(1)}\ncache: {chatSeconds: 5}\n`,
      'news.yml': `name: news\ntoken: ${token(2)}\n`,
      '.hidden.yaml': 'what: ever\n',
      'notes.txt': 'nothing\n',
    })
    const { bots, folder: path } = severalOf(given)
    expect(path).toBe(join(given.cwd, 'bots.d'))
    expect(bots.map(({ name }) => name)).toEqual(['echo', 'news'])
    expect(bots.map(({ settings }) => settings.cache.chatSeconds)).toEqual([5, 60])
  })

  test('an empty folder is accepted as several bots', () => {
    expect(severalOf(withFolder({})).bots).toEqual([])
  })

  const TOKEN = `token: ${token(1)}\n`
  const refused: [string, Record<string, string>, string][] = [
    [
      'a file of another bot',
      { 'echo.yaml': `name: news\n${TOKEN}` },
      'echo.yaml:1:7 bots.echo.name',
    ],
    ['a setting of the process', { 'echo.yaml': `${TOKEN}log: {}\n` }, '2:1 bots.echo.log: is the'],
    ['an empty file', { 'echo.yaml': '' }, 'bots.d/echo.yaml bots.echo.token: is required, or'],
    [
      'a token in a group',
      { 'echo.yaml': `bot: {${TOKEN.trim()}}\n` },
      'expected without this group',
    ],
    ['a file that is not YAML', { 'echo.yaml': 'a: [\n' }, 'echo.yaml:2:1 bots.echo: is not YAML'],
    [
      'an invalid file name',
      { 'Echo.yaml': TOKEN },
      'Echo.yaml bots: its name: expected at most 63',
    ],
    [
      'two files for one bot',
      { 'echo.yaml': TOKEN, 'echo.yml': TOKEN },
      'echo has another file there',
    ],
  ]
  test.each(refused)('a folder with %s is refused', (_what, files, message) => {
    expect(refusalOf(() => loadAll(withFolder(files))).message).toContain(message)
  })

  test('a missing folder of bots is refused', () => {
    const env = { ...COMMON, POSTERN_BOTS: 'nowhere' }
    const { message } = refusalOf(() => loadAll(sources({ env })))
    expect(message).toContain('POSTERN_BOTS bots: /nowhere/nowhere is not there')
  })
})

describe('pipes', () => {
  /** A pipe into which somebody puts these words once. */
  function pipe(cwd: string, words: string): string {
    const path = join(cwd, 'pipe')
    execFileSync('mkfifo', ['-m', '600', path])
    spawn('sh', ['-c', 'printf %s "$1" > "$2"', 'sh', words, path], { stdio: 'ignore' }).unref()
    return path
  }

  test('a secret from a pipe is kept for all bots when settings are read again', () => {
    const given = withFolder(
      { 'echo.yaml': `token: ${token(1)}\n`, 'news.yaml': `token: ${token(2)}\n` },
      { secretReader: new SecretReader() },
    )
    const { POSTERN_KEY_PASSPHRASE: _words, ...others } = given.env
    const env = { ...others, POSTERN_KEY_PASSPHRASE_FILE: pipe(given.cwd, 'the words') }
    const passphrases = () =>
      severalOf({ ...given, env }).bots.map(({ secrets }) => secrets.passphrase?.reveal())
    expect(passphrases()).toEqual(['the words', 'the words'])
    given.secretReader.waitNoMore()
    expect(passphrases()).toEqual(['the words', 'the words'])
  })

  test('a token file that is a pipe is refused after the start', () => {
    const secretReader = new SecretReader()
    const given = withFolder({}, { secretReader })
    secretReader.waitNoMore()
    const late = join(given.cwd, 'late')
    execFileSync('mkfifo', ['-m', '600', late])
    file(join(given.cwd, 'bots.d'), 'late.yaml', `tokenFile: ${late}\n`)
    expect(refusalOf(() => loadAll(given)).message).toContain(
      `bots.late.token: ${late}: is a pipe, which is read at a start alone`,
    )
  })

  test('a settings file that is a pipe is refused after the start', () => {
    const given = withFolder({}, { secretReader: new SecretReader() })
    const configFlag = join(given.cwd, 'settings')
    execFileSync('mkfifo', ['-m', '600', configFlag])
    given.secretReader.waitNoMore()
    expect(refusalOf(() => loadSeveral({ ...given, configFlag })).message).toContain(
      'settings: is a pipe, which is read at a start alone',
    )
  })

  test.each(['upstream', 'store'])('a pipe is refused as %s.caFile', (of) => {
    const given = withFolder({ 'echo.yaml': `token: ${token(1)}\n` })
    const caFile = join(given.cwd, 'ca')
    execFileSync('mkfifo', ['-m', '600', caFile])
    const env = { ...given.env, [`POSTERN_${of.toUpperCase()}_CA_FILE`]: caFile }
    expect(refusalOf(() => loadAll({ ...given, env })).message).toContain(
      `${caFile}: is no ordinary file`,
    )
  })

  test('a pipe is refused as the file of a bot', () => {
    const given = withFolder({})
    execFileSync('mkfifo', [join(given.cwd, 'bots.d', 'echo.yaml')])
    expect(refusalOf(() => loadAll(given)).message).toContain(
      'bots.d/echo.yaml bots.echo: is no ordinary file',
    )
  })
})

test('the example of several bots is accepted', () => {
  const text = readFileSync('config/examples/several-bots.yaml', 'utf8').replaceAll('secrets/', '')
  const given = withFile(text, { env: {} })
  file(given.cwd, 'passphrase', 'words\n')
  for (const [index, name] of ['echo', 'news'].entries()) {
    file(given.cwd, `${name}-token`, `${token(index + 1)}\n`)
    file(given.cwd, `${name}-client-token`, `presented-${name}\n`)
  }
  const { bots, settings } = severalOf(given)
  expect(bots.map((bot) => [bot.name, bot.settings.trust.policy])).toEqual([
    ['echo', 'accept'],
    ['news', 'pinned'],
  ])
  expect(settings.admin.readyWhen).toBe('any')
})
