import { copyFileSync, existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { generateKey, readPrivateKey } from 'openpgp'
import { afterAll, describe, expect, test } from 'vitest'
import { Keyring } from '../../src/keys/keyring.ts'
import { createEngine } from '../../src/openpgp/create.ts'
import { readBackup } from '../../src/store/backup.ts'
import { inspect, readProtection, weakCopiesIn } from '../../src/store/inspect.ts'
import { openProtection } from '../../src/store/protection.ts'
import { restore } from '../../src/store/restore.ts'
import type { Store } from '../../src/store/store.ts'
import { BEFORE, lockedKeysIn, writeStoreOfBefore } from './store-of-before.ts'
import { modeOf, open, temporary } from './support.ts'

const engine = createEngine()
afterAll(() => engine[Symbol.asyncDispose]())

const request = { passphrase: BEFORE.passphrase }
const load = (store: Store) =>
  Keyring.load(store, engine, { retainMs: Infinity, serviceNowMs: () => null })

function storeOfBefore(): string {
  const dataDir = join(temporary(), 'data')
  writeStoreOfBefore(dataDir)
  return dataDir
}

/** Everything that was in the store of before, from one that is open. */
async function contentOf(store: Store) {
  const keys = await load(store)
  const states = Object.fromEntries(keys.all.map((key) => [key.state, key.fingerprint]))
  const opened = keys.unlocked.map(({ fingerprint }) => fingerprint)
  const webhook = await store.read((db) =>
    db
      .selectFrom('secrets')
      .select('sealed')
      .where('name', '=', 'webhook')
      .executeTakeFirstOrThrow(),
  )
  return {
    keys: states,
    isAllOpen: opened.length === 3,
    replay: (await store.secret('replay')).toString('hex'),
    webhook: store.unseal('webhook', webhook.sealed).toString(),
  }
}
const CONTENT = {
  keys: BEFORE.keys,
  isAllOpen: true,
  replay: BEFORE.replay,
  webhook: BEFORE.webhook,
}

/** How long the hash is that stands between a guess and each secret packet (RFC 9580, 3.7.1.3). */
async function hashedBytes(armoredKey: string): Promise<number[]> {
  const key = await readPrivateKey({ armoredKey })
  return key.getKeys().map(({ keyPacket }) => {
    const { s2k } = keyPacket as unknown as { s2k: { getCount(): number } }
    return s2k.getCount()
  })
}

/** A piece of each locked key that stands in a file only where the key does. */
const piecesOf = (locked: string[]): string[] =>
  locked.map((one) => one.split('\n').find((line) => line.length > 60) ?? one)

describe('a store in which keys were locked under the passphrase itself', () => {
  test('is brought under a master secret at its next start, with all that is in it', async () => {
    const dataDir = storeOfBefore()
    const before = lockedKeysIn(join(dataDir, 'postern.db'))
    for (const one of before) expect(Math.min(...(await hashedBytes(one)))).toBeGreaterThan(2 ** 24)
    const store = await open(dataDir, request)
    expect(store.masterSecret).toBe(BEFORE.passphrase)
    expect(await contentOf(store)).toEqual(CONTENT)
    expect(store.masterSecret).toMatch(/^[\w-]{43}$/)
    await store[Symbol.asyncDispose]()

    for (const one of lockedKeysIn(join(dataDir, 'postern.db'))) {
      expect(Math.max(...(await hashedBytes(one)))).toBe(1024)
      await expect(engine.unlock(one, BEFORE.passphrase)).rejects.toThrow('wrong-passphrase')
    }
    const again = await open(dataDir, request)
    expect(await contentOf(again)).toEqual(CONTENT)
    await again[Symbol.asyncDispose]()
    await expect(open(dataDir, { passphrase: 'another' })).rejects.toMatchObject({
      code: 'store-passphrase',
    })
  })

  test('keeps nothing of the old locks in its database and its log', async () => {
    const dataDir = storeOfBefore()
    const pieces = piecesOf(lockedKeysIn(join(dataDir, 'postern.db')))
    const bytes = (): string =>
      ['postern.db', 'postern.db-wal']
        .filter((name) => existsSync(join(dataDir, name)))
        .map((name) => readFileSync(join(dataDir, name), 'latin1'))
        .join('')
    expect(pieces.every((piece) => bytes().includes(piece))).toBe(true)
    const store = await open(dataDir, request)
    await load(store)
    expect(pieces.filter((piece) => bytes().includes(piece))).toEqual([])
    await store[Symbol.asyncDispose]()
    expect(pieces.filter((piece) => bytes().includes(piece))).toEqual([])
  })

  test('stays openable as it was when its start dies before that', async () => {
    const dataDir = storeOfBefore()
    // the schema is the newest, and nothing is locked anew
    const store = await open(dataDir, request)
    await store[Symbol.asyncDispose]()
    expect(lockedKeysIn(join(dataDir, 'postern.db'))).toHaveLength(3)
    expect(await contentOf(await open(dataDir, request))).toEqual(CONTENT)
  })

  test('whose scrubbing was cut short is scrubbed at the next start', async () => {
    const dataDir = storeOfBefore()
    const store = await open(dataDir, request)
    await load(store)
    const due = () =>
      store.read((db) =>
        db.selectFrom('flags').select('name').where('name', '=', 'scrub_due').execute(),
      )
    expect(await due()).toEqual([])
    await store.write((db) =>
      db.insertInto('flags').values({ name: 'scrub_due', value: '1' }).execute(),
    )
    await load(store)
    expect(await due()).toEqual([])
  })

  test('leaves the copy from before the upgrade, which is known for what it is', async () => {
    const dataDir = storeOfBefore()
    expect(weakCopiesIn(dataDir)).toEqual([])
    const store = await open(dataDir, request)
    await load(store)
    const [copy = '', ...more] = weakCopiesIn(dataDir)
    expect([copy, ...more]).toEqual([expect.stringMatching(/^postern\.v7\..*\.db$/)])
    expect(modeOf(join(dataDir, copy))).toBe('600')
    writeFileSync(join(dataDir, 'postern.v99.20300101T000000000Z.db'), '')
    expect(weakCopiesIn(dataDir)).toEqual([copy])
    expect(weakCopiesIn('/nowhere')).toEqual([])
  })

  test('with a key that does not open is refused, and nothing is changed', async () => {
    const dataDir = storeOfBefore()
    const database = new DatabaseSync(join(dataDir, 'postern.db'))
    const foreign = await engine.generate({ userId: 'x', createdMs: 1000, passphrase: 'foreign' })
    database.prepare("UPDATE own_keys SET locked = ? WHERE state = 'retired'").run(foreign.locked)
    database.close()
    const before = lockedKeysIn(join(dataDir, 'postern.db'))
    const store = await open(dataDir, request)
    await expect(load(store)).rejects.toMatchObject({ code: 'store-locked' })
    expect(store.masterSecret).toBe(BEFORE.passphrase)
    expect((await store.secret('replay')).toString('hex')).toBe(BEFORE.replay)
    await store[Symbol.asyncDispose]()
    expect(lockedKeysIn(join(dataDir, 'postern.db'))).toEqual(before)
  })

  test('is refused by the version before once it is brought over', async () => {
    const dataDir = storeOfBefore()
    const store = await open(dataDir, request)
    await load(store)
    await store[Symbol.asyncDispose]()
    expect(() => inspect(dataDir, BEFORE.version)).toThrow(
      expect.objectContaining({ code: 'store-newer' }),
    )
  })

  test('as a backup is verified as it is, and brought over when what is restored starts', async () => {
    const file = join(storeOfBefore(), 'postern.db')
    const backup = await readBackup(file, request)
    expect(backup).toMatchObject({ method: 'passphrase', masterSecret: BEFORE.passphrase })
    for (const { fingerprint, locked } of backup.keys) {
      const { fingerprint: opened } = await engine.unlock(locked, backup.masterSecret ?? '')
      expect(opened).toBe(fingerprint)
    }
    const copy = join(temporary(), 'backup')
    copyFileSync(file, copy)
    const dataDir = join(temporary(), 'data')
    restore(copy, dataDir)
    expect(await contentOf(await open(dataDir, request))).toEqual(CONTENT)
  })

  test('can be moved to another passphrase, which is then the only one', async () => {
    const dataDir = storeOfBefore()
    const store = await open(dataDir, request)
    const keys = await load(store)
    await store.move({ method: 'passphrase', passphrase: 'new' }, (locked, secrets) =>
      engine.relock(locked, { ...secrets, isRandom: true }),
    )
    expect(keys.unlocked).toHaveLength(3)
    await store[Symbol.asyncDispose]()
    expect(await contentOf(await open(dataDir, { passphrase: 'new' }))).toEqual(CONTENT)
  })
})

describe('a thief of the file who guesses', () => {
  test('pays scrypt for each guess: nothing else in the file answers to the passphrase', async () => {
    const dataDir = storeOfBefore()
    const store = await open(dataDir, request)
    const keys = await load(store)
    await keys.discard(BEFORE.keys.pending)
    await keys.makePending('bot')
    const { masterSecret } = store
    await store[Symbol.asyncDispose]()

    const file = join(dataDir, 'postern.db')
    const database = new DatabaseSync(file, { readOnly: true })
    const row = readProtection(database)
    if (row === null) throw new Error('no protection')
    expect(row).toMatchObject({ method: 'passphrase', n: 2 ** 17, r: 8, p: 1 })
    const { sealer } = await openProtection(BEFORE.passphrase, row)
    const sealed = database.prepare('SELECT name, sealed FROM secrets').all()
    database.close()
    expect(sealed.length).toBeGreaterThan(1)
    for (const { name, sealed: bytes } of sealed) {
      expect(sealer.open(String(name), bytes as Uint8Array)).not.toBeNull()
    }
    const locked = lockedKeysIn(file)
    expect(locked).toHaveLength(3)
    for (const one of locked) {
      await expect(engine.unlock(one, BEFORE.passphrase)).rejects.toThrow('wrong-passphrase')
      await engine.unlock(one, masterSecret ?? '')
    }
  })

  test('finds no former lock in any other file that a start without a past leaves', async () => {
    const dataDir = join(temporary(), 'data')
    const store = await open(dataDir, { passphrase: 'words' })
    await (await load(store)).makePending('bot')
    await store[Symbol.asyncDispose]()
    expect(readdirSync(dataDir).toSorted()).toEqual(['postern.db', 'store.json'])
  })
})

describe('a key in the file that its owner did not lock', () => {
  const changed = async (change: (database: DatabaseSync) => unknown): Promise<unknown> => {
    const dataDir = storeOfBefore()
    const first = await open(dataDir, request)
    await load(first)
    await first[Symbol.asyncDispose]()
    const database = new DatabaseSync(join(dataDir, 'postern.db'))
    await change(database)
    database.close()
    return await load(await open(dataDir, request))
  }

  test('is not taken when it is not locked at all', async () => {
    const { privateKey } = await generateKey({ userIDs: [{ name: 'bot' }], type: 'curve25519' })
    const putting = changed((database) =>
      database.prepare("UPDATE own_keys SET locked = ? WHERE state = 'active'").run(privateKey),
    )
    await expect(putting).rejects.toMatchObject({ code: 'store-locked' })
  })

  test('is not published under somebody else’s certificate', async () => {
    const { certificate } = await engine.generate({
      userId: 'bot',
      createdMs: 1000,
      passphrase: 'x',
    })
    const putting = changed((database) =>
      database
        .prepare("UPDATE own_keys SET certificate = ? WHERE state = 'active'")
        .run(certificate),
    )
    await expect(putting).rejects.toMatchObject({ code: 'store-corrupt' })
  })
})
