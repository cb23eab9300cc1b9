/** Stores whose secret a command of the operator's wraps. */
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { describe, expect, test } from 'vitest'
import { readBackup } from '../../src/store/backup.ts'
import { openStore } from '../../src/store/open-store.ts'
import { createProtection, methodOf } from '../../src/store/protection.ts'
import type { SchemaRow } from '../../src/store/schema.ts'
import type { Store } from '../../src/store/store.ts'
import { fileSource, fileTarget } from '../../src/store/postgres/move-ends.ts'
import { relocate } from '../../src/store/postgres/move-store.ts'
import { pair } from './postgres/scene.ts'
import { hasPostgres } from '../support/postgres.ts'
import { WrapperDouble } from '../support/wrapper-double.ts'
import { addKey, digests, execute, newStore, open, temporary } from './support.ts'

const by = (wrapper: WrapperDouble | null) =>
  ({ protection: 'exec', wrapper, isRequired: true, isBinding: true }) as const
const relock = (locked: string): Promise<string> => Promise.resolve(locked)

/** A closed store, a secret in it, and the service that opens it. */
async function made(wrapper = new WrapperDouble()) {
  const { dataDir, store } = await newStore(by(wrapper))
  const secret = await store.secret('replay')
  await addKey(store, 'one')
  const opened = { secret, masterSecret: store.masterSecret }
  await store[Symbol.asyncDispose]()
  return { dataDir, wrapper, ...opened }
}

const opening = (dataDir: string, o: object): Promise<Store> =>
  openStore({ dataDir, passphrase: null, mode: 'create', ...o })

/** The digest of a record, which whoever writes the file can compute. */
function digestOf({ method, n, r, p, wrapped, ...row }: SchemaRow<'protection'>): string {
  const hash = createHash('sha256').update(JSON.stringify([method, n, r, p, wrapped]))
  return hash.update(row.salt).update(row.proof).update(row.master).digest('hex')
}

/** The value of a column in the record of a closed store's protection. */
function column(dataDir: string, name: string): unknown {
  const database = new DatabaseSync(join(dataDir, 'postern.db'), { readOnly: true })
  try {
    return database.prepare(`SELECT ${name} FROM protection`).get()?.[name]
  } finally {
    database.close()
  }
}

