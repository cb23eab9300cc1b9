/** Opening, verifying, restoring and moving a store by the settings. */
import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { keyAccess } from '../../src/config/key-commands.ts'
import { SecretSource } from '../../src/config/secrets.ts'
import { settingsFrom, type Settings } from '../../src/config/settings.ts'
import type { StoreAccess } from '../../src/config/store-access.ts'
import { createEngine } from '../../src/openpgp/index.ts'
import { PostgresServer } from '../../src/replicas/server.ts'
import type { Store } from '../../src/store/store.ts'
import {
  connectDatabase,
  moveStore,
  openStoreFor,
  refuseRestored,
  restoreBackup,
  serverFor,
  verifyBackup,
} from '../../src/wiring/stores.ts'
import { flags, open, put, temporary } from '../store/support.ts'
import { freshSchema, hasPostgres, sharedCluster } from '../support/postgres.ts'

const PASSPHRASE = SecretSource.fromValue('right')
const DATABASE_URL = SecretSource.fromValue('postgres://user:word@127.0.0.1:9/base')

const accessTo = (
  dataDir: string,
  { passphrase, ...o }: Partial<StoreAccess> & { passphrase?: SecretSource } = {},
): StoreAccess =>
  ({
    dataDir,
    storeUrl: null,
    key: keyAccess({ protection: 'auto' }, passphrase),
    engine: 'library',
    store: { schema: 'postern' },
    ...o,
  }) as StoreAccess

/** Makes a key of the bot, locked under the secret of its store. @returns by its fingerprint */
async function makeKey(secret: string): Promise<Record<string, string>> {
  await using engine = createEngine({ threads: 1, engine: 'library' })
  const key = await engine.generate({ userId: 'bot', createdMs: Date.now(), passphrase: secret })
  return { [key.fingerprint]: key.locked }
}

/** Closes the store in a folder, with keys of these secrets in it, or one that opens. */
async function made(
  given: Record<string, string> | typeof makeKey,
  passphrase: string | null = null,
) {
  const dataDir = temporary()
  const protection = passphrase === null ? 'none' : 'passphrase'
  const store = await open(dataDir, { protection, passphrase })
  await put(store, 'kept', 'yes')
  const locked = typeof given === 'function' ? await given(store.masterSecret ?? '') : given
  const own = { certificate: 'c', created_at: 1, offered_at: null, published_at: 2 }
  for (const [fingerprint, secret] of Object.entries(locked)) {
    const state = secret === '' ? 'destroyed' : 'active'
    const row = { ...own, fingerprint, state, retired_at: null, locked: secret } as const
    await store.write((db) => db.insertInto('own_keys').values(row).execute())
  }
  const file = await store.copy()
  await store[Symbol.asyncDispose]()
  return { dataDir, file, fingerprints: Object.keys(locked) }
}

