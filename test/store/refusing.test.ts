import { copyFileSync, readdirSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { OperatorError } from '../../src/errors.ts'
import { openStore } from '../../src/store/open-store.ts'
import {
  child,
  digests,
  execute,
  flags,
  gone,
  madeFolder,
  newStore,
  open,
  put,
  temporary,
  zeroPages,
} from './support.ts'

/** Opens what must be refused. Gives the refusal, after making sure that no byte was changed. */
async function refused(
  dataDir: string,
  o: { passphrase?: string | null; mode?: 'create' | 'existing' } = {},
): Promise<OperatorError> {
  const before = traces(dataDir)
  const error = await openStore({ dataDir, passphrase: null, mode: 'create', ...o }).then(
    () => expect.unreachable('the store opened'),
    (thrown: unknown) => thrown as OperatorError,
  )
  expect(traces(dataDir)).toEqual(before)
  expect(error.hint).not.toBe('')
  expect(error.exitCode).toBe(error.code === 'store-in-use' ? 1 : 3)
  return error
}

/** Every file with its bytes and the time of its last change. */
function traces(dataDir: string): Record<string, string> {
  const times = Object.entries(digests(dataDir)).map(([name, digest]) => {
    return [name, `${digest} ${statSync(join(dataDir, name)).mtimeMs}`]
  })
  return Object.fromEntries(times)
}

const sql = (dataDir: string, statement: string): void =>
  execute(join(dataDir, 'postern.db'), statement)

describe('the refusal of a store, which leaves every file unchanged', () => {
  test.each(['existing', 'create'] as const)(
    'a marker without its database is refused as `store-missing` in mode %s',
    async (mode) => {
      const dataDir = await madeFolder()
      rmSync(join(dataDir, 'postern.db'))
      const error = await refused(dataDir, { mode })
      expect(error.code).toBe('store-missing')
      expect(error.hint).toContain('store.json')
      expect(readdirSync(dataDir)).not.toContain('postern.db')
    },
  )

  test('a store of another process is refused as `store-in-use` and names the process', async () => {
    const dataDir = temporary()
    const holder = child(
      dataDir,
      `globalThis.store = await openStore({ dataDir, passphrase: null, mode: 'create' })
       console.log('open')
       setInterval(() => {}, 1000)`,
    )
    expect(await holder.line()).toBe('open')
    const error = await refused(dataDir)
    expect(error.code).toBe('store-in-use')
    expect(error.message).toContain(`process ${holder.process.pid} `)

    holder.process.kill('SIGKILL')
    await gone(holder.process)
    await put(await open(dataDir), 'the lock', 'died with its process')
  })

  test('a store that this process has open is refused as `store-in-use`', async () => {
    const { dataDir, store } = await newStore()
    expect((await refused(dataDir)).code).toBe('store-in-use')
    await put(store, 'still', 'ours')
    expect((await refused(dataDir)).code).toBe('store-in-use')
  })

  test('a store with an invalid owner file is in use by "another process"', async () => {
    const dataDir = temporary()
    await open(dataDir)
    const forged = { pid: 1, host: '\u001b[2Jx', startedAt: '2026-01-01T00:00:00.000Z' }
    for (const text of ['not JSON', JSON.stringify(forged)]) {
      writeFileSync(join(dataDir, 'owner.json'), text)
      expect((await refused(dataDir)).message).toContain('another process')
    }
    rmSync(join(dataDir, 'owner.json'))
    expect((await refused(dataDir)).message).toContain('another process')
  })

  test.each([
    ['a wrong passphrase', 'battery staple', 'store-passphrase'],
    ['a missing passphrase', null, 'store-locked'],
  ] as const)(
    '%s is refused and not repeated, and no file is made or touched',
    async (_what, passphrase, code) => {
      const dataDir = await madeFolder('correct horse')
      const before = statSync(dataDir, { bigint: true })
      for (const mode of ['create', 'existing'] as const) {
        const error = await refused(dataDir, { passphrase, mode })
        expect(error.code).toBe(code)
        expect(`${error.message}${error.hint}`).not.toContain('battery staple')
        expect(`${error.message}${error.hint}`).toContain('key.passphrase')
      }
      const after = statSync(dataDir, { bigint: true })
      expect([after.mtimeNs, after.ctimeNs]).toEqual([before.mtimeNs, before.ctimeNs])
    },
  )

  test.each([
    ['text', (file: string) => writeFileSync(file, 'hello '.repeat(1000))],
    ['a few bytes', (file: string) => writeFileSync(file, 'SQLite')],
    ['no bytes', (file: string) => truncateSync(file, 0)],
    ['only its first page', (file: string) => truncateSync(file, 4096)],
    ['all but its last page', (file: string) => truncateSync(file, 4096 * 5)],
    ['a page of zeros in the middle', (file: string) => zeroPages(file, 3)],
  ])('a database file with %s is refused as `store-corrupt`', async (_what, damage) => {
    const dataDir = await madeFolder()
    damage(join(dataDir, 'postern.db'))
    for (const mode of ['create', 'existing'] as const) {
      expect((await refused(dataDir, { mode })).code).toBe('store-corrupt')
    }
  })

  test('an empty database file without a marker is refused as `store-corrupt`', async () => {
    const dataDir = temporary()
    writeFileSync(join(dataDir, 'postern.db'), '')
    expect((await refused(dataDir)).code).toBe('store-corrupt')
  })

  test('a database of another program is refused as `store-corrupt`', async () => {
    const dataDir = temporary()
    sql(dataDir, 'CREATE TABLE notes (words TEXT)')
    expect((await refused(dataDir)).code).toBe('store-corrupt')
  })

  test.each([
    [
      'a changed protection record',
      'UPDATE protection SET proof = randomblob(length(proof))',
      'store-corrupt',
    ],
    ['secrets and no protection record', 'DELETE FROM protection', 'store-corrupt'],
    [
      'keys and no protection record',
      `DELETE FROM protection; DELETE FROM secrets; INSERT INTO own_keys
       (fingerprint, state, created_at, certificate, locked) VALUES ('a', 'retired', 1, 'c', 'l')`,
      'store-corrupt',
    ],
    ['the application id of another program', 'PRAGMA application_id = 1', 'store-corrupt'],
    ['a later version', 'PRAGMA user_version = 99', 'store-newer'],
    ['a version before 0.1.0', 'PRAGMA user_version = 19', 'store-older'],
  ])('a store with %s is refused with its own code', async (_what, statement, code) => {
    const dataDir = await madeFolder('correct horse')
    sql(dataDir, statement)
    expect((await refused(dataDir, { passphrase: 'correct horse' })).code).toBe(code)
  })

  test('a log of a killed process stays while the store is refused, and is read afterwards', async () => {
    const dataDir = await madeFolder('correct horse')
    const writer = child(
      dataDir,
      `const store = await openStore({ dataDir, passphrase: 'correct horse', mode: 'existing' })
       await store.write((db) => db.insertInto('flags').values({ name: 'a', value: 'b' }).execute())
       process.kill(process.pid, 'SIGKILL')`,
    )
    await gone(writer.process)
    expect(readdirSync(dataDir)).toContain('postern.db-wal')
    expect((await refused(dataDir, { passphrase: 'wrong' })).code).toBe('store-passphrase')
    const store = await open(dataDir, { passphrase: 'correct horse' })
    expect(await flags(store)).toEqual({ a: 'b' })
  })

  test('a copied database file opens in another folder', async () => {
    const [from, to] = [temporary(), temporary()]
    const store = await open(from)
    await put(store, 'kept', 'yes')
    await store[Symbol.asyncDispose]()
    copyFileSync(join(from, 'postern.db'), join(to, 'postern.db'))
    expect(await flags(await open(to, { mode: 'existing' }))).toEqual({ kept: 'yes' })
    expect(readdirSync(to)).toContain('store.json')
  })
})
