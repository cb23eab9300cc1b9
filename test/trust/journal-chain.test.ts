/** The chain of the journal: what somebody with the database cannot change unseen. */
import { sql, type Kysely } from 'kysely'
import {
  createCleartextMessage,
  createMessage,
  decryptKey,
  readPrivateKey,
  readSignature,
  sign,
} from 'openpgp'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { Journal, type TrustChange } from '../../src/kernel/people/journal.ts'
import { createEngine, type UnlockedKey } from '../../src/openpgp/index.ts'
import { contentDigest, hashAfter, hashUpTo } from '../../src/store/journal-chain.ts'
import { memoryOf } from '../../src/store/memory.ts'
import type { Schema } from '../../src/store/schema.ts'
import type { Store } from '../../src/store/store.ts'
import { headText, JournalHeads } from '../../src/trust/journal-heads.ts'
import { verifyJournal, type VerifyParts } from '../../src/trust/verify-journal.ts'
import { open, temporary } from '../store/support.ts'

const engine = createEngine()
afterAll(() => engine[Symbol.asyncDispose]())

type BotKey = { fingerprint: string; certificate: string; locked: string; unlocked: UnlockedKey }
let bot: BotKey
let mallory: BotKey
const keyOf = async (userId: string): Promise<BotKey> => {
  const createdMs = Date.now() - 60_000
  const made = await engine.generate({ userId, createdMs, passphrase: 'p' })
  return { ...made, unlocked: await engine.unlock(made.locked, 'p') }
}
beforeAll(async () => {
  ;[bot, mallory] = await Promise.all([keyOf('bot'), keyOf('mallory')])
})

const blocked = (userId: number): TrustChange => ({ kind: 'blocked', userId, detail: {} })
const FAR = Number.MAX_SAFE_INTEGER

/** A journal with entries of people 1 to `count`, and what signs and verifies it. */
async function scene(o: { count?: number; key?: BotKey | null; store?: Store } = {}) {
  const { count = 6, key = bot, store } = o
  const kept = store ?? (await open(temporary()))
  const journal = new Journal(memoryOf(kept))
  const keyring = { active: (key ?? undefined) as never, all: [key ?? bot] as never }
  const parts: VerifyParts = { store: kept, engine, keyring }
  const heads = new JournalHeads({ store: kept, engine, keyring, nowMs: () => Date.now() })
  onTestFinished(() => heads[Symbol.asyncDispose]())
  for (let n = 1; n <= count; n++) await journal.record([blocked(n)])
  return {
    store: kept,
    journal,
    heads,
    verify: (given: string | null = null) => verifyJournal(parts, given),
    change: (run: (db: Kysely<Schema>) => Promise<unknown>) => kept.write((db) => run(db)),
  }
}

/** Chains all entries from one on anew, as somebody does who knows how. */
async function rechain(db: Kysely<Schema>, fromId: number): Promise<void> {
  let hash = await hashUpTo(db, fromId - 1)
  const rows = db.selectFrom('journal').selectAll().where('id', '>=', fromId).orderBy('id')
  for (const row of await rows.execute()) {
    hash = hashAfter(hash, row)
    await db.updateTable('journal').set({ hash }).where('id', '=', row.id).execute()
  }
}

const blockAnother = (db: Kysely<Schema>) =>
  db.updateTable('journal').set({ user_id: 99 }).where('id', '=', 3).execute()

