import { readFileSync, globSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { describe, expect, it } from 'vitest'

/** Files that everybody may import. */
const SHARED = ['errors', 'refusals', 'operator-refusals', 'logger', 'printable']
/** A folder that everybody may import: it knows nothing of what it is used for. */
const UTILITIES = 'util/'

/** What each folder may import, and why nothing else. `node:` modules are free but for two below. */
const RULES: Record<string, { may: string[]; packages: string[]; why: string }> = {
  util: {
    may: [],
    packages: ['lru-cache', 'undici', 'zod'],
    why: 'it is of no domain, and everybody stands on it',
  },
  api: { may: [], packages: ['zod'], why: 'sidecar and sandbox both stand on it' },
  openpgp: { may: [], packages: ['openpgp'], why: 'it must be readable and testable alone' },
  config: { may: ['api'], packages: ['zod', 'yaml', 'leven'], why: 'it returns values' },
  store: {
    may: ['kernel/index', 'clients/records', 'api'],
    packages: ['kysely', 'keytar', 'lru-cache', 'pg', 'zod'],
    why: 'it keeps bytes',
  },
  kernel: {
    may: ['api', 'openpgp/index'],
    packages: [],
    why: 'it decides, and does not act; below, more of it',
  },
  agent: {
    may: ['openpgp/index', 'keys', 'kernel/index', 'store'],
    packages: ['pkcs11js', 'zod'],
    why: 'it has keys and a socket, and knows neither chats nor the service',
  },
  clients: {
    may: ['api', 'kernel/index'],
    packages: [],
    why: 'it decides which calls a caller may make, and the kernel what words may leave',
  },
  keys: {
    may: ['api', 'openpgp/index', 'kernel/index', 'store'],
    packages: ['kysely'],
    why: 'it is handed the calls to the service',
  },
  service: {
    may: ['api', 'clients/may-client', 'config/version', 'kernel/index', 'openpgp/index'],
    packages: ['lru-cache', 'undici', 'zod'],
    why: 'it never sees readable text of a protected chat: it knows permits, and not who issues them',
  },
  translate: {
    may: [
      'api',
      'clients/may-client',
      'openpgp/index',
      'keys',
      'kernel/index',
      'service/lookups',
      'attachments/media-urls',
      'store/outcomes',
    ],
    packages: ['lru-cache'],
    why: 'values in, values out',
  },
  outbox: {
    may: ['api', 'clients', 'kernel/index', 'store', 'translate', 'service'],
    packages: ['kysely'],
    why: 'it says when a call is made, and not whether it may be',
  },
  updates: {
    may: ['api', 'clients', 'translate', 'store', 'service', 'kernel/index'],
    packages: ['undici'],
    why: 'it moves updates, and neither opens them nor answers the bot',
  },
  attachments: {
    may: ['api', 'kernel/index', 'openpgp/index'],
    packages: ['lru-cache', 'magic-bytes.js'],
    why: 'it opens files as the kernel decides, and keeps them',
  },
  observe: {
    may: ['api', 'config/settings', 'kernel/index'],
    packages: ['@prometheus-io/client', 'undici'],
    why: 'others call it',
  },
  http: {
    may: [
      'api',
      'attachments',
      'clients',
      'translate',
      'updates',
      'service',
      'observe',
      'kernel/index',
      'outbox',
    ],
    packages: ['fastify', 'range-parser', 'zod'],
    why: 'a route does no OpenPGP and touches no disk',
  },
  operators: {
    may: [
      'api',
      'clients',
      'config',
      'keys',
      'kernel/index',
      'service/lookups',
      'observe',
      'openpgp/index',
      'outbox',
      'store',
      'translate/chat-preview',
    ],
    packages: ['fastify', 'qrcode', 'zod'],
    why: 'an operator’s word takes no way through the bot’s door',
  },
  sandbox: {
    may: ['api'],
    packages: ['fastify', 'range-parser', 'zod'],
    why: 'a shared bug must not agree with itself, and the service cannot read protected chats',
  },
  testing: {
    may: ['config', 'context', 'observe/health'],
    packages: ['zod'],
    why: 'it starts a sidecar as `run` does, and knows nothing of its inside',
  },
  cli: {
    may: [
      'agent',
      'context',
      'config',
      'operators',
      'sandbox',
      'testing',
      'api',
      'translate/reasons',
      'translate/verdict-descriptions',
      'store/files',
    ],
    packages: ['@clack/prompts', 'commander', 'fast-string-width', 'fast-wrap-ansi', 'yaml', 'zod'],
    why: 'commands are thin',
  },
}

/** Only the phones of the sandbox may open and seal. */
const PHONES = /^src\/sandbox\/phone\//

interface Import {
  file: string
  target: string
  isPackage: boolean
}

const files = globSync('src/**/*.ts', { exclude: ['src/sandbox/page/browser/**'] })
/** What a browser loads, as it is. */
const pageFiles = globSync('src/sandbox/page/browser/*.js')

function importsOf(file: string): Import[] {
  const text = readFileSync(file, 'utf8')
  const found = text.matchAll(/^(?:import|export)\b[^'=]*?\bfrom '([^']+)'|\bimport\('([^']+)'\)/gm)
  return [...found].flatMap(([, fixed, dynamic]): Import[] => {
    const specifier = fixed ?? dynamic ?? ''
    if (specifier === '' || specifier.startsWith('node:') || specifier.endsWith('.json')) return []
    if (!specifier.startsWith('.')) return [{ file, target: specifier, isPackage: true }]
    const path = normalize(join(dirname(file), specifier)).replace(/^src\/|\.ts$/g, '')
    return [{ file, target: path, isPackage: false }]
  })
}

function isAllowed({ file, target, isPackage }: Import, folder: string): boolean {
  const rule = RULES[folder]
  if (rule === undefined) return true
  if (isPackage) {
    return isPackageOf(rule.packages, target) || (target === 'openpgp' && PHONES.test(file))
  }
  const own = target.startsWith(`${folder}/`)
  const phone = PHONES.test(file) && /^openpgp\/(?:index|key-forms)$/.test(target)
  return (
    own ||
    phone ||
    SHARED.includes(target) ||
    target.startsWith(UTILITIES) ||
    rule.may.some((allowed) => target === allowed || target.startsWith(`${allowed}/`))
  )
}

/** A package or a part of it. */
const isPackageOf = (packages: string[], target: string): boolean =>
  packages.some((name) => target === name || target.startsWith(`${name}/`))

describe('the direction of imports', () => {
  it.each(Object.entries(RULES))('files of src/%s import allowed folders alone', (folder) => {
    const breaches = files
      .filter((file) => file.startsWith(`src/${folder}/`))
      .flatMap(importsOf)
      .filter((one) => !isAllowed(one, folder))
      .map(({ file, target }) => `${file} imports ${target}`)
    expect(breaches).toEqual([])
  })

  it('a folder imports what is above it in the table of src/README.md alone', () => {
    const [table = ''] = /\| folder \|[^]*?\n\n/.exec(readFileSync('src/README.md', 'utf8')) ?? []
    const floors = table
      .split('\n')
      .map((row) =>
        [...(row.split('|')[1] ?? '').matchAll(/`([\w-]+)(?:\.ts)?`/g)].map(([, name]) => name),
      )
    const floorOf = (path: string): number =>
      floors.findIndex((names) => names.includes(path.replace(/^src\/|(?:\/.*|\.ts)$/g, '')))
    expect(globSync('src/*', { exclude: ['**/*.md'] }).filter((path) => floorOf(path) < 0)).toEqual(
      [],
    )
    const upward = files
      .flatMap(importsOf)
      .filter(({ target, isPackage }) => !isPackage && !target.startsWith('..'))
      .filter(({ file, target }) => floorOf(target) > floorOf(file) || floorOf(target) < 0)
    expect(upward.map(({ file, target }) => `${file} imports ${target}`)).toEqual([])
  })

  it('store/postgres alone knows the driver of PostgreSQL, and is opened by store/open-store', () => {
    const rest = files.filter((file) => !file.startsWith('src/store/postgres/')).flatMap(importsOf)
    expect(rest.filter(({ target }) => target === 'pg')).toEqual([])
    const opening = rest.filter(({ target }) => target === 'store/postgres/open')
    expect(new Set(opening.map(({ file }) => file))).toEqual(new Set(['src/store/open-store.ts']))
  })

  it('lookups of the service call nothing themselves, and know OpenPGP, which its calls do not', () => {
    const targetsIn = (folder: RegExp): string[] =>
      files
        .filter((file) => folder.test(file))
        .flatMap(importsOf)
        .map(({ target }) => target)
    const lookups = targetsIn(/^src\/service\/lookups\//)
    expect(lookups.filter((one) => /^(?:service\/(?!lookups\/)|undici$)/.test(one))).toEqual([])
    const calls = targetsIn(/^src\/service\/(?!lookups\/)/)
    expect(calls.filter((one) => /^(?:service\/lookups|openpgp)\//.test(one))).toEqual([])
    expect(lookups.length).toBeGreaterThan(3)
  })

  it('the persistence of the sandbox loads SQLite only for a world in a file', () => {
    const others = files
      .filter((file) => /^src\/sandbox\/(?!persistence\/)/.test(file))
      .flatMap(importsOf)
      .filter(({ target }) => target === 'sandbox/persistence/file')
    expect(others.map(({ file }) => file)).toEqual(['src/sandbox/world.ts'])
  })

  it('the page imports its own files alone, and calls its own listener alone', () => {
    const texts = pageFiles.map((file) => readFileSync(file, 'utf8'))
    const imported = texts.flatMap((text) =>
      [...text.matchAll(/^import (?:[^'\n]*|\{[^'}]*\} from )'([^']+)'/gm)].map(
        ([, name = '']) => name,
      ),
    )
    expect(imported.filter((name) => !/^\.\/(?:lib\/)?[a-z-]+\.js$/.test(name))).toEqual([])
    const calling = pageFiles.filter((_, index) =>
      /\b(?:fetch|EventSource|WebSocket|XMLHttpRequest|sendBeacon)\(/.test(texts[index] ?? ''),
    )
    expect(calling).toEqual(['src/sandbox/page/browser/api.js'])
    const markup = /dangerouslySetInnerHTML|innerHTML|outerHTML|insertAdjacentHTML|\beval\(/
    expect(texts.filter((text) => markup.test(text))).toEqual([])
  })

  it('other folders import openpgp/index.ts alone, but for the forms of a phone’s key', () => {
    const beside = files
      .filter((file) => !file.startsWith('src/openpgp/'))
      .flatMap(importsOf)
      .filter(({ target }) => /^openpgp\/(?!index$)/.test(target))
    expect(beside.map(({ file, target }) => `${file} imports ${target}`)).toEqual([
      'src/sandbox/phone/make-key.ts imports openpgp/key-forms',
    ])
  })

  it('openpgp.js is imported by src/openpgp and by two files of the sandbox’s phones', () => {
    const others = files.filter((file) => !file.startsWith('src/openpgp/')).flatMap(importsOf)
    expect(others.filter(({ target }) => target === 'openpgp').map(({ file }) => file)).toEqual([
      'src/sandbox/phone/library-keys.ts',
      'src/sandbox/phone/seal-file.ts',
    ])
  })
})

/** Files that are loaded with one, by what they import for more than its types. */
function loadedWith(file: string, seen = new Set<string>()): Set<string> {
  if (seen.has(file) || !file.endsWith('.ts')) return seen
  seen.add(file)
  const text = readFileSync(file, 'utf8')
  for (const [, specifier = ''] of text.matchAll(
    /^(?:import|export)\b(?! type)(?:[^'=(]*\bfrom)?\s*'([^']+)'/gm,
  )) {
    if (specifier.startsWith('.')) loadedWith(normalize(join(dirname(file), specifier)), seen)
    else seen.add(specifier)
  }
  return seen
}

describe('what is loaded where', () => {
  it('main.ts loads neither settings nor kernel before it knows the command', () => {
    const loaded = [...loadedWith('src/main.ts')]
    expect(loaded).toContain('commander')
    expect(loaded.filter((one) => /^zod$|^src\/(?:config\/settings|kernel)/.test(one))).toEqual([])
  })

  it('openpgp.js is loaded in threads of its own, never in the process that answers', () => {
    expect([...loadedWith('src/main.ts')]).not.toContain('openpgp')
    expect([...loadedWith('src/openpgp/library/worker.ts')]).toContain('openpgp')
  })

  it('the package `qrcode` is loaded with the first QR code', () => {
    for (const name of ['main', 'cli/trust', 'operators/operations', 'context']) {
      expect([...loadedWith(`src/${name}.ts`)], name).not.toContain('qrcode')
    }
    expect([...loadedWith('src/cli/trust.ts')]).toContain('src/operators/trust/show-number.ts')
  })

  it('native code of openpgp is loaded by an engine alone', () => {
    for (const entry of ['src/main.ts', 'src/openpgp/index.ts', 'src/openpgp/library/worker.ts']) {
      const native = [...loadedWith(entry)].filter((file) =>
        /openpgp\/(native|crypto)\//.test(file),
      )
      expect(native).toEqual([])
    }
  })
})

/** Code without its comments. */
const codeOf = (file: string): string =>
  readFileSync(file, 'utf8').replaceAll(/\/\*[\s\S]*?\*\/|(?<=^|\s)\/\/ [^\n]*/g, '')

describe('the wall of the kernel', () => {
  const kernel = files.filter((file) => file.startsWith('src/kernel/'))
  const others = files.filter((file) => !file.startsWith('src/kernel/'))

  it('other folders import kernel/index.ts, and no other file of the kernel', () => {
    const behind = others
      .flatMap(importsOf)
      .filter(({ target }) => /^kernel\/(?!index$)/.test(target))
      .map(({ file, target }) => `${file} imports ${target}`)
    expect(behind).toEqual([])
  })

  it('the kernel imports openpgp, errors, two files of util, and types of the contract alone', () => {
    const outside = kernel.flatMap((file) =>
      [...codeOf(file).matchAll(/^(?:import|export) (type )?[^']*? from '([^']+)'/gm)].flatMap(
        ([, type, specifier = '']) => {
          const target = normalize(join(dirname(file), specifier))
          const isOwn = specifier.startsWith('.') && target.startsWith('src/kernel/')
          return isOwn ? [] : [`${type ?? ''}${specifier.startsWith('.') ? target : specifier}`]
        },
      ),
    )
    const allowed = [
      'src/openpgp/index.ts',
      'type src/openpgp/index.ts',
      'src/errors.ts',
      'type src/errors.ts',
      // a few lines each that import nothing
      'src/util/bounded-map.ts',
      'src/util/listeners.ts',
      // digests and MACs
      'node:crypto',
    ]
    const forbidden = outside.filter((one) => !allowed.includes(one))
    expect(forbidden.filter((one) => !/^type src\/api\/[a-z-]+\.ts$/.test(one))).toEqual([])
    expect(outside.length).toBeGreaterThan(20)
  })

  it('the kernel and keys/life read no clock, set no timer and use no random numbers', () => {
    const acts =
      /\b(?:Date\.now|new Date\(\)|performance\.|setTimeout|setInterval|setImmediate|queueMicrotask|Math\.random|random\w+|process\.|fetch\(|import\()/
    const life = files.filter((file) => file.startsWith('src/keys/life/'))
    expect(life.length).toBeGreaterThan(4)
    expect([...kernel, ...life].filter((file) => acts.test(codeOf(file)))).toEqual([])
    const crypto = kernel.flatMap((file) =>
      [...codeOf(file).matchAll(/import \{([^}]*)\} from 'node:crypto'/g)].map(([, names]) =>
        names?.trim(),
      ),
    )
    expect(crypto.filter((names) => !/^(?:hash|createHash|createHmac)$/.test(names ?? ''))).toEqual(
      [],
    )
  })

  it('the content of an answer of the service is read by `Sightings` alone', () => {
    const reading = kernel.filter((file) => /\bcontentOf\(/.test(codeOf(file)))
    expect(reading).toEqual(['src/kernel/sightings.ts'])
    expect(readFileSync('src/kernel/index.ts', 'utf8')).not.toContain('contentOf')
  })

  it('five files alone read answers of the service without recording a chat', () => {
    const reading = others.filter((file) => /\bunobserved\(/.test(codeOf(file)))
    expect(reading.toSorted()).toEqual([
      'src/http/routes/webhook.ts',
      'src/translate/bot-view.ts',
      'src/translate/messages.ts',
      'src/updates/webhook.ts',
      'src/wiring/link.ts',
    ])
  })

  it('memory of chats and people is written by `Sightings` and `PeopleObserver` alone', () => {
    const by = (pattern: RegExp): string[] =>
      files.filter((file) => pattern.test(codeOf(file))).toSorted()
    expect(by(/\bknownChats\.saw(?:Notices)?\(|#knownChats\.saw/)).toEqual([
      // the first list of a private chat names its person
      'src/kernel/people/recipients.ts',
      'src/kernel/sightings.ts',
    ])
    expect(by(/\btrust\.saw\(|\bknownKeys\.saw\(|\bkeyListHistory\.saw\(/)).toEqual([
      'src/kernel/people/observe.ts',
    ])
  })
})

const SECRET = '\\w*(?:token|secret|passphrase|cookie|presented|expected|mac)(?:\\(\\))?'
/** Comparisons of what one owner has twice: nobody who guesses sees how long they take. */
const OF_ONE_OWNER = [
  'src/http/bot-tokens.ts: const isOther = [...this.#bots.values()].some((one) => one.token.expected() !== one.indexed)',
  'src/http/bot-tokens.ts: if (expected !== one.indexed) one.hash = this.#hash(expected)',
  'src/keys/keyring.ts: if (this.#memory.masterSecret !== passphrase) return null',
  "src/store/keychain.ts: if (kept !== secret) throw keychainRefusal('forgetful')",
  'src/updates/registration.ts: const isSame = before.url === now.url && before.secret === now.secret',
]
const NOTHING = "(?!\\s*(?:null|undefined|'|-?\\d))"
const COMPARISONS = [
  `\\b${SECRET}\\s*[!=]={1,2}(?!=)${NOTHING}`,
  `[!=]={1,2}(?!=)\\s*(?:\\w+\\??\\.)*#?${SECRET}\\b(?!\\.length)`,
  `\\b${SECRET}\\.(?:equals|compare|startsWith|endsWith|localeCompare)\\((?!')`,
  `\\.(?:equals|compare|startsWith|endsWith|localeCompare|includes)\\((?:[^()']*[^\\w'])?${SECRET}\\b`,
].map((pattern) => new RegExp(pattern, 'i'))
const comparesSecret = (line: string): boolean =>
  !/^\s*(?:\*|\/[/*])/.test(line) &&
  !line.includes('typeof') &&
  COMPARISONS.some((pattern) => pattern.test(line))

describe('what only one place does', () => {
  const holding = (pattern: RegExp): string[] =>
    files.filter((file) => pattern.test(readFileSync(file, 'utf8')))

  it('config/sources.ts alone reads environment variables', () => {
    expect(holding(/process\.env\b/)).toEqual(['src/config/sources.ts'])
  })

  it('cli/terminal.ts alone writes to stdout and stderr', () => {
    expect(holding(/process\.std(out|err)\.write|console\./)).toEqual(['src/cli/terminal.ts'])
  })

  it('main.ts alone handles signals and sets the exit code', () => {
    expect(holding(/process\.(exit|exitCode|on|once)\b/)).toEqual(['src/main.ts'])
  })

  it('wiring adds listeners in subscriptions.ts alone', () => {
    const built = files.filter((file) => /^src\/(?:context\.ts|wiring\/[^/]+$)/.test(file))
    const adds = holding(/\.on(?!Conflict)[A-Z]\w*\(/)
    expect(built.filter((file) => adds.includes(file))).toEqual(['src/wiring/subscriptions.ts'])
  })

  it('`postern dev`, which `postern demo` runs, alone observes exchanges of bot and sidecar', () => {
    const watching = holding(/\bonBotExchange:/).filter((file) => !file.startsWith('src/cli/dev'))
    expect(watching).toEqual([])
    expect(
      holding(/\bonBotExchange\b/).filter((file) => /^src\/(config|cli\/run)/.test(file)),
    ).toEqual([])
  })

  it('the guard alone constructs a permit or a rule of a chat', () => {
    expect(holding(/new Permit\(|new ChatRule\(/)).toEqual(['src/kernel/wall/guard.ts'])
    const guard = readFileSync('src/kernel/wall/guard.ts', 'utf8')
    expect(guard).not.toMatch(/export (?:abstract )?class (?:Permit|ChatRule)\b/)
    expect(guard).not.toMatch(/export (?:const|function) \w+[^\n]*new Permit\(/)
  })

  it('the kernel alone constructs a clearance, and the outbox alone requests an approval', () => {
    expect(holding(/new ApprovalClearance\(/)).toEqual(['src/kernel/wall/approvals.ts'])
    expect(readFileSync('src/kernel/wall/approvals.ts', 'utf8')).not.toMatch(
      /export class \w*Clear/,
    )
    expect(holding(/\.clearRequest\(/)).toEqual(['src/outbox/give.ts'])
    expect(holding(/\bmessages\.deliver\(/).toSorted()).toEqual([
      'src/http/routes/messages.ts',
      'src/outbox/give.ts',
    ])
  })

  it('the sidecar reads no verdict from the JSON that it writes', () => {
    const reading =
      /\w\.postern\b(?! =)|(?<!delete value)\['postern'\](?! =)|'postern' in (?!value\) )/
    const outside = /^src\/(?:cli|sandbox)\//
    expect(holding(reading).filter((file) => !outside.test(file))).toEqual([])
  })

  it('no parameter of a permission has a default value', () => {
    const byDefault =
      /\?\? \(\(\) => true\)|= \(\)(?:: boolean)? => true[,)]|mayLeave\?:|\brequire\?:/
    expect(holding(byDefault).filter((file) => !file.startsWith('src/sandbox/'))).toEqual([])
  })

  it('nine files compare secrets, in constant time', () => {
    expect(holding(/\btimingSafeEqual\(/).toSorted()).toEqual([
      'src/attachments/capability.ts',
      'src/http/auth.ts',
      'src/openpgp/crypto/seipd-stream.ts',
      'src/openpgp/crypto/seipd.ts',
      'src/openpgp/library/composite.ts',
      'src/openpgp/library/containers.ts',
      'src/openpgp/native/own-secrets.ts',
      'src/sandbox/http/control-token.ts',
      'src/store/row-seal.ts',
    ])
    const compared = files.flatMap((file) =>
      readFileSync(file, 'utf8')
        .split('\n')
        .filter(comparesSecret)
        .map((line) => `${file}: ${line.trim()}`),
    )
    expect(compared.toSorted()).toEqual(OF_ONE_OWNER)
  })

  it.each([
    'if (presented !== expected) throw unauthorized()',
    'return token === bot.token',
    'const isRight = settings.clientToken == given',
    'return mac.equals(presented)',
    'return Buffer.compare(cookie, own) === 0',
    'return expected.startsWith(presented)',
    'return passphrases.includes(passphrase)',
  ])('the search for comparisons of secrets finds one that is not constant in time: %s', (line) => {
    expect(comparesSecret(line)).toBe(true)
  })

  it.each([
    'if (presented === null || token === undefined) return null',
    "if (typeof bot?.token === 'string') return",
    "if (passphrase === '') throw missing()",
    'timingSafeEqual(presented, this.#mac(place))',
  ])('the search for comparisons of secrets passes over other code: %s', (line) => {
    expect(comparesSecret(line)).toBe(false)
  })

  it('each exception from a rule of the linter gives its reason', () => {
    const all = globSync('{src,test,bin,config}/**/*.{ts,js,cjs}')
    const directives = all.flatMap((file) =>
      (readFileSync(file, 'utf8').match(/^.*\/[/*] (?:oxlint|eslint)-disable.*$/gm) ?? []).map(
        (line) => `${file}: ${line.trim()}`,
      ),
    )
    expect(directives.length).toBeGreaterThan(20)
    expect(directives.filter((line) => !/ -- \S/.test(line))).toEqual([])
  })

  it('tests start programs through programs.ts alone', () => {
    const importing = globSync('test/**/*.ts').filter((file) =>
      /^import (?!type )[^'\n]*'(?:node:)?child_process'$/m.test(readFileSync(file, 'utf8')),
    )
    expect(importing.toSorted()).toEqual(['test/support/programs.ts', 'test/support/runner.ts'])
  })

  it('random values of tests follow from one seed', () => {
    const tests = globSync('test/**/*.ts')
    const by = (pattern: RegExp): string[] =>
      tests.filter((file) => pattern.test(readFileSync(file, 'utf8')))
    expect(by(/'fast-check'$/m)).toEqual(['test/support/property.ts'])
    expect(by(/Math\.random\b/)).toEqual([])
    expect(by(/FUZZ_(?:SEED|RUNS)\b(?!=)/)).toEqual(['test/support/chance.ts'])
  })

  it('the source has no TODO, FIXME or suppressed type error', () => {
    expect(holding(/TODO|FIXME|@ts-ignore|@ts-expect-error/)).toEqual([])
  })
})
