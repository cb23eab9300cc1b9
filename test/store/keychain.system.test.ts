import { mkdirSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { beforeEach, describe, expect, test } from 'vitest'
import { Home, whyNoKeychain, type Keychain } from '../support/secret-service.ts'

const DOOR = pathToFileURL(join(import.meta.dirname, '../../src/store/open-store.ts')).href
const ENTRIES = pathToFileURL(join(import.meta.dirname, '../../src/store/keychain.ts')).href

/** What a script in a session prints: the result of its last expression, or the refusal. */
interface Said {
  is?: unknown
  code?: string
  message?: string
  hint?: string
}

let home: Home
let dataDir: string
beforeEach(() => {
  home = new Home()
  dataDir = join(home.path, 'data')
})

/** Runs a script with `open`, `relock` and the keychain's entries in scope. */
async function session(keychain: Keychain, script: string, node: string[] = []): Promise<Said> {
  const source = `import { openStore } from ${JSON.stringify(DOOR)}
    import * as entries from ${JSON.stringify(ENTRIES)}
    const open = (more = {}) => openStore({ dataDir: ${JSON.stringify(dataDir)}, mode: 'create',
      passphrase: null, isRequired: true, isBinding: true, howToMakePassphrase: 'make one', ...more })
    const relock = (locked, { from, to }) => Promise.resolve(locked)
    try {
      const is = await (async () => { ${script} })()
      console.log(JSON.stringify({ is }))
    } catch ({ code, message, hint }) { console.log(JSON.stringify({ code, message, hint })) }
    process.exit(0)`
  const command = [process.execPath, ...node, '--input-type=module', '-e', source]
  const { stdout, stderr } = await home.run(keychain, command)
  const line = stdout.split('\n').find((one) => one.startsWith('{'))
  if (line === undefined) throw new Error(`nothing was said: ${stderr}`)
  return JSON.parse(line) as Said
}

const bytes = (): string =>
  readdirSync(dataDir)
    .map((name) => readFileSync(join(dataDir, name), 'latin1'))
    .join('')

const SECRET = `const store = await open()
  const secret = (await store.secret('replay')).toString('hex')
  const said = { method: store.method, master: store.masterSecret, secret }
  await store[Symbol.asyncDispose]()
  return said`

interface Opened {
  method: string
  master: string
  secret: string
}

describe.skipIf(whyNoKeychain !== null)(
  `a store under the OS keychain (${whyNoKeychain ?? 'real'})`,
  () => {
    test('a new store with `auto` uses the keychain, and no file has the master secret', async () => {
      const first = (await session('unlocked', SECRET)).is as Opened
      expect(first.method).toBe('keychain')
      expect(first.master).toMatch(/^[\w-]{43}$/)
      expect(bytes()).not.toContain(first.master)
      expect(await session('unlocked', SECRET)).toEqual({ is: first })
    })

    test('a new store with a passphrase does not use the keychain', async () => {
      const method = `return (await open({ passphrase: 'words' })).method`
      expect((await session('unlocked', method)).is).toBe('passphrase')
    })

    test('a store moves from a passphrase into the keychain and back', async () => {
      const result = await session(
        'unlocked',
        `const store = await open({ passphrase: 'words' })
       const secret = (await store.secret('replay')).toString('hex')
       await store.move({ method: 'keychain' }, relock)
       const inside = store.method
       await store[Symbol.asyncDispose]()
       const again = await open()
       const same = (await again.secret('replay')).toString('hex') === secret
       await again.move({ method: 'passphrase', passphrase: 'other words' }, relock)
       await again[Symbol.asyncDispose]()
       const last = await open({ passphrase: 'other words' })
       return [inside, same, last.method, (await last.secret('replay')).toString('hex') === secret]`,
      )
      expect(result.is).toEqual(['keychain', true, 'passphrase', true])
    })

    test('a store without its keychain entry is refused as `store-locked` and not replaced', async () => {
      const { master } = (await session('unlocked', SECRET)).is as Opened
      await session(
        'unlocked',
        `const { entryOf } = await import(${JSON.stringify(DOOR.replace('open-store.ts', 'protection.ts'))})
       const { DatabaseSync } = await import('node:sqlite')
       const row = new DatabaseSync(${JSON.stringify(join(dataDir, 'postern.db'))}).prepare('SELECT * FROM protection').get()
       await entries.removeEntry(entryOf(row))`,
      )
      const result = await session('unlocked', SECRET)
      expect(result.code).toBe('store-locked')
      expect(result.message).toContain('has no entry store-')
      expect(JSON.stringify(result)).not.toContain(master)
    })

    const TROUBLES: [Keychain, string, RegExp][] = [
      ['no-bus', 'keychain', /no session D-Bus/],
      ['no-service', 'keychain', /nobody keeps secrets/],
      ['no-collection', 'keychain', /no collection/],
      ['locked', 'store-locked', /is locked/],
    ]

    test.each(TROUBLES)(
      'a new store with the keychain state %s is refused and not made',
      async (keychain, code, words) => {
        // A collection is there to be locked once it was unlocked.
        if (keychain === 'locked') await session('unlocked', `await entries.tryKeychain()`)
        const result = await session(
          keychain,
          `await open({ protection: 'keychain', passphrase: 'words' })`,
        )
        expect(result).toMatchObject({ code, message: expect.stringMatching(words) })
        expect(result.hint).toContain('POSTERN_KEY_PASSPHRASE_FILE')
        expect(readdirSync(home.path)).not.toContain('data')
        const auto = await session(keychain, `await open()`)
        expect(auto).toMatchObject({ code: 'settings', message: expect.stringMatching(words) })
        expect(readdirSync(home.path)).not.toContain('data')
      },
    )

    test.each(TROUBLES)(
      'an existing store with the keychain state %s is refused and left unchanged',
      async (keychain, _code, words) => {
        await session('unlocked', SECRET)
        // The session ends with its keychain; another home has an empty one.
        const before = bytes()
        const elsewhere = keychain === 'no-collection' ? new Home() : home
        const kept = home
        home = elsewhere
        const result = await session(keychain, SECRET)
        home = kept
        expect(result.message).toMatch(words)
        expect(['keychain', 'store-locked']).toContain(result.code)
        expect(bytes()).toBe(before)
      },
    )
  },
)

/** Makes `import('keytar')` end as it does where it is not installed, or its library is not. */
function without(how: 'package' | 'library'): string[] {
  const broken =
    how === 'package'
      ? `throw Object.assign(new Error('no such package'), { code: 'ERR_MODULE_NOT_FOUND' })`
      : `return { url: 'data:text/javascript,process.dlopen({ exports: {} }, "/nowhere/libsecret.node")', shortCircuit: true }`
  const hook = `import { registerHooks } from 'node:module'
    registerHooks({ resolve(name, context, next) { if (name === 'keytar') { ${broken} } return next(name, context) } })`
  return ['--import', `data:text/javascript,${encodeURIComponent(hook)}`]
}

describe('a keytar package that cannot be loaded', () => {
  test.each([
    ['package', /not installed/, '`npm ci`'],
    ['library', /library does not load/, 'apt-get install'],
  ] as const)(
    'a keychain whose keytar %s is missing is refused, and no store is made',
    async (how, words, remedy) => {
      mkdirSync(dataDir, { mode: 0o700 })
      const script = `await open({ protection: 'keychain' })`
      const result = await session('no-bus', script, without(how))
      expect(result).toMatchObject({ code: 'keychain', message: expect.stringMatching(words) })
      expect(result.hint).toContain(remedy)
      expect(readdirSync(dataDir)).toEqual([])
    },
  )
})