describe('a journal that nobody changed', () => {
  test('verifies, and names the last entry that is signed', async () => {
    const { heads, journal, verify } = await scene()
    await heads.sign()
    await journal.record([7, 8].map(blocked))
    expect(await verify()).toMatchObject({
      firstId: 1,
      lastId: 8,
      entries: 8,
      unchained: 0,
      heads: { signed: 1, unsigned: 0 },
      lastSigned: { entry: 6, signer: bot.fingerprint },
      unsignedEntries: 2,
      fault: null,
    })
  })

  test('verifies while it is empty', async () => {
    const { heads, verify } = await scene({ count: 0 })
    await heads.sign()
    expect(await verify()).toMatchObject({ entries: 0, lastSigned: null, fault: null })
  })

  test('has the same chain whether entries came in one write or in several', async () => {
    const { journal, verify } = await scene({ count: 2 })
    await Promise.all([journal.record([3, 4].map(blocked)), journal.record([blocked(5)])])
    await journal.record(Array.from({ length: 1200 }, (_, n) => blocked(n)))
    expect(await verify()).toMatchObject({ entries: 1205, fault: null })
  })

  test('verifies by a key that has signed before a rotation', async () => {
    const { heads, store } = await scene()
    await heads.sign()
    const keyring = { all: [mallory, bot] as never }
    expect(await verifyJournal({ store, engine, keyring }, null)).toMatchObject({ fault: null })
  })

  test('has heads that nobody signed while the bot has no key', async () => {
    const { heads, verify } = await scene({ key: null })
    await heads.sign()
    const report = await verify()
    expect(report).toMatchObject({
      heads: { signed: 0, unsigned: 1 },
      lastSigned: null,
      fault: null,
    })
    expect(await heads.last()).toBeNull()
  })

  test('gets heads signed later that were left unsigned', async () => {
    const { store, heads: unsigned } = await scene({ key: null })
    await unsigned.sign()
    const { heads, verify } = await scene({ store, count: 0 })
    await heads.sign()
    expect(await verify()).toMatchObject({ heads: { signed: 1, unsigned: 0 }, fault: null })
  })
})

describe('somebody with the database', () => {
  test.each<[string, number, (db: Kysely<Schema>) => Promise<unknown>]>([
    ['alters a person', 3, blockAnother],
    [
      'alters a kind',
      3,
      (db) => db.updateTable('journal').set({ kind: 'accepted' }).where('id', '=', 3).execute(),
    ],
    [
      'alters a time',
      3,
      (db) => db.updateTable('journal').set({ at: 5 }).where('id', '=', 3).execute(),
    ],
    [
      'alters a detail',
      3,
      (db) => db.updateTable('journal').set({ detail: '{"a":1}' }).where('id', '=', 3).execute(),
    ],
    ['removes one', 4, (db) => db.deleteFrom('journal').where('id', '=', 3).execute()],
    ['removes the first ones', 3, (db) => db.deleteFrom('journal').where('id', '<', 3).execute()],
    [
      'exchanges two',
      2,
      async (db) => {
        for (const [from, to] of [
          [2, 99],
          [3, 2],
          [99, 3],
        ] as const) {
          await db.updateTable('journal').set({ id: to }).where('id', '=', from).execute()
        }
      },
    ],
    [
      'puts one between',
      5,
      async (db) => {
        await db.updateTable('journal').set({ id: 7 }).where('id', '=', 6).execute()
        await db.updateTable('journal').set({ id: 6 }).where('id', '=', 5).execute()
        const row = { at: 5, kind: 'blocked', user_id: 9, chat_id: null, detail: '{}' }
        await db
          .insertInto('journal')
          .values({ id: 5, ...row })
          .execute()
        // one without a hash is covered by the next one
      },
    ],
    [
      'erases content without a later entry that says so',
      3,
      async (db) => {
        const row = await db
          .selectFrom('journal')
          .selectAll()
          .where('id', '=', 3)
          .executeTakeFirstOrThrow()
        const erased = { digest: contentDigest(row), user_id: null, detail: '{}', salt: null }
        await db.updateTable('journal').set(erased).where('id', '=', 3).execute()
      },
    ],
  ])('is found where he %s', async (_what, entry, act) => {
    const { verify, change } = await scene()
    await change(act)
    const { fault } = await verify()
    // an entry that was put in is found at the one after it
    expect(fault?.entry).toBe(_what === 'puts one between' ? 6 : entry)
  })

  test('is found at the next head where he chains anew what follows', async () => {
    const { heads, verify, change } = await scene()
    await heads.sign()
    await change(async (db) => {
      await blockAnother(db)
      await rechain(db, 3)
    })
    expect((await verify()).fault).toMatchObject({
      entry: 6,
      what: expect.stringContaining('at the head of'),
    })
  })

  test.each<[string, (head: { signed: string; hash: Buffer }) => object]>([
    ['the hash in it', ({ hash }) => ({ hash })],
    [
      'the hash in it and in its text',
      ({ hash, signed }) => ({
        hash,
        signed: signed.replace(/hash: \w+/, `hash: ${hash.toString('hex')}`),
      }),
    ],
    ['its time', () => ({ at: 5 })],
    [
      'its signature for another text',
      ({ signed }) => ({ signed: signed.replace('entry: 6', 'entry: 5') }),
    ],
    ['its text for noise', () => ({ signed: 'noise' })],
  ])('is found where he exchanges of a head %s', async (_what, other) => {
    const { heads, verify, change, store } = await scene()
    await heads.sign()
    const { signed } = await store.read((db) =>
      db.selectFrom('journal_heads').selectAll().executeTakeFirstOrThrow(),
    )
    await change(async (db) => {
      await blockAnother(db)
      await rechain(db, 3)
      const hash = Buffer.from(await hashUpTo(db, FAR))
      await db
        .updateTable('journal_heads')
        .set(other({ signed: signed ?? '', hash }))
        .execute()
    })
    expect((await verify()).fault?.entry).toBe(6)
  })

  test('is found where he signs a head with a key of his own', async () => {
    const { store, verify } = await scene()
    const { heads } = await scene({ store, count: 0, key: mallory })
    await heads.sign()
    expect((await verify()).fault).toMatchObject({
      entry: 6,
      what: expect.stringContaining('not one that a key'),
    })
  })

  test('is found where he cuts off the end behind which a head is, and by a head elsewhere where he cuts that too', async () => {
    const { heads, verify, change } = await scene()
    await heads.sign()
    const elsewhere = await heads.last()
    await change((db) => db.deleteFrom('journal').where('id', '>', 4).execute())
    expect((await verify()).fault).toMatchObject({
      entry: 6,
      what: expect.stringContaining('after 4 were cut off'),
    })
    await change((db) => db.deleteFrom('journal_heads').execute())
    expect(await verify()).toMatchObject({ fault: null, given: 'none' })
    expect((await verify(elsewhere)).fault).toMatchObject({ entry: 6 })
  })

  test('is found by a head elsewhere where he exchanges all of it', async () => {
    const { heads, verify, change } = await scene()
    await heads.sign()
    const elsewhere = await heads.last()
    expect(await verify(elsewhere)).toMatchObject({ fault: null, given: 'compared' })
    await change(async (db) => {
      await blockAnother(db)
      await rechain(db, 1)
      await db.deleteFrom('journal_heads').execute()
    })
    await heads.sign()
    expect((await verify()).fault).toBeNull()
    expect((await verify(elsewhere)).fault?.entry).toBe(6)
    expect((await verify('noise')).fault).toMatchObject({
      what: 'the file holds no head of a journal',
    })
  })

  test('is found where he removes the oldest up to a head, though the bound was not reached', async () => {
    const { heads, journal, verify, change } = await scene({ count: 3 })
    await heads.sign()
    await journal.record([blocked(4)])
    await change((db) => db.deleteFrom('journal').where('id', '<=', 3).execute())
    expect((await verify()).fault).toMatchObject({
      entry: 3,
      what: expect.stringContaining('removed'),
    })
  })
})