describe('a backup', () => {
  test('is verified without a change, and restored into an empty folder', async () => {
    const { dataDir, file } = await made({ gone: '' }, 'right')
    const access = accessTo(dataDir, { passphrase: PASSPHRASE })
    const report = await verifyBackup(file, access)
    expect(report).toMatchObject({
      method: 'passphrase',
      counts: { flags: 2, own_keys: 1 },
      keys: [{ fingerprint: 'gone', state: 'destroyed' }],
    })
    expect(Object.keys(report).toSorted()).toEqual(
      ['bytes', 'counts', 'keys', 'method', 'takenAt', 'version'].toSorted(),
    )
    await expect(verifyBackup(file, accessTo(dataDir))).rejects.toMatchObject({
      code: expect.stringMatching(/^store-(locked|passphrase)$/) as unknown,
    })
    await expect(restoreBackup(file, access)).rejects.toMatchObject({ code: 'refused' })
    const empty = join(temporary(), 'new')
    expect(await restoreBackup(file, { ...access, dataDir: empty })).toEqual(report)
    const store = await open(empty, { passphrase: 'right', mode: 'existing' })
    expect((await flags(store))['kept']).toBe('yes')
    await expect(refuseRestored(store, empty)).rejects.toMatchObject({ code: 'store-restored' })
  })

  test('with a key that opens is sound, unless another key has its name', async () => {
    const { file, dataDir, fingerprints } = await made(makeKey, 'right')
    const [fingerprint = ''] = fingerprints
    const report = await verifyBackup(file, accessTo(dataDir, { passphrase: PASSPHRASE }))
    expect(report.keys).toEqual([{ fingerprint, state: 'active' }])
    const renamed = async (secret: string) => ({
      other: Object.values(await makeKey(secret))[0] ?? '',
    })
    const swapped = await made(renamed, 'right')
    await expect(
      verifyBackup(swapped.file, accessTo(dataDir, { passphrase: PASSPHRASE })),
    ).rejects.toMatchObject({ code: 'failed' })
  })

  test('with a key that does not open is not sound, and is not restored', async () => {
    const { file } = await made({ wrong: 'no key' })
    const empty = join(temporary(), 'new')
    for (const tried of [verifyBackup, restoreBackup]) {
      await expect(tried(file, accessTo(empty))).rejects.toMatchObject({
        code: 'failed',
        message: expect.stringContaining('the key wrong in it does not open') as unknown,
      })
    }
    expect(existsSync(empty)).toBe(false)
  })

  test('is restored into no database', async () => {
    const { file, dataDir } = await made({})
    await expect(
      restoreBackup(file, accessTo(dataDir, { storeUrl: DATABASE_URL })),
    ).rejects.toMatchObject({
      code: 'refused',
      message: 'a backup is restored into a data directory, and store.url names a database',
      hint: 'restore it without store.url, and bring it into the database with `postern store move`',
    })
  })
})

describe('a store that moves', () => {
  test('is in its new folder with all rows', async () => {
    const { dataDir } = await made({ gone: '' }, 'right')
    const to = join(temporary(), 'new')
    const report = await moveStore(to, accessTo(dataDir, { passphrase: PASSPHRASE }))
    expect(report).toMatchObject({ keys: 0, rows: { own_keys: 1 } })
    expect([report.from, report.to]).toEqual([
      expect.stringContaining(dataDir),
      expect.stringContaining(to),
    ])
    const store = await open(to, { passphrase: 'right', mode: 'existing' })
    expect((await flags(store))['kept']).toBe('yes')
    await store[Symbol.asyncDispose]()
    await expect(open(dataDir, { passphrase: 'right', mode: 'existing' })).rejects.toMatchObject({
      code: 'store-moved',
    })
  })

  test.skipIf(!hasPostgres())(
    'goes into a database and comes back, with the key in it',
    async () => {
      const { dataDir } = await made(makeKey, 'right')
      const { url } = await sharedCluster()
      const schema = freshSchema()
      const databaseUrl = SecretSource.fromValue(url)
      const store = { schema } as StoreAccess['store']
      const access = accessTo(dataDir, { passphrase: PASSPHRASE, store })
      const remembered = join(dataDir, 'database.json')
      writeFileSync(remembered, '{}')
      const there = await moveStore(databaseUrl, access)
      expect(there).toMatchObject({ keys: 1, rows: { own_keys: 1 }, from: expect.any(String) })
      expect(existsSync(remembered)).toBe(false)
      await expect(moveStore(databaseUrl, access)).rejects.toMatchObject({ code: 'store-moved' })
      const to = join(temporary(), 'back')
      const back = await moveStore(to, { ...access, storeUrl: databaseUrl })
      expect([back.from, back.rows]).toEqual([there.to, there.rows])
      const opened = await open(to, { passphrase: 'right', mode: 'existing' })
      expect((await flags(opened))['kept']).toBe('yes')
    },
  )

  test('stays where it was when a key of it does not open', async () => {
    const { dataDir } = await made({ wrong: 'no key' }, 'right')
    const access = accessTo(dataDir, { passphrase: PASSPHRASE })
    await expect(moveStore(join(temporary(), 'new'), access)).rejects.toMatchObject({
      code: 'store-corrupt',
      message: 'the secret key wrong does not open where it was moved to',
      hint: 'nothing was given up: the store is where it was, and still opens there',
    })
    expect((await open(dataDir, { passphrase: 'right', mode: 'existing' })).method).toBe(
      'passphrase',
    )
  })
})

