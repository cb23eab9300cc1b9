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
  test('each has its own over what is for all', () => {
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

  test('what is a bot’s own counts over the environment', () => {
    const env = { ...COMMON, POSTERN_TRUST_POLICY: 'accept' }
    const { bots } = severalOf(withFile(TWO, { env }))
    expect(bots.map(({ settings }) => settings.trust.policy)).toEqual(['pinned', 'accept'])
  })

  test('a command gets the settings of the bot that it names, and no others', () => {
    const given = withFile(TWO)
    expect(load({ ...given, bot: 'news' }).settings.upstream.url).toBe('https://other.example.org')
    expect(loadStoreAccess({ ...given, bot: 'echo' }).dataDir).toMatch(/bots\/echo$/)
    expect(loadDataDir({ ...given, bot: 'echo' })).toBe(join(given.cwd, '.postern'))
  })

  test('a command that names none, or an unknown one, is told the names', () => {
    const given = withFile(TWO)
    for (const bot of [null, 'ecko']) {
      const error = refusalOf(() => load({ ...given, bot }))
      expect([error.code, error.hint]).toEqual(['usage', 'name one with --bot: echo, news'])
      expect(refusalOf(() => loadStoreAccess({ ...given, bot })).code).toBe('usage')
    }
  })

  test('a name where there is one bot is refused', () => {
    const error = refusalOf(() => load(sources({ bot: 'echo' })))
    expect([error.code, error.message]).toEqual(['usage', 'there is one bot, which has no name'])
  })

  test('one bot without the setting is as it ever was', () => {
    const loaded = loadAll(sources())
    expect('one' in loaded && loaded.one.settings.dataDir).toBe('/nowhere/.postern')
    expect('one' in loaded && loaded.one.settings).not.toHaveProperty('bots')
  })

  test('an empty list is several bots, of which there is none yet', () => {
    expect(severalOf(withFile('bots: []\n')).bots).toEqual([])
  })
})

