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
  open,
  put,
  temporary,
  zeroPages,
  madeFolder,
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

describe('a store that will not open is refused with its own reason and left as it is', () => {
  test.each(['existing', 'create'] as const)(
    'a marker without its database: missing, even when a store may be made (%s)',
    async (mode) => {
      const dataDir = await madeFolder()
      rmSync(join(dataDir, 'postern.db'))
      const error = await refused(dataDir, { mode })
      expect(error.code).toBe('store-missing')
      expect(error.hint).toContain('store.json')
      expect(readdirSync(dataDir)).not.toContain('postern.db')
    },
  )

  test('held by another process: in use, and the holder is named', async () => {
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

  test('held by this very process: in use', async () => {
    const dataDir = temporary()
    const store = await open(dataDir)
    expect((await refused(dataDir)).code).toBe('store-in-use')
    await put(store, 'still', 'ours')
    expect((await refused(dataDir)).code).toBe('store-in-use')
  })

  test('an owner file that is gone, no JSON or forged leaves the holder unnamed', async () => {
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

  test('another passphrase: wrong passphrase', async () => {
    const dataDir = await madeFolder('correct horse')
    const error = await refused(dataDir, { passphrase: 'battery staple' })
    expect(error.code).toBe('store-passphrase')
    expect(`${error.message}${error.hint}`).not.toContain('battery staple')
    expect(`${error.message}${error.hint}`).toContain('key.passphrase')
  })

  test('no passphrase although the store has one: locked', async () => {
    const dataDir = await madeFolder('correct horse')
    expect((await refused(dataDir)).code).toBe('store-locked')
  })

  test.each([
    ['not a database', (file: string) => writeFileSync(file, 'hello '.repeat(1000))],
    ['a few bytes', (file: string) => writeFileSync(file, 'SQLite')],
    ['nothing at all', (file: string) => truncateSync(file, 0)],
    ['only its first page', (file: string) => truncateSync(file, 4096)],
    ['all but its last page', (file: string) => truncateSync(file, 4096 * 5)],
    ['a page of zeros in the middle', (file: string) => zeroPages(file, 3)],
  ])('a file that holds %s: corrupt', async (_what, damage) => {
    const dataDir = await madeFolder()
    damage(join(dataDir, 'postern.db'))
    for (const mode of ['create', 'existing'] as const) {
      expect((await refused(dataDir, { mode })).code).toBe('store-corrupt')
    }
  })

  test('an empty database without a marker is not taken over either', async () => {
    const dataDir = temporary()
    writeFileSync(join(dataDir, 'postern.db'), '')
    expect((await refused(dataDir)).code).toBe('store-corrupt')
  })

  test('the database of another program: corrupt', async () => {
    const dataDir = temporary()
    sql(dataDir, 'CREATE TABLE notes (words TEXT)')
    expect((await refused(dataDir)).code).toBe('store-corrupt')
  })

  test.each([
    [
      'a changed record of the protection, which is no wrong passphrase',
      'UPDATE protection SET proof = randomblob(length(proof))',
      'store-corrupt',
    ],
    ['secrets without the record of their protection', 'DELETE FROM protection', 'store-corrupt'],
    ['a version that we do not know, which is newer', 'PRAGMA user_version = 99', 'store-newer'],
  ])('%s', async (_what, statement, code) => {
    const dataDir = await madeFolder('correct horse')
    sql(dataDir, statement)
    expect((await refused(dataDir, { passphrase: 'correct horse' })).code).toBe(code)
  })

  test('what a killed process left in its log stays there while the store is refused', async () => {
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

  test('a copy of a sound store opens anywhere', async () => {
    const [from, to] = [temporary(), temporary()]
    const store = await open(from)
    await put(store, 'kept', 'yes')
    await store[Symbol.asyncDispose]()
    copyFileSync(join(from, 'postern.db'), join(to, 'postern.db'))
    expect(await flags(await open(to, { mode: 'existing' }))).toEqual({ kept: 'yes' })
    expect(readdirSync(to)).toContain('store.json')
  })
})