describe('a store whose secret a command wraps', () => {
  test('a store with a wrapped secret opens to the same secrets by one `unwrap` with its context', async () => {
    const { dataDir, wrapper, secret, masterSecret } = await made()
    const store = await open(dataDir, by(wrapper))
    expect([store.method, store.masterSecret]).toEqual(['exec', masterSecret])
    expect(await store.secret('replay')).toEqual(secret)
    const [first = '', ...rest] = wrapper.asked
    expect(first).toMatch(/^wrap store-[0-9a-f]{32}$/)
    // once to see that what was wrapped unwraps, once for the second opening
    expect(rest).toEqual([first.replace('wrap', 'unwrap'), first.replace('wrap', 'unwrap')])
  })

  test('a store with a wrapped secret contains neither its secret nor its master secret', async () => {
    const wrapper = new WrapperDouble()
    const { row, held, opener } = await createProtection({ method: 'exec', wrapper })
    const all = Buffer.concat([row.salt, row.proof, row.master, row.digest])
    for (const secret of [opener, held.masterSecret]) {
      expect(all.includes(Buffer.from(secret, 'base64url'))).toBe(false)
      expect(row.wrapped).not.toContain(secret)
    }
    expect(methodOf(row)).toBe('exec')
  })

  test.each<[string, (wrapper: WrapperDouble) => object, object]>([
    ['the service has lost its key', (w) => (w.loseKey(), by(w)), {}],
    ['the service is another', () => by(new WrapperDouble()), {}],
    ['no command is named', () => by(null), { code: 'store-locked' }],
    [
      'the settings name a passphrase',
      () => ({ passphrase: 'words', protection: 'passphrase', isBinding: true }),
      { code: 'protection' },
    ],
    ['the settings name nothing', () => ({ protection: 'auto' }), { code: 'store-locked' }],
    [
      'the settings name none',
      () => ({ protection: 'none', isBinding: true }),
      { code: 'protection' },
    ],
    [
      'a liar gives another secret',
      () => by(Object.assign(new WrapperDouble(), { unwrap: async () => Buffer.alloc(32) })),
      { code: 'key-command', exitCode: 3 },
    ],
    [
      'a liar gives nothing',
      () => by(Object.assign(new WrapperDouble(), { unwrap: async () => Buffer.alloc(0) })),
      { code: 'key-command', exitCode: 3 },
    ],
  ])(
    'a store with a wrapped secret is refused and unchanged where %s',
    async (_, request, refusal) => {
      const { dataDir, wrapper, secret } = await made()
      const before = digests(dataDir, ['postern.db', 'store.json'])
      const wrapped = String(column(dataDir, 'wrapped'))
      const context = wrapper.asked.at(-1)?.split(' ')[1] ?? ''
      const kept = wrapper.decrypt(wrapped, context)
      await expect(opening(dataDir, request(wrapper))).rejects.toMatchObject(refusal)
      expect(digests(dataDir, ['postern.db', 'store.json'])).toEqual(before)
      // with the service as it was, it opens
      const honest = Object.assign(new WrapperDouble(), { unwrap: async () => kept })
      expect(await (await open(dataDir, by(honest))).secret('replay')).toEqual(secret)
    },
  )

  test.each([true, false])(
    'a secret that was wrapped for another store is refused (service without contexts: %s)',
    async (isWithoutContext) => {
      const wrapper = Object.assign(new WrapperDouble(), { isWithoutContext })
      const [mine, other] = [await made(wrapper), await made(wrapper)]
      const database = new DatabaseSync(join(mine.dataDir, 'postern.db'))
      const row = database.prepare('SELECT * FROM protection').get()
      database.close()
      const theirs = String(column(other.dataDir, 'wrapped'))
      const forged = { ...row, wrapped: theirs } as never
      execute(
        join(mine.dataDir, 'postern.db'),
        `UPDATE protection SET wrapped = '${theirs}', digest = x'${digestOf(forged)}'`,
      )
      const opened = opening(mine.dataDir, by(wrapper))
      await expect(opened).rejects.toThrow(
        isWithoutContext ? 'a secret that does not open the store' : /authenticate/,
      )
      // nor does the whole record of another store open what is in this one
      execute(
        join(mine.dataDir, 'postern.db'),
        `ATTACH '${join(other.dataDir, 'postern.db')}' AS other;
         DELETE FROM protection; INSERT INTO protection SELECT * FROM other.protection`,
      )
      const store = await open(mine.dataDir, by(wrapper))
      await expect(store.secret('replay')).rejects.toMatchObject({ code: 'store-corrupt' })
    },
  )

  test.each([
    ['is gone', 'wrapped = NULL'],
    ['was changed', `wrapped = wrapped || 'A'`],
    ['is of another method', `method = 'keychain'`],
  ])(
    'a wrapped secret that %s is refused as `store-corrupt` without running the command',
    async (_, change) => {
      const { dataDir, wrapper } = await made()
      execute(join(dataDir, 'postern.db'), `UPDATE protection SET ${change}`)
      const before = wrapper.asked.length
      await expect(opening(dataDir, by(wrapper))).rejects.toMatchObject({ code: 'store-corrupt' })
      expect(wrapper.asked).toHaveLength(before)
    },
  )

  test('a store with a wrapped secret is not made where the command fails, and can be made later', async () => {
    const dataDir = temporary()
    const liar = Object.assign(new WrapperDouble(), { unwrap: async () => Buffer.alloc(32, 1) })
    await expect(opening(dataDir, by(liar))).rejects.toMatchObject({ code: 'key-command' })
    const failing = Object.assign(new WrapperDouble(), {
      wrap: () => Promise.reject(new Error('no')),
    })
    await expect(opening(dataDir, by(failing))).rejects.toThrow('no')
    // what it left is a store without protection, and takes the first that works
    expect((await open(dataDir, by(new WrapperDouble()))).method).toBe('exec')
  })
})