describe('a wrong list is refused with the line, the name and the reason', () => {
  const refused: [string, string, string][] = [
    [
      'a setting of the process',
      `bots:\n  - name: echo\n    token: ${token(1)}\n    listen: {port: 1}\n`,
      'postern.yaml:4:5 bots.echo.listen: is the same for all bots: set it beside `bots`, not for one of them',
    ],
    [
      'a setting that there is not',
      `bots:\n  - name: echo\n    token: ${token(1)}\n    trust: {polcy: pinned}\n`,
      'postern.yaml:4:13 bots.echo.trust.polcy: no such setting, did you mean trust.policy?',
    ],
    [
      'a value that is wrong',
      `bots:\n  - name: echo\n    token: ${token(1)}\n    trust: {policy: none}\n`,
      'postern.yaml:4:21 bots.echo.trust.policy: expected one of accept, first-use, pinned',
    ],
    [
      'a missing token',
      'bots:\n  - name: echo\n',
      'postern.yaml:2:5 bots.echo.token: is required, or tokenFile',
    ],
    [
      'a missing name',
      `bots:\n  - token: ${token(1)}\n`,
      'postern.yaml:2:5 bots.0.name: is required',
    ],
    [
      'a name that is no folder’s',
      `bots:\n  - name: ../up\n    token: ${token(1)}\n`,
      'postern.yaml:2:11 bots.0.name: expected at most 63 of a-z, 0-9, _ and -',
    ],
    [
      'the same name twice',
      `bots:\n  - {name: echo, token: ${token(1)}}\n  - {name: echo, token: ${token(2)}}\n`,
      'postern.yaml:3:12 bots.1.name: is the name of another bot (postern.yaml:2:5)',
    ],
    [
      'two tokens of one bot',
      `bots:\n  - {name: a, token: ${token(7)}, clientToken: x}\n  - {name: b, token: bot_7.${'u'.repeat(43)}, clientToken: y}\n`,
      'bots.b: has the token of the same bot as bots.a',
    ],
    [
      'the same client token twice',
      `bots:\n  - {name: a, token: ${token(1)}, clientToken: x}\n  - {name: b, token: ${token(2)}, clientToken: x}\n`,
      'bots.b: has the same token for the local bot as bots.a',
    ],
    [
      'the same folder twice',
      `bots:\n  - {name: a, token: ${token(1)}, dataDir: x}\n  - {name: b, token: ${token(2)}, dataDir: x}\n`,
      'bots.b: has the same dataDir as bots.a',
    ],
    [
      'a token beside the list',
      `bot: {token: ${token(3)}}\nbots:\n  - {name: a, token: ${token(1)}}\n`,
      'postern.yaml:1:14 bot.token: expected in the entry of each bot, since `bots` is set',
    ],
    ['what is no bot', 'bots: [echo]\n', 'postern.yaml:1:8 bots.0: expected the settings of a bot'],
    [
      'bots within a bot',
      'bots:\n  - {name: a, bots: x}\n',
      'bots.a.bots: is the same for all bots',
    ],
  ]
  test.each(refused)('%s', (_what, text, message) => {
    expect(refusalOf(() => loadAll(withFile(text))).message).toContain(message)
  })

  test('no refusal repeats a token', () => {
    for (const [, text] of refused) {
      const { message, hint } = refusalOf(() => loadAll(withFile(text)))
      expect(message + hint).not.toContain('t'.repeat(43))
    }
  })

  test('a token that others can read is refused', () => {
    const cwd = folder()
    const configFlag = file(cwd, 'a.yaml', `bots: [{name: a, token: ${token(1)}}]\n`, 0o644)
    const error = refusalOf(() => loadAll(sources({ cwd, configFlag, env: COMMON })))
    expect(error.message).toContain('the file holds a secret and others can read it')
  })

  test('another address than loopback needs a client token for each', () => {
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

  test('each has the one database, and a schema after its name, or its own', () => {
    const given = withFile(TWO, { env })
    const { bots, secrets } = severalOf(given)
    expect(secrets.storeUrl?.reveal()).toBe(URL_OF_STORE)
    expect(bots.map((bot) => bot.secrets.storeUrl?.reveal())).toEqual([URL_OF_STORE, URL_OF_STORE])
    expect(schemasOf(TWO)).toEqual(['postern_echo', 'postern_news'])
    expect(schemasOf(TWO, { POSTERN_STORE_SCHEMA: 'bots' })).toEqual(['bots_echo', 'bots_news'])
    const own = `${TWO}    store: {schema: news-of-before}\n`
    expect(schemasOf(own)).toEqual(['postern_echo', 'news-of-before'])
  })

  test('a command gets the schema of the bot that it names, also before there is a database', () => {
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
      'a name that PostgreSQL would cut off',
      `bots:\n${bot(long)}`,
      `bots.${long}.store.schema: expected at most 63 bytes, and there are 64, with a bot’s name`,
      'give the bot a store.schema of its own, or a shorter name',
    ],
    [
      'a name that PostgreSQL keeps for itself',
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
  ])('%s is refused', (_what, text, message, hint) => {
    const error = refusalOf(() => loadAll(withFile(text, { env })))
    expect(error.message).toContain(message)
    expect(error.hint).toContain(hint)
  })

  test('in folders, names may be as long as ever', () => {
    expect(severalOf(withFile(`bots:\n${bot(long)}`)).bots.map(({ name }) => name)).toEqual([long])
  })

  test('an authority without a database is refused once, for all of them', () => {
    const cwd = folder()
    const caFile = file(cwd, 'ca.pem', '-----BEGIN CERTIFICATE-----\n')
    const given = { env: { ...COMMON, POSTERN_STORE_CA_FILE: caFile } }
    const { message } = refusalOf(() => loadAll(withFile(TWO, given)))
    expect(message.match(/has no meaning without store.url/g)).toHaveLength(1)
  })

  test('of what changes for the process, the names are known', () => {
    const given = withFile(TWO, { env })
    const before = severalOf(given)
    expect(changedOfProcess(before, severalOf(given))).toEqual([])
    const now = severalOf({ ...given, env: COMMON })
    expect(changedOfProcess(before, now)).toEqual(['store.url'])
  })
})

describe('a folder of bots', () => {
  test('each file is the bot that it is named after', () => {
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

  test('an empty folder is several bots, of which there is none yet', () => {
    expect(severalOf(withFolder({})).bots).toEqual([])
  })

  const refused: [string, Record<string, string>, string][] = [
    [
      'a file that names another bot',
      { 'echo.yaml': `name: news\ntoken: ${token(1)}\n` },
      'bots.d/echo.yaml:1:7 bots.echo.name: expected echo, as the file is named, or nothing',
    ],
    [
      'a wrong setting',
      { 'echo.yaml': `token: ${token(1)}\nlog: {level: info}\n` },
      'bots.d/echo.yaml:2:1 bots.echo.log: is the same for all bots',
    ],
    [
      'an empty file',
      { 'echo.yaml': '' },
      'bots.d/echo.yaml bots.echo.token: is required, or tokenFile',
    ],
    [
      'a token in a group, as where there is one bot',
      { 'echo.yaml': `bot: {token: ${token(1)}}\n` },
      'bots.d/echo.yaml:1:1 bots.echo.bot: expected without this group: token, tokenFile,',
    ],
    ['what is no YAML', { 'echo.yaml': 'a: [\n' }, 'bots.d/echo.yaml:2:1 bots.echo: is not YAML'],
    [
      'a name that is no bot’s',
      { 'Echo.yaml': `token: ${token(1)}\n` },
      'bots.d/Echo.yaml bots: its name: expected at most 63 of a-z',
    ],
    [
      'two files for one bot',
      { 'echo.yaml': `token: ${token(1)}\n`, 'echo.yml': `token: ${token(2)}\n` },
      'bots.d/echo.yml bots: echo has another file there',
    ],
  ]
  test.each(refused)('%s is refused', (_what, files, message) => {
    expect(refusalOf(() => loadAll(withFolder(files))).message).toContain(message)
  })

  test('a folder that is not there is refused', () => {
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

  test('a secret for all bots may come through one, also when settings are read again', () => {
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

  test('none is waited for once bots are served', () => {
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

  test('the settings file itself is not waited for either', () => {
    const given = withFolder({}, { secretReader: new SecretReader() })
    const configFlag = join(given.cwd, 'settings')
    execFileSync('mkfifo', ['-m', '600', configFlag])
    given.secretReader.waitNoMore()
    expect(refusalOf(() => loadSeveral({ ...given, configFlag })).message).toContain(
      'settings: is a pipe, which is read at a start alone',
    )
  })

  test.each(['upstream', 'store'])('none holds the certificates of %s.caFile', (of) => {
    const given = withFolder({ 'echo.yaml': `token: ${token(1)}\n` })
    const caFile = join(given.cwd, 'ca')
    execFileSync('mkfifo', ['-m', '600', caFile])
    const env = { ...given.env, [`POSTERN_${of.toUpperCase()}_CA_FILE`]: caFile }
    expect(refusalOf(() => loadAll({ ...given, env })).message).toContain(
      `${caFile}: is no ordinary file`,
    )
  })

  test('none is taken for the file of a bot', () => {
    const given = withFolder({})
    execFileSync('mkfifo', [join(given.cwd, 'bots.d', 'echo.yaml')])
    expect(refusalOf(() => loadAll(given)).message).toContain(
      'bots.d/echo.yaml bots.echo: is no ordinary file',
    )
  })
})

test('the example of several bots is taken', () => {
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
