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
import { headText, createJournalHeads } from '../../src/keys/journal-heads.ts'
import { verifyJournal, type VerifyParts } from '../../src/operators/trust/verify-journal.ts'
import { storeForFile } from '../store/support.ts'

const empty = storeForFile()
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
async function scene(
  o: { count?: number; key?: BotKey | null; store?: Store; aheadMs?: number } = {},
) {
  const { count = 6, key = bot, store, aheadMs = 0 } = o
  const kept = store ?? empty()
  if (store === undefined) {
    for (const table of ['journal', 'journal_heads'] as const) {
      await kept.write((db) => db.deleteFrom(table).execute())
    }
    // the ids begin with 1 again
    await kept.write((db) => sql`DELETE FROM sqlite_sequence`.execute(db))
  }
  const journal = new Journal(memoryOf(kept))
  const keyring = { active: (key ?? undefined) as never, all: [key ?? bot] as never }
  const parts: VerifyParts = { store: kept, engine, keyring }
  const heads = createJournalHeads({
    store: kept,
    engine,
    keyring,
    nowMs: () => Date.now() + aheadMs,
  })
  onTestFinished(() => heads[Symbol.asyncDispose]())
  for (let n = 1; n <= count; n++) await journal.record([blocked(n)])
  return {
    store: kept,
    journal,
    heads,
    verify: (given: string | null = null) => verifyJournal(parts, given),
    headOf: () => kept.read((db) => db.selectFrom('journal_heads').selectAll().executeTakeFirst()),
    change: (run: (db: Kysely<Schema>) => Promise<unknown>) => kept.write((db) => run(db)),
  }
}

/** Chains all entries from one on anew, as somebody does who has the store’s secret. */
async function rechain(db: Kysely<Schema>, fromId: number): Promise<void> {
  let hash = await hashUpTo(db, fromId - 1)
  const rows = db.selectFrom('journal').selectAll().where('id', '>=', fromId).orderBy('id')
  for (const row of await rows.execute()) {
    hash = hashAfter(hash, row)
    const { mac } = empty().rowSeal.seal('journal', { ...row, hash })
    await db.updateTable('journal').set({ hash, mac }).where('id', '=', row.id).execute()
  }
}

/** Changes an entry, as somebody does with the database. */
const set = (id: number, content: object) => (db: Kysely<Schema>) =>
  db.updateTable('journal').set(content).where('id', '=', id).execute()
const remove = (from: number, to: number) => (db: Kysely<Schema>) =>
  db.deleteFrom('journal').where('id', '>=', from).where('id', '<=', to).execute()
const FORGED = {
  at: 5,
  kind: 'blocked',
  user_id: 9,
  detail: '{}',
  hash: Buffer.alloc(32),
  place: 0,
}
const add =
  (...rows: { id: number; [column: string]: unknown }[]) =>
  (db: Kysely<Schema>) =>
    db
      .insertInto('journal')
      .values(rows.map((row) => ({ ...FORGED, ...row })))
      .execute()
async function eraseOne(db: Kysely<Schema>, id: number, other: object = {}): Promise<void> {
  const rows = db.selectFrom('journal').selectAll().where('id', '=', id)
  const digest = contentDigest(await rows.executeTakeFirstOrThrow())
  const detail = JSON.stringify({ forgotten: 'alias' })
  await set(id, { user_id: null, chat_id: null, detail, salt: null, digest, ...other })(db)
}
const blockAnother = set(3, { user_id: 99 })