describe('somebody with the database, after a person was forgotten', () => {
  /** As `person forget` erases entries, and attests it. */
  async function erased(ids: number[]) {
    const made = await scene()
    await made.change(async (db) => {
      for (const id of ids) await eraseOne(db, id)
    })
    await made.journal.record([
      { kind: 'person-forgotten', detail: { person: 'alias', entries: ids } },
    ])
    await made.heads.sign()
    expect(await made.verify()).toMatchObject({ forgotten: ids.length, fault: null })
    return made
  }

  async function eraseOne(db: Kysely<Schema>, id: number, other: object = {}): Promise<void> {
    const rows = db.selectFrom('journal').selectAll().where('id', '=', id)
    const digest = contentDigest(await rows.executeTakeFirstOrThrow())
    const detail = JSON.stringify({ forgotten: 'alias' })
    const content = { user_id: null, chat_id: null, detail, salt: null, digest, ...other }
    await db.updateTable('journal').set(content).where('id', '=', id).execute()
  }

  test.each<[string, object]>([
    ['a person', { user_id: 99 }],
    ['a chat', { chat_id: 99 }],
    ['a detail', { detail: JSON.stringify({ fingerprint: 'f' }) }],
    ['a detail beside the alias', { detail: JSON.stringify({ forgotten: 'alias', by: 'f' }) }],
    ['a detail that is no JSON', { detail: '{' }],
  ])('is found where he writes %s into an erased entry', async (_what, content) => {
    const { verify, change } = await erased([3])
    await change((db) => db.updateTable('journal').set(content).where('id', '=', 3).execute())
    expect((await verify()).fault).toMatchObject({ entry: 3 })
  })

  test('is found where he has an erased entry attest what he erases', async () => {
    const { verify, change } = await erased([3])
    const detail = JSON.stringify({ person: 'alias', entries: [3, 4, 7] })
    await change(async (db) => {
      await eraseOne(db, 4)
      await eraseOne(db, 7, { detail })
    })
    expect((await verify()).fault).toMatchObject({ entry: 3 })
  })

  test('is not suspected of an erasure while the journal is read', async () => {
    const { store, journal, change } = await scene()
    let reads = 0
    const read: Store['read'] = async (query) => {
      if (++reads === 2) {
        await change((db) => eraseOne(db, 3))
        const detail = { person: 'alias', entries: [3] }
        await journal.record([{ kind: 'person-forgotten', detail }])
      }
      return await store.read(query)
    }
    const parts = { store: { read }, engine, keyring: { all: [] } }
    expect(await verifyJournal(parts, null)).toMatchObject({ forgotten: 1, fault: null })
  })

  test('is found where he makes the detail of the attesting entry unreadable', async () => {
    const { verify, change } = await erased([3])
    await change((db) =>
      db.updateTable('journal').set({ detail: '{' }).where('id', '=', 7).execute(),
    )
    expect((await verify()).fault).not.toBeNull()
  })
})

