import type { ChildProcess } from 'node:child_process'
import { spawn, spawnSync } from '../support/programs.ts'
import { createHash } from 'node:crypto'
import { mkdtempSync, readFileSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { syncBuiltinESMExports } from 'node:module'
import { DatabaseSync } from 'node:sqlite'
import { pathToFileURL } from 'node:url'
import { afterAll, afterEach, beforeAll, describe, onTestFinished, test, vi } from 'vitest'
import type { ProtectionRequest } from '../../src/store/choose.ts'
import { openStore } from '../../src/store/open-store.ts'
import { insertNew, writeFlag } from '../../src/store/records/rows.ts'
import type { SchemaRow } from '../../src/store/schema.ts'
import type { Store } from '../../src/store/store.ts'
import { mortal } from '../support/mortal.ts'
import { has } from '../support/lacks.ts'

/** Whether stores are files here; the test files that `config/vitest.ts` names run on PostgreSQL too. */
export const isFile = has(
  process.env['TESTS_STORE_KIND'] !== 'postgres',
  'a test of stores in files is left out where its file runs on PostgreSQL, too',
)
/** A test of what a store in a file is like. */
export const testOfFile = test.skipIf(!isFile)
export const describeFile = describe.skipIf(!isFile)

/** A folder that is gone when the test ends. */
export function temporary(): string {
  const path = mkdtempSync(join(tmpdir(), 'postern-store-'))
  onTestFinished(() => rmSync(path, { recursive: true, force: true }))
  return path
}

type Opening = Partial<ProtectionRequest> & { mode?: 'create' | 'existing'; botId?: number }

/** Opens a store that is closed when the test ends. */
export async function open(dataDir: string, o: Opening = {}): Promise<Store> {
  const store = await openStore({ dataDir, passphrase: null, mode: 'create', ...o })
  onTestFinished(() => store[Symbol.asyncDispose]())
  return store
}

/** A new store in a folder of its own. */
export async function newStore(o: Opening = {}): Promise<{ dataDir: string; store: Store }> {
  const dataDir = temporary()
  return { dataDir, store: await open(dataDir, o) }
}

/** One store for all tests of a file: to make one takes longer than most tests do. */
export function storeForFile(): () => Store {
  const dataDir = mkdtempSync(join(tmpdir(), 'postern-store-'))
  let store: Store | undefined
  beforeAll(async () => {
    store = await openStore({ dataDir, passphrase: null, mode: 'create', protection: 'none' })
  })
  afterAll(async () => {
    await store?.[Symbol.asyncDispose]()
    rmSync(dataDir, { recursive: true, force: true })
  })
  return () => store as Store
}

/** Makes a store and closes it again. */
export async function made(dataDir: string, passphrase: string | null = null): Promise<void> {
  const store = await openStore({ dataDir, passphrase, mode: 'create' })
  if (passphrase !== null) await store.secret('first')
  await store[Symbol.asyncDispose]()
}

/** A folder with a store that nobody has open. */
export async function madeFolder(passphrase: string | null = null): Promise<string> {
  const dataDir = temporary()
  await made(dataDir, passphrase)
  return dataDir
}

/** A connection of a test's own, closed when it ends. */
export function connected(file: string, connect = (path: string) => new DatabaseSync(path)) {
  const database = connect(file)
  onTestFinished(() => {
    if (database.isOpen) database.close()
  })
  return database
}

/** Changes a database that nobody has open. */
export function execute(file: string, statement: string): void {
  const database = new DatabaseSync(file)
  database.exec(statement)
  database.close()
}

/** Overwrites pages with zeros, from outside: to close the file here would drop a lock on it. */
export function zeroPages(file: string, first: number, count = 1): void {
  const pages = ['bs=4096', `seek=${first}`, `count=${count}`, 'conv=notrunc']
  spawnSync('dd', ['if=/dev/zero', `of=${file}`, ...pages])
}

/** An error as node:sqlite throws it. */
export const sqliteError = (errcode: number): Error =>
  Object.assign(new Error('words'), { code: 'ERR_SQLITE_ERROR', errcode })

/** Takes away after each test what it has put into the place of functions of `node:fs` and others. */
export function restoreMocks(): void {
  afterEach(() => {
    vi.restoreAllMocks()
    syncBuiltinESMExports()
  })
}

/** Takes a copy out of the data directory, as the command does. */
export async function backup(store: Store, to = join(temporary(), 'b')): Promise<string> {
  renameSync(await store.copy(), to)
  return to
}

/** Adds a key of the bot's, a retired one. */
export const addKey = (
  store: Store,
  fingerprint: string,
  more: Partial<SchemaRow<'own_keys'>> = {},
): Promise<unknown> => {
  const times = { offered_at: null, published_at: null, retired_at: null, destroyed_at: null }
  const plain = { fingerprint, certificate: 'c', state: 'retired', created_at: 1 } as const
  const row = { ...plain, ...times, locked: 'l', ...more }
  return store.write((db) => insertNew(db, 'own_keys', store.rowSeal.seal('own_keys', row)))
}

/** SHA-256 of every file of a directory, by name. */
export function digests(dataDir: string, names = readdirSync(dataDir)): Record<string, string> {
  const digest = (name: string) =>
    createHash('sha256')
      .update(readFileSync(join(dataDir, name)))
      .digest('hex')
  return Object.fromEntries(names.toSorted().map((name) => [name, digest(name)]))
}

export const modeOf = (path: string): string => (statSync(path).mode & 0o777).toString(8)

/** Puts a flag. */
export const put = (store: Store, name: string, value: string): Promise<unknown> =>
  store.write((db) => writeFlag(db, name, value))

/** Notes a flag. */
export const note = (store: Store, name: string, value: string): Promise<unknown> =>
  store.note((db) => db.insertInto('flags').values({ name, value }).execute())

/** Every flag, by name. */
export async function flags(store: Store): Promise<Record<string, string>> {
  const rows = await store.read((db) => db.selectFrom('flags').selectAll().execute())
  return Object.fromEntries(rows.map(({ name, value }) => [name, value]))
}

/**
 * Runs a script in a process of its own, with `openStore` and `dataDir` in scope.
 * Gives the process and a function that waits for its next line.
 */
export function child(
  dataDir: string,
  script: string,
): { process: ChildProcess; line: () => Promise<string> } {
  const door = pathToFileURL(join(import.meta.dirname, '../../src/store/open-store.ts')).href
  const source = `import { openStore } from ${JSON.stringify(door)}
    const dataDir = ${JSON.stringify(dataDir)}
    ${script}`
  const lowCost = pathToFileURL(join(import.meta.dirname, '../support/low-cost.ts')).href
  const args = ['--import', lowCost, '--input-type=module', '-e', source]
  const started = spawn(...mortal(process.execPath, args), { stdio: ['pipe', 'pipe', 'inherit'] })
  onTestFinished(() => void started.kill('SIGKILL'))
  const lines = createInterface({ input: started.stdout })[Symbol.asyncIterator]()
  return {
    process: started,
    line: async () => {
      const { value, done } = await lines.next()
      return done === true ? '' : value
    },
  }
}

/** Waits until a process is gone. */
export async function gone(process: ChildProcess): Promise<void> {
  if (process.exitCode !== null || process.signalCode !== null) return
  await new Promise((resolve) => process.once('exit', resolve))
}

const NO_MOUNT = 'no file system can be mounted here, which takes root'

/** Whether a small file system of our own can be mounted here (root, and not in every container). */
export function canMount(): boolean {
  if (process.getuid?.() !== 0) return has(false, NO_MOUNT)
  const path = mkdtempSync(join(tmpdir(), 'postern-mount-'))
  const works = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=64k', 'none', path]).status === 0
  if (works) spawnSync('umount', [path])
  rmSync(path, { recursive: true })
  return has(works, NO_MOUNT)
}

/** A small file system for the tests of a file, unless none can be mounted here. */
export function diskOfFile(size: string): { disk: string; isMounted: boolean } {
  const disk = mkdtempSync(join(tmpdir(), 'sd-'))
  const { status } = spawnSync('mount', ['-t', 'tmpfs', '-o', `size=${size}`, 'none', disk])
  const isMounted = has(status === 0, NO_MOUNT)
  afterAll(() => {
    if (isMounted) spawnSync('umount', ['-l', disk])
    rmSync(disk, { recursive: true, force: true })
  })
  return { disk, isMounted }
}

/** Takes what is left of a small disk; `filler` is the file to take away. */
export function fill(mount: string): void {
  const path = join(mount, 'filler')
  spawnSync('dd', ['if=/dev/zero', `of=${path}`, 'bs=4k', 'status=none'], { stdio: 'ignore' })
}

/** Mounts a file system of a size for one test. Gives its path. */
export function mounted(size: string): string {
  const path = temporary()
  const { status } = spawnSync('mount', ['-t', 'tmpfs', '-o', `size=${size}`, 'none', path])
  if (status !== 0) throw new Error('mount failed')
  onTestFinished(() => void spawnSync('umount', ['-l', path]))
  return path
}

/** What SQLite says of tables and indexes, but of its own, on one line each. */
export const schemaOf = (of: DatabaseSync): { type: string; name: string; sql: string }[] =>
  of
    .prepare(
      `SELECT type, name, sql FROM sqlite_schema
       WHERE name NOT LIKE 'sqlite_%' ORDER BY type, name`,
    )
    .all()
    .map((row) => ({
      type: String(row['type']),
      name: String(row['name']),
      sql: String(row['sql']).replaceAll(/\s+/g, ' '),
    }))