describe('an unchanged journal', () => {
  test('an unchanged journal verifies, and the report has its last signed entry', async () => {
    const { heads, journal, verify } = await scene()
    await heads.sign()
    await journal.record([7, 8].map(blocked))
    expect(await verify()).toMatchObject({
      firstId: 1,
      lastId: 8,
      entries: 8,
      heads: { signed: 1, unsigned: 0 },
      lastSigned: { entry: 6, signer: bot.fingerprint },
      unsignedEntries: 2,
      fault: null,
    })
  })

  test('an empty journal verifies', async () => {
    const { heads, verify } = await scene({ count: 0 })
    await heads.sign()
    expect(await verify()).toMatchObject({ entries: 0, lastSigned: null, fault: null })
  })

  test('entries written together and one by one form the same chain', async () => {
    const { journal, verify } = await scene({ count: 2 })
    await Promise.all([journal.record([3, 4].map(blocked)), journal.record([blocked(5)])])
    await journal.record(Array.from({ length: 1200 }, (_, n) => blocked(n)))
    expect(await verify()).toMatchObject({ entries: 1205, fault: null })
  })

  test('a journal verifies by a key that signed before a rotation', async () => {
    const { heads, store } = await scene()
    await heads.sign()
    const keyring = { all: [mallory, bot] as never }
    expect(await verifyJournal({ store, engine, keyring }, null)).toMatchObject({ fault: null })
  })

  test('a journal of a bot without a key has unsigned heads', async () => {
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
})

describe('an attacker with write access to the database', () => {
  test.each<[string, number, (db: Kysely<Schema>) => Promise<unknown>]>([
    ['alters a person', 3, blockAnother],
    ['alters a kind', 3, set(3, { kind: 'accepted' })],
    ['alters a time', 3, set(3, { at: 5 })],
    ['alters a detail', 3, set(3, { detail: '{"a":1}' })],
    ['removes an entry', 4, remove(3, 3)],
    ['removes the first entries', 3, remove(1, 2)],
    [
      'exchanges two entries',
      2,
      async (db) => {
        await set(2, { id: 99 })(db)
        await set(3, { id: 2 })(db)
        await set(99, { id: 3 })(db)
      },
    ],
    [
      'inserts an entry',
      5,
      async (db) => {
        await set(6, { id: 7 })(db)
        await set(5, { id: 6 })(db)
        await add({ id: 5 })(db)
      },
    ],
    ['erases content without a later attestation', 3, (db) => eraseOne(db, 3)],
    [
      'erases content and attests the erasure',
      7,
      async (db) => {
        await eraseOne(db, 3)
        const detail = JSON.stringify({ person: 'alias', entries: [3] })
        const row = { at: 5, kind: 'person-forgotten', user_id: null, chat_id: null, detail }
        const salted = { ...row, salt: Buffer.alloc(16), digest: null }
        await add({ id: 7, ...salted, hash: hashAfter(await hashUpTo(db, FAR), salted) })(db)
      },
    ],
    ['moves a decision to the entries that others push out', 3, set(3, { place: 2 })],
  ])('a journal does not verify when an attacker %s', async (_what, entry, act) => {
    const { verify, change } = await scene()
    await change(act)
    expect((await verify()).fault?.entry).toBe(entry)
  })

  test('a journal that an attacker chained anew does not verify against its signed head', async () => {
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
  ])(
    'a chained journal does not verify when an attacker exchanges %s of a head',
    async (_what, other) => {
      const { heads, verify, change, headOf } = await scene()
      await heads.sign()
      const signed = (await headOf())?.signed ?? ''
      await change(async (db) => {
        await blockAnother(db)
        await rechain(db, 3)
        const hash = Buffer.from(await hashUpTo(db, FAR))
        await db.updateTable('journal_heads').set(other({ signed, hash })).execute()
      })
      expect((await verify()).fault?.entry).toBe(6)
    },
  )

  test('a journal does not verify when an attacker signs a head with another key', async () => {
    const { store, verify } = await scene()
    const { heads } = await scene({ store, count: 0, key: mallory })
    await heads.sign()
    expect((await verify()).fault).toMatchObject({
      entry: 6,
      what: expect.stringContaining('not one that a key'),
    })
  })

  test('a truncated journal does not verify by its head, and without heads by an external one', async () => {
    const { heads, verify, change } = await scene()
    await heads.sign()
    const elsewhere = await heads.last()
    await change(remove(5, FAR))
    expect((await verify()).fault).toMatchObject({
      entry: 6,
      what: expect.stringContaining('after 4 were cut off'),
    })
    await change((db) => db.deleteFrom('journal_heads').execute())
    expect(await verify()).toMatchObject({ fault: null, given: 'none' })
    expect((await verify(elsewhere)).fault).toMatchObject({ entry: 6 })
  })

  test('an exchanged journal does not verify by an external head', async () => {
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

  test('a journal does not verify when its oldest entries were removed below the bound', async () => {
    const { heads, journal, verify, change } = await scene({ count: 3 })
    await heads.sign()
    await journal.record([blocked(4)])
    await change(remove(1, 3))
    expect((await verify()).fault).toMatchObject({
      entry: 3,
      what: expect.stringContaining('removed'),
    })
  })
})

describe('an attacker with write access after a person was forgotten', () => {
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

  test.each<[string, object]>([
    ['a person', { user_id: 99 }],
    ['a chat', { chat_id: 99 }],
    ['a detail', { detail: JSON.stringify({ fingerprint: 'f' }) }],
    ['a detail beside the alias', { detail: JSON.stringify({ forgotten: 'alias', by: 'f' }) }],
    ['a detail that is no JSON', { detail: '{' }],
  ])(
    'a journal does not verify when an attacker writes %s into an erased entry',
    async (_what, content) => {
      const { verify, change } = await erased([3])
      await change(set(3, content))
      expect((await verify()).fault).toMatchObject({ entry: 3 })
    },
  )

  test('a journal does not verify when an erased entry attests another erasure', async () => {
    const { verify, change } = await erased([3])
    const detail = JSON.stringify({ person: 'alias', entries: [3, 4, 7] })
    await change(async (db) => {
      await eraseOne(db, 4)
      await eraseOne(db, 7, { detail })
    })
    expect((await verify()).fault).toMatchObject({ entry: 3 })
  })

  test('an attestation erases no entry that names nobody', async () => {
    const { journal, verify, change } = await scene({ count: 2 })
    await journal.record([{ kind: 'client-added', detail: { client: 'c' } }])
    await change((db) => eraseOne(db, 3))
    const detail = { person: 'alias', entries: [3] }
    await journal.record([{ kind: 'person-forgotten', detail }])
    expect((await verify()).fault).toMatchObject({ entry: 3 })
  })

  test('an erasure during the verification of a journal is no fault', async () => {
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
    const { rowSeal } = store
    const parts = { store: { read, rowSeal }, engine, keyring: { all: [] } }
    expect(await verifyJournal(parts, null)).toMatchObject({ forgotten: 1, fault: null })
  })

  test('a journal does not verify when the detail of the attesting entry is unreadable', async () => {
    const { verify, change } = await erased([3])
    await change(set(7, { detail: '{' }))
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

describe('heads of the journal', () => {
  test.each<[TrustChange, number]>([
    [blocked(1), 1],
    [{ kind: 'key-taken', userId: 1, detail: { from: null, to: 'a', by: 'after' } }, 0],
    [{ kind: 'authority-verified', userId: 1, detail: { fingerprint: 'a', by: 'b' } }, 0],
    [{ kind: 'certification-revoked', userId: 1, detail: { fingerprint: 'a', by: 'b' } }, 0],
    [{ kind: 'subkey-stripped', userId: 1, detail: { fingerprint: 'a', subkey: 'b' } }, 0],
  ])(
    '`noted` signs a head soon for a decision, and not for a change by the service: %o (%i heads)',
    async (change, count) => {
      const { heads, verify } = await scene()
      heads.noted(change)
      await heads[Symbol.asyncDispose]()
      expect((await verify()).heads.signed).toBe(count)
    },
  )

  test('an unsigned head is signed with the current time', async () => {
    const { heads, verify, change, headOf } = await scene()
    await heads.sign()
    await change(async (db) => {
      await blockAnother(db)
      await rechain(db, 3)
      const hash = Buffer.from(await hashUpTo(db, FAR))
      await db.updateTable('journal_heads').set({ hash, signed: null, at: 5 }).execute()
    })
    const beforeMs = Date.now()
    await heads.sign()
    expect((await headOf())?.at).toBeGreaterThanOrEqual(beforeMs)
    expect(await verify()).toMatchObject({ heads: { signed: 1 }, fault: null })
  })

  test('a head that was signed by a clock two days ahead verifies', async () => {
    const { heads, verify } = await scene({ aheadMs: 172_800_000 })
    await heads.sign()
    expect(await verify()).toMatchObject({ heads: { signed: 1 }, fault: null })
  })

  test.each(['inline', 'in cleartext'] as const)(
    'a head that the bot signed as a message is rejected, %s',
    async (form) => {
      const { heads, verify, change, headOf } = await scene()
      await heads.sign()
      const signed = await signedMessage(headText((await headOf())!), form)
      await change((db) => db.updateTable('journal_heads').set({ signed }).execute())
      expect((await verify()).fault).toMatchObject({
        what: expect.stringContaining('not one that'),
      })
    },
  )

  test('a planted head of a later entry is not signed, and blocks no other', async () => {
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

  test('an external head of an entry before the oldest one is a fault', async () => {
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

test('the oldest entries are removed, but decisions and first changes stay, and the rest verifies', async () => {
  const { journal, heads, verify, change } = await scene({ count: 2 })
  const detail = { from: 'f', standing: 'seen' }
  const withdrawn: TrustChange = { kind: 'key-withdrawn', userId: 7, detail }
  for (const _ of [1, 2]) await journal.record([withdrawn])
  await heads.sign()
  const elsewhere = await heads.last()
  await journal.record([withdrawn])
  await change(set(5, { id: 500_999 }))
  await change((db) => db.deleteFrom('journal_heads').execute())
  await journal.record([blocked(8)])
  const all = { afterId: 0, sinceMs: 0, limit: 9 }
  expect((await journal.read(all)).map(({ id }) => id)).toEqual([1, 2, 3, 500_999, 501_000])
  await change(set(500_999, { id: 600_000 }))
  await change(set(501_000, { id: 500_999 }))
  await change(set(600_000, { id: 500_998 }))
  expect(await verify()).toMatchObject({ firstId: 1, heads: { unsigned: 1 }, fault: null })
  await heads.sign()
  expect(await verify()).toMatchObject({ heads: { signed: 2 }, fault: null })
  expect((await verify(elsewhere)).given).toBe('removed-since')
  await change(set(2, { user_id: 9 }))
  expect((await verify()).fault).toMatchObject({ entry: 2 })
  await change(set(2, { user_id: 2 }))
  await change(remove(2, 2))
  expect((await verify()).fault).toMatchObject({ what: expect.stringContaining('is gone') })
  await change((db) => db.updateTable('journal_heads').set({ kept: null }).execute())
  expect((await verify()).fault).not.toBeNull()
})
