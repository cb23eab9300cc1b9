import { readdirSync, readFileSync } from 'node:fs'
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
async function session(keychain: Keychain, script: string): Promise<Said> {
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
  const command = [process.execPath, '--input-type=module', '-e', source]
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
