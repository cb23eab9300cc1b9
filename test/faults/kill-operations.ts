/** The commands that change or copy what is secret, and what must hold when they are killed. */
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { createEngine } from '../../src/openpgp/create.ts'
import type { OwnKey } from '../../src/openpgp/engine.ts'
import { readBackup, restore as restoreBackup } from '../../src/store/backup.ts'
import { insertNew } from '../../src/store/records/rows.ts'
import { openStore } from '../../src/store/open-store.ts'
import type { Store } from '../../src/store/store.ts'
import type { Operation } from './command-kills.ts'

const OLD = 'the old passphrase of the store'
const NEW = 'the new passphrase of the store'
const OUT = 'the passphrase on the way'

const engine = createEngine({ threads: 1 })
/** Ends the threads that the checks used. */
export const endChecks = (): Promise<void> => engine[Symbol.asyncDispose]()

const dataDir = (folder: string): string => join(folder, 'data')
const openWith = (folder: string, passphrase: string): Promise<Store> =>
  openStore({ dataDir: dataDir(folder), passphrase, mode: 'existing' })

interface Kept {
  key: OwnKey
  foreign: string
}
let kept: Promise<Kept> | null = null
/** Keys that take long to make are made once. */
const keys = (): Promise<Kept> =>
  (kept ??= (async () => {
    const made = (passphrase: string) =>
      engine.generate({ userId: 'bot', createdMs: Date.now() - 600_000, passphrase })
    return { key: await made(OLD), foreign: (await made(OUT)).locked }
  })())

/** A store with an active key and a sealed secret, and the secret beside it for the check. */
async function makeStore(folder: string): Promise<void> {
  const { key } = await keys()
  const { fingerprint, certificate } = key
  await using store = await openStore({ dataDir: dataDir(folder), passphrase: OLD, mode: 'create' })
  const to = store.masterSecret ?? ''
  const locked = await engine.relock(key.locked, { from: OLD, to, isRandom: true })
  writeFileSync(join(folder, 'secret'), await store.secret('replay'), { mode: 0o600 })
  const times = { created_at: 1, offered_at: null, published_at: 2 }
  const active = { state: 'active', retired_at: null, destroyed_at: null } as const
  const row = store.rowSeal.seal('own_keys', { fingerprint, certificate, ...times, ...active })
  await store.write((db) => insertNew(db, 'own_keys', { ...row, locked }))
}

/** Sees that everything in a store opens, and gives its keys by state. */
async function look(folder: string, passphrase: string): Promise<Record<string, string>> {
  await using store = await openWith(folder, passphrase)
  const secret = await store.secret('replay')
  if (!secret.equals(readFileSync(join(folder, 'secret')))) throw new Error('another secret')
  const rows = await store.read((db) => db.selectFrom('own_keys').selectAll().execute())
  for (const { locked, fingerprint } of rows) {
    const unlocked = await engine.unlock(locked, store.masterSecret ?? '')
    if (unlocked.fingerprint !== fingerprint) throw new Error('another key')
  }
  const left = readdirSync(dataDir(folder)).filter((name) => /backup-|\.new-/.test(name))
  if (left.length > 0) throw new Error(`left behind: ${left.join()}`)
  return Object.fromEntries(rows.map(({ state, fingerprint }) => [state, fingerprint]))
}

/** True when the store opens with the new passphrase, false when with the old one. */
async function opensWithNew(folder: string): Promise<boolean> {
  try {
    await look(folder, NEW)
    return true
  } catch (error) {
    if ((error as { code?: unknown }).code !== 'store-passphrase') throw error
    await look(folder, OLD)
    return false
  }
}

const expect = (holds: boolean, what: string): void => {
  if (!holds) throw new Error(what)
}

const ENV = {
  POSTERN_UPSTREAM_URL: 'http://127.0.0.1:1',
  POSTERN_BOT_TOKEN: 'bot_7.a-token-for-tests',
  POSTERN_KEY_PASSPHRASE: OLD,
  POSTERN_DATA_DIR: 'data',
}
const STORE = ['data', 'data/postern.db', 'data/postern.db-wal']

const protect: Operation = {
  name: 'key protect',
  prepare: makeStore,
  command: ['key', 'protect', 'passphrase'],
  env: { ...ENV, POSTERN_NEW_PASSPHRASE: NEW },
  watched: STORE,
  check: async (folder, { isDone }) => {
    const isNew = await opensWithNew(folder)
    expect(isNew || !isDone, 'it was said to be moved, and is not')
  },
}

const take: Operation = {
  name: 'key import',
  prepare: async (folder) => {
    await makeStore(folder)
    writeFileSync(join(folder, 'key.asc'), (await keys()).foreign, { mode: 0o600 })
  },
  command: ['key', 'import', 'key.asc'],
  env: { ...ENV, POSTERN_EXPORT_PASSPHRASE: OUT },
  watched: STORE,
  check: async (folder, { isDone }) => {
    const { active, pending } = await look(folder, OLD)
    expect(active === (await keys()).key.fingerprint, 'the active key is another one')
    expect(pending !== undefined || !isDone, 'it was said to be imported, and is not')
  },
}

const give: Operation = {
  name: 'key export',
  prepare: makeStore,
  command: ['key', 'export', '--output', 'out/key.asc'],
  env: { ...ENV, POSTERN_EXPORT_PASSPHRASE: OUT },
  watched: [...STORE, 'out'],
  check: async (folder, { isDone }) => {
    const file = join(folder, 'out/key.asc')
    expect(existsSync(file) || !isDone, 'it was said to be there, and is not')
    if (existsSync(file)) await engine.unlock(readFileSync(file, 'utf8'), OUT)
    await look(folder, OLD)
  },
}

const create: Operation = {
  name: 'backup create',
  prepare: makeStore,
  command: ['backup', 'create', 'out/b'],
  env: ENV,
  watched: [...STORE, 'out'],
  check: async (folder, { isDone }) => {
    const file = join(folder, 'out/b')
    expect(existsSync(file) || !isDone, 'it was said to be there, and is not')
    if (existsSync(file)) {
      const { keys: inside } = await readBackup(file, { passphrase: OLD })
      expect(inside.length === 1, 'a key is missing in the backup')
    }
    await look(folder, OLD)
  },
}

const restore: Operation = {
  name: 'backup restore',
  prepare: async (folder) => {
    await makeStore(folder)
    await using store = await openWith(folder, OLD)
    copyFileSync(await store.copy(), join(folder, 'b'))
    await store[Symbol.asyncDispose]()
    renameSync(dataDir(folder), join(folder, 'aside'))
  },
  command: ['backup', 'restore', 'b'],
  env: ENV,
  watched: [],
  check: async (folder, { isDone }) => {
    const isThere = existsSync(join(dataDir(folder), 'postern.db'))
    expect(isThere || !isDone, 'it was said to be restored, and is not')
    // Nothing that is left may stand in the way of the next attempt.
    if (!isThere) restoreBackup(join(folder, 'b'), dataDir(folder))
    await look(folder, OLD)
  },
}

/** Those that write beside the store need a folder for it. */
const withOut = (operation: Operation): Operation => ({
  ...operation,
  prepare: async (folder) => {
    await operation.prepare(folder)
    mkdirSync(join(folder, 'out'), { mode: 0o700 })
  },
})

export const OPERATIONS: readonly Operation[] = [
  protect,
  take,
  withOut(give),
  withOut(create),
  restore,
]