describe('the database of a store', () => {
  const settings = settingsFrom({ upstream: { url: 'http://x' }, dataDir: '/no/such/folder' })
  const secrets = { botToken: PASSPHRASE, clientToken: null, passphrase: null }

  test('is none for a store in a folder, or one that is handed in', async () => {
    await using stack = new AsyncDisposableStack()
    expect(await serverFor({ settings, secrets }, stack)).toBeNull()
    const withUrl = { ...secrets, storeUrl: DATABASE_URL }
    const store = {} as Store
    expect(await serverFor({ settings, secrets: withUrl, parts: { store } }, stack)).toBeNull()
    const parts = { database: null }
    expect(await serverFor({ settings, secrets: withUrl, parts }, stack)).toBeNull()
  })

  test('is the one handed in, or that of the settings, which ends with the sidecar', async () => {
    const end = vi.spyOn(PostgresServer.prototype, Symbol.asyncDispose)
    onTestFinished(() => end.mockRestore())
    const stack = new AsyncDisposableStack()
    const database = await connectDatabase(DATABASE_URL, {})
    const withUrl = { ...secrets, storeUrl: DATABASE_URL }
    const handedIn = await serverFor({ settings, secrets: withUrl, parts: { database } }, stack)
    expect(handedIn).toBe(database)
    const own = await serverFor({ settings, secrets: withUrl }, stack)
    expect([own instanceof PostgresServer, own === database]).toEqual([true, false])
    await stack.disposeAsync()
    expect(end.mock.contexts).toEqual([own])
    await database[Symbol.asyncDispose]()
  })
})

describe('a store by its purpose', () => {
  const opened = async (
    dataDir: string,
    o: { purpose: 'run' | 'begin' | 'look'; mayCreateStore?: boolean; botId?: number },
    more: { key?: Partial<Settings['key']>; passphrase?: SecretSource } = {},
  ) => {
    const { purpose, mayCreateStore = true, botId = null } = o
    const key = { protection: 'none' as const, ...more.key }
    const store = await openStoreFor(
      { purpose, mayCreateStore },
      {
        settings: settingsFrom({ upstream: { url: 'http://x' }, dataDir, key }),
        secrets: {
          botToken: PASSPHRASE,
          clientToken: null,
          passphrase: more.passphrase ?? null,
        },
        database: undefined,
        botId,
      },
    )
    const { method } = store
    await store[Symbol.asyncDispose]()
    return method
  }

  test('is made to run or begin, unless there was one, and not to look', async () => {
    const missing = { code: 'store-missing' }
    await expect(opened(temporary(), { purpose: 'look' })).rejects.toMatchObject(missing)
    for (const purpose of ['run', 'begin'] as const) {
      expect(await opened(temporary(), { purpose })).toBe('none')
    }
    const { dataDir } = await made({})
    expect(await opened(dataDir, { purpose: 'look' })).toBe('none')
    const store = await open(dataDir, { mode: 'existing' })
    expect(await refuseRestored(store, dataDir)).toBeUndefined()
  })

  test('is protected as the settings say', async () => {
    const protectedBy = { key: { protection: 'passphrase' }, passphrase: PASSPHRASE } as const
    expect(await opened(temporary(), { purpose: 'begin' }, protectedBy)).toBe('passphrase')
    const keyless = { key: { protection: 'auto', publish: false } } as const
    expect(await opened(temporary(), { purpose: 'run' }, keyless)).toBeNull()
  })

  test('must have the protection of the settings to run, and not to look', async () => {
    const { dataDir } = await made({})
    const other = { key: { protection: 'passphrase' }, passphrase: PASSPHRASE } as const
    expect(await opened(dataDir, { purpose: 'look' }, other)).toBe('none')
    const run = opened(dataDir, { purpose: 'run' }, other)
    await expect(run).rejects.toMatchObject({ code: 'protection' })
  })

  test('belongs to the bot that ran on it first', async () => {
    const { dataDir } = await made({})
    expect(await opened(dataDir, { purpose: 'look', botId: 7 })).toBe('none')
    expect(await opened(dataDir, { purpose: 'run', botId: 8 })).toBe('none')
    const others = opened(dataDir, { purpose: 'run', botId: 9 })
    await expect(others).rejects.toMatchObject({ code: 'store-other-bot' })
  })
})
