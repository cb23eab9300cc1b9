import { execFileSync } from 'node:child_process'
import { copyFileSync, readdirSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { describe, expect, test } from 'vitest'
import type { OperatorError } from '../../src/errors.ts'
import { openStore } from '../../src/store/open-store.ts'
import { child, digests, flags, gone, made, open, put, temporary } from './support.ts'

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

const sql = (dataDir: string, statement: string) => {
  const database = new DatabaseSync(join(dataDir, 'postern.db'))
  database.exec(statement)
  database.close()
}

describe('a store that will not open is refused with its own reason and left as it is', () => {
  test('no directory: missing, and none is made', async () => {
    const dataDir = temporary()
    const inside = join(dataDir, 'not-there')
    const opening = openStore({ dataDir: inside, passphrase: null, mode: 'existing' })
    await expect(opening).rejects.toMatchObject({ code: 'store-missing' })
    expect(readdirSync(dataDir)).toEqual([])
  })

  test('an empty directory where a store must exist: missing', async () => {
    const error = await refused(temporary(), { mode: 'existing' })
    expect(error.code).toBe('store-missing')
    expect(error.hint).toContain('postern run')
  })

  test.each(['existing', 'create'] as const)(
    'a marker without its database: missing, even when a store may be made (%s)',
    async (mode) => {
      const dataDir = temporary()
      await made(dataDir)
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

  test.each([
    ['a host that moves the cursor', { host: '\u001b[2Jx' }],
    ['a process id that is text', { pid: '1; rm' }],
    ['a date that is text', { startedAt: 'words' }],
  ])('an owner file with %s is not repeated to the operator', async (_what, forged) => {
    const dataDir = temporary()
    await open(dataDir)
    const owner = { pid: 1, host: 'here', startedAt: '2026-01-01T00:00:00.000Z', ...forged }
    writeFileSync(join(dataDir, 'owner.json'), JSON.stringify(owner))
    expect((await refused(dataDir)).message).toContain('another process')
  })

  test('an owner file that is gone or no JSON leaves the holder unnamed', async () => {
    const dataDir = temporary()
    await open(dataDir)
    writeFileSync(join(dataDir, 'owner.json'), 'not JSON')
    expect((await refused(dataDir)).message).toContain('another process')
    rmSync(join(dataDir, 'owner.json'))
    expect((await refused(dataDir)).message).toContain('another process')
  })

  test('another passphrase: wrong passphrase', async () => {
    const dataDir = temporary()
    await made(dataDir, 'correct horse')
    const error = await refused(dataDir, { passphrase: 'battery staple' })
    expect(error.code).toBe('store-passphrase')
    expect(`${error.message}${error.hint}`).not.toContain('battery staple')
    expect(`${error.message}${error.hint}`).toContain('key.passphrase')
  })

  test('no passphrase although the store has one: locked', async () => {
    const dataDir = temporary()
    await made(dataDir, 'correct horse')
    expect((await refused(dataDir)).code).toBe('store-locked')
  })

  test.each([
    ['not a database', (file: string) => writeFileSync(file, 'hello '.repeat(1000))],
    ['a few bytes', (file: string) => writeFileSync(file, 'SQLite')],
    ['nothing at all', (file: string) => truncateSync(file, 0)],
    ['only its first page', (file: string) => truncateSync(file, 4096)],
    ['all but its last page', (file: string) => truncateSync(file, 4096 * 5)],
  ])('a file that holds %s: corrupt', async (_what, damage) => {
    const dataDir = temporary()
    await made(dataDir)
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

  test('a page overwritten in the middle: corrupt', async () => {
    const dataDir = temporary()
    await made(dataDir)
    const page = ['if=/dev/zero', `of=${join(dataDir, 'postern.db')}`, 'bs=4096', 'count=1']
    execFileSync('dd', [...page, 'seek=3', 'conv=notrunc', 'status=none'])
    expect((await refused(dataDir)).code).toBe('store-corrupt')
  })

  test('the database of another program: corrupt', async () => {
    const dataDir = temporary()
    sql(dataDir, 'CREATE TABLE notes (words TEXT)')
    expect((await refused(dataDir)).code).toBe('store-corrupt')
  })

  test('a changed record of the protection is damage, not a wrong passphrase', async () => {
    const dataDir = temporary()
    await made(dataDir, 'correct horse')
    sql(dataDir, 'UPDATE protection SET proof = randomblob(length(proof))')
    const error = await refused(dataDir, { passphrase: 'correct horse' })
    expect(error.code).toBe('store-corrupt')
  })

  test('secrets without the record of their protection: corrupt', async () => {
    const dataDir = temporary()
    await made(dataDir, 'correct horse')
    sql(dataDir, 'DELETE FROM protection')
    const error = await refused(dataDir, { passphrase: 'correct horse' })
    expect(error.code).toBe('store-corrupt')
  })

  test('a version that we do not know: newer', async () => {
    const dataDir = temporary()
    await made(dataDir)
    sql(dataDir, 'PRAGMA user_version = 99')
    const error = await refused(dataDir)
    expect(error.code).toBe('store-newer')
    expect(error.message).toContain('99')
  })

  test('what a killed process left in its log stays there while the store is refused', async () => {
    const dataDir = temporary()
    await made(dataDir, 'correct horse')
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
