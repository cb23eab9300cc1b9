/** Opening, verifying, restoring and moving a store by the settings, inside this process. */
import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { keyAccess } from '../../src/config/key-commands.ts'
import { SecretSource } from '../../src/config/secrets.ts'
import { settingsFrom, type Settings } from '../../src/config/settings.ts'
import type { StoreAccess } from '../../src/config/store-access.ts'
import { createEngine } from '../../src/openpgp/index.ts'
import { PostgresServer } from '../../src/store/postgres/server.ts'
import type { Store } from '../../src/store/store.ts'
import {
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
  test('a backup is verified without a change, and restored only into an empty folder', async () => {
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

  test('`verifyBackup` refuses a backup with a key under the fingerprint of another key', async () => {
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

  test('`verifyBackup` and `restoreBackup` refuse a backup with a key that does not open', async () => {
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

  test('`restoreBackup` refuses a store in a database', async () => {
    const { file, dataDir } = await made({})
    await expect(
      restoreBackup(file, accessTo(dataDir, { storeUrl: DATABASE_URL })),
    ).rejects.toMatchObject({ code: 'refused' })
  })
})

describe('`moveStore`', () => {
  test.skipIf(!hasPostgres())('a store with a key moves into a database and back', async () => {
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
  })

  test('a store with a key that does not open stays in its folder', async () => {
    const { dataDir } = await made({ wrong: 'no key' }, 'right')
    const access = accessTo(dataDir, { passphrase: PASSPHRASE })
    await expect(moveStore(join(temporary(), 'new'), access)).rejects.toMatchObject({
      code: 'store-corrupt',
    })
    expect((await open(dataDir, { passphrase: 'right', mode: 'existing' })).method).toBe(
      'passphrase',
    )
  })
})

describe('`openStoreFor`', () => {
  const UNDER_PASSPHRASE = { protection: 'passphrase' } as const
  /** @returns how the store is protected */
  const opened = async (
    dataDir: string,
    purpose: 'run' | 'begin' | 'look',
    o: { key?: Partial<Settings['key']>; botId?: number } = {},
  ) => {
    const key = { protection: 'none' as const, ...o.key }
    const passphrase = o.key === UNDER_PASSPHRASE ? PASSPHRASE : null
    await using store = await openStoreFor(
      { purpose, mayCreateStore: true },
      {
        settings: settingsFrom({ upstream: { url: 'http://x' }, dataDir, key }),
        secrets: { botToken: PASSPHRASE, clientToken: null, passphrase },
        database: undefined,
        botId: o.botId ?? null,
      },
    )
    return store.method
  }

  test.each([
    ['run', undefined, 'none'],
    ['begin', undefined, 'none'],
    ['begin', UNDER_PASSPHRASE, 'passphrase'],
    ['run', { protection: 'auto', publish: false }, null],
  ] as const)(
    'the purpose %s with the key settings %j makes a store of protection %s',
    async (...row) => {
      const [purpose, key, method] = row
      expect(await opened(temporary(), purpose, key && { key })).toBe(method)
    },
  )

  test('the purpose `look` makes no store, and opens an existing one of any protection', async () => {
    const missing = { code: 'store-missing' }
    await expect(opened(temporary(), 'look')).rejects.toMatchObject(missing)
    const { dataDir } = await made({})
    expect(await opened(dataDir, 'look', { key: UNDER_PASSPHRASE })).toBe('none')
    const run = opened(dataDir, 'run', { key: UNDER_PASSPHRASE })
    await expect(run).rejects.toMatchObject({ code: 'protection' })
  })

  test('a store belongs to the bot of the first run', async () => {
    const { dataDir } = await made({})
    expect(await opened(dataDir, 'look', { botId: 7 })).toBe('none')
    expect(await opened(dataDir, 'run', { botId: 8 })).toBe('none')
    const other = opened(dataDir, 'run', { botId: 9 })
    await expect(other).rejects.toMatchObject({ code: 'store-other-bot' })
  })
})

test('`serverFor` is null for a store in a folder, and for a store that is handed in', async () => {
  const settings = settingsFrom({ upstream: { url: 'http://x' }, dataDir: '/no/such/folder' })
  const secrets = { botToken: PASSPHRASE, clientToken: null, passphrase: null }
  await using stack = new AsyncDisposableStack()
  expect(await serverFor({ settings, secrets }, stack)).toBeNull()
  const withUrl = { settings, secrets: { ...secrets, storeUrl: DATABASE_URL } }
  const store = {} as Store
  expect(await serverFor({ ...withUrl, parts: { store } }, stack)).toBeNull()
  expect(await serverFor({ ...withUrl, parts: { database: null } }, stack)).toBeNull()
  expect(await serverFor(withUrl, stack)).toBeInstanceOf(PostgresServer)
})