/** Words of the bot as a chat has them: under a signature of binary type (RFC 9580, 5.2.1.1). */
async function signedMessage(words: string, form: 'inline' | 'in cleartext'): Promise<string> {
  const locked = await readPrivateKey({ armoredKey: bot.locked })
  const signingKeys = await decryptKey({ privateKey: locked, passphrase: 'p' })
  const message = await createMessage({ binary: Buffer.from(words) })
  if (form === 'inline') return await sign({ message, signingKeys })
  const armoredSignature = await sign({ message, signingKeys, detached: true })
  const cleartext = await createCleartextMessage({ text: words })
  return Object.assign(cleartext, { signature: await readSignature({ armoredSignature }) }).armor()
}

describe('heads', () => {
  test.each<[TrustChange, number]>([
    [blocked(1), 1],
    [{ kind: 'key-taken', userId: 1, detail: { from: null, to: 'a', by: 'after' } }, 0],
    [{ kind: 'authority-verified', userId: 1, detail: { fingerprint: 'a', by: 'b' } }, 0],
    [{ kind: 'certification-revoked', userId: 1, detail: { fingerprint: 'a', by: 'b' } }, 0],
    [{ kind: 'subkey-stripped', userId: 1, detail: { fingerprint: 'a', subkey: 'b' } }, 0],
  ])(
    'are made soon after decisions alone, not as often as the service likes: %o',
    async (change, count) => {
      const { heads, verify } = await scene()
      heads.noted(change)
      await heads[Symbol.asyncDispose]()
      expect((await verify()).heads.signed).toBe(count)
    },
  )

  test('that nobody signed are signed with the time of now, so that he dates none back', async () => {
    const { heads, verify, change, store } = await scene()
    await heads.sign()
    await change(async (db) => {
      await blockAnother(db)
      await rechain(db, 3)
      const hash = Buffer.from(await hashUpTo(db, FAR))
      await db.updateTable('journal_heads').set({ hash, signed: null, at: 5 }).execute()
    })
    const beforeMs = Date.now()
    await heads.sign()
    const [head] = await store.read((db) => db.selectFrom('journal_heads').selectAll().execute())
    expect(head?.at).toBeGreaterThanOrEqual(beforeMs)
    expect(await verify()).toMatchObject({ heads: { signed: 1 }, fault: null })
  })

  test.each(['inline', 'in cleartext'] as const)(
    'are none that the bot signed as a message, %s',
    async (form) => {
      const { heads, verify, change, store } = await scene()
      await heads.sign()
      const head = await store.read((db) =>
        db.selectFrom('journal_heads').selectAll().executeTakeFirstOrThrow(),
      )
      const signed = await signedMessage(headText(head), form)
      await change((db) => db.updateTable('journal_heads').set({ signed }).execute())
      expect((await verify()).fault).toMatchObject({
        what: expect.stringContaining('not one that'),
      })
    },
  )

  test('that somebody puts into the database of later entries are not signed, and keep none from being signed', async () => {
    const { heads, change, store } = await scene()
    const planted = { entry: 1_000_000, hash: Buffer.alloc(32), at: 5, signed: null }
    await change((db) => db.insertInto('journal_heads').values(planted).execute())
    await heads.sign()
    const rows = await store.read((db) =>
      db.selectFrom('journal_heads').selectAll().orderBy('entry').execute(),
    )
    expect(rows.map(({ entry, signed }) => [entry, signed !== null])).toEqual([
      [6, true],
      [1_000_000, false],
    ])
  })

  test('elsewhere are not of before the oldest entry where no head is of that one', async () => {
    const { heads, verify, change } = await scene()
    await heads.sign()
    const elsewhere = await heads.last()
    await change(async (db) => {
      await db.deleteFrom('journal_heads').execute()
      await sql`UPDATE journal SET id = id + 1000000`.execute(db)
      await rechain(db, 1)
    })
    expect((await verify(elsewhere)).fault).toMatchObject({ entry: 6 })
  })
})