test('a store moves from a passphrase to a command and back with all its secrets', async () => {
  const [dataDir, wrapper] = [temporary(), new WrapperDouble()]
  const store = await open(dataDir, { passphrase: 'words' })
  const secret = await store.secret('replay')
  await store.move({ method: 'exec', wrapper }, relock)
  await store[Symbol.asyncDispose]()
  await expect(opening(dataDir, { passphrase: 'words' })).rejects.toMatchObject({
    code: 'store-locked',
  })
  const again = await open(dataDir, { ...by(wrapper), passphrase: null })
  expect(await again.secret('replay')).toEqual(secret)
  await again.move({ method: 'passphrase', passphrase: 'other' }, relock)
  await again[Symbol.asyncDispose]()
  expect(column(dataDir, 'wrapped')).toBeNull()
  expect(await (await open(dataDir, { passphrase: 'other' })).secret('replay')).toEqual(secret)
})

test('a store moves to the next key of the service, and no file has the former wrapped secret', async () => {
  const { dataDir, wrapper, secret } = await made()
  const former = String(column(dataDir, 'wrapped'))
  const store = await open(dataDir, by(wrapper))
  wrapper.loseKey()
  await store.move({ method: 'exec', wrapper }, relock)
  await store[Symbol.asyncDispose]()
  expect(readFileSync(join(dataDir, 'postern.db'), 'latin1')).not.toContain(former)
  expect(await (await open(dataDir, by(wrapper))).secret('replay')).toEqual(secret)
})

test('a store with a wrapped secret moves to another folder, and its backup opens with the command', async () => {
  const { dataDir, wrapper } = await made()
  const store = await open(dataDir, by(wrapper))
  const file = await store.copy()
  await store[Symbol.asyncDispose]()
  const request = { passphrase: null, wrapper }
  expect(await readBackup(file, request)).toMatchObject({ method: 'exec', keys: [{}] })
  const backup = readBackup(file, { passphrase: 'words' })
  await expect(backup).rejects.toMatchObject({ code: 'store-locked' })
  const to = join(temporary(), 'data')
  {
    await using from = await fileSource(dataDir, request)
    await using target = fileTarget(to)
    await relocate({ from, to: target, request, tryKey: () => Promise.resolve() })
  }
  expect((await open(to, by(wrapper))).method).toBe('exec')
})

describe.skipIf(!hasPostgres())('a store with a wrapped secret of two sidecars', () => {
  test('two sidecars open a store with a wrapped secret, also after one of them moved it', async () => {
    const wrapper = new WrapperDouble()
    const { one, two } = await pair({ ...by(wrapper), passphrase: null })
    const secret = await one.secret('replay')
    expect(await two.secret('replay')).toEqual(secret)
    const before = two.masterSecret
    wrapper.loseKey()
    await one.move({ method: 'exec', wrapper }, relock)
    await two.fresh()
    expect(two.masterSecret).toBe(one.masterSecret)
    expect(two.masterSecret).not.toBe(before)
    expect(await two.secret('replay')).toEqual(secret)
  })

  test('a sidecar whose command cannot unwrap the moved store loses its secrets and changes nothing', async () => {
    const wrapper = new WrapperDouble()
    const { one, two } = await pair({ ...by(wrapper), passphrase: null })
    const secret = await one.secret('replay')
    await one.move({ method: 'exec', wrapper: new WrapperDouble() }, relock)
    await two.fresh()
    expect(two.method).toBeNull()
    await expect(two.secret('replay')).rejects.toMatchObject({ code: 'postern_locked' })
    expect(await one.secret('replay')).toEqual(secret)
  })
})