describe('entries of before the chain', () => {
  const before = (db: Kysely<Schema>, ids: readonly number[]) =>
    db
      .insertInto('journal')
      .values(ids.map((id) => ({ id, at: id, kind: 'blocked', user_id: id, detail: '{}' })))
      .execute()

  test('are covered by the first one that is chained', async () => {
    const { journal, heads, verify, change } = await scene({ count: 0 })
    await change((db) => before(db, [1, 2, 5]))
    await journal.record([blocked(6)])
    await heads.sign()
    expect(await verify()).toMatchObject({ entries: 4, unchained: 3, fault: null })
    await change((db) =>
      db.updateTable('journal').set({ user_id: 9 }).where('id', '=', 2).execute(),
    )
    expect((await verify()).fault).toMatchObject({ entry: 6 })
  })

  test('are read once: the start stores the hash of the last one', async () => {
    const { heads, verify, change, store } = await scene({ count: 0 })
    await change((db) => before(db, [1, 2, 3]))
    await heads.start()
    expect(await verify()).toMatchObject({ unchained: 2, fault: null })
    const computed = await store.read((db) => hashUpTo(db, 3))
    await change((db) => before(db, [4]))
    expect(await store.read((db) => hashUpTo(db, 4))).not.toEqual(computed)
  })

  test('of an older program beside this one are covered by the next that is chained', async () => {
    const { journal, verify, change } = await scene({ count: 3 })
    await change((db) => before(db, [4]))
    await journal.record([blocked(5)])
    expect(await verify()).toMatchObject({ unchained: 1, fault: null })
    await change((db) => db.deleteFrom('journal').where('id', '=', 4).execute())
    expect((await verify()).fault).toMatchObject({ entry: 5 })
  })
})

test('the oldest are removed with a head of the last of them, and the rest verifies', async () => {
  const { journal, heads, verify, change } = await scene({ count: 3 })
  await change((db) => sql`UPDATE journal SET id = id + 499990`.execute(db))
  const row = { at: 5, kind: 'blocked', user_id: 9, chat_id: null, detail: '{}' }
  await change((db) =>
    db
      .insertInto('journal')
      .values({ id: 1_000_499, ...row })
      .execute(),
  )
  await journal.record([blocked(5)])
  await change((db) => sql`UPDATE journal SET id = 1000999 WHERE id = 1000500`.execute(db))
  await journal.record([blocked(6)])
  const report = await verify()
  expect(report).toMatchObject({
    firstId: 1_000_499,
    heads: { signed: 0, unsigned: 1 },
    fault: null,
  })
  await heads.sign()
  const { fault } = await verify()
  expect(fault).toBeNull()
  await change((db) =>
    db
      .updateTable('journal_heads')
      .set({ hash: Buffer.alloc(32) })
      .where('entry', '<', 1_000_000)
      .execute(),
  )
  expect((await verify()).fault).not.toBeNull()
})
