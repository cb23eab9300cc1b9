/** A person who is forgotten: what goes, and what survives under keyed hashes. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { KeyListHistory } from '../../src/kernel/people/key-list-history.ts'
import { Journal } from '../../src/kernel/people/journal.ts'
import { People } from '../../src/kernel/people/people.ts'
import { Trust } from '../../src/kernel/people/trust.ts'
import type { TrustPolicy } from '../../src/kernel/index.ts'
import { CARRIED_TABLES } from '../../src/store/carry.ts'
import { memoryOf } from '../../src/store/memory.ts'
import type { Store } from '../../src/store/store.ts'
import { describeStays, Forgotten } from '../../src/trust/forgotten.ts'
import { verifyJournal } from '../../src/trust/verify-journal.ts'
import { agreeingClocks } from '../support/judging-clock.ts'
import { open, temporary } from '../store/support.ts'

const ID = 471_108_150
const OTHER = 5
const HANDLE = 'alice_of_the_hill'
const [MINE, FORMER, THEIRS, NEXT] = ['a1', 'b2', 'c3', 'd4'].map((two) => two.repeat(20)) as [
  string,
  string,
  string,
  string,
]
const at = { at: 10 }

/** A row about the person in every table that has any. */
async function fill(store: Store): Promise<void> {
  await store.write(async (db) => {
    const chat = { kind: 'private', latched_at: 10, refused_at: null, lifted_at: null }
    await db
      .insertInto('chats')
      .values({ id: 77_001, person_id: ID, ...chat })
      .execute()
    await db
      .insertInto('people')
      .values({ user_id: ID, signed_at: 10, signed_files_at: null })
      .execute()
    await db.insertInto('names').values({ user_id: ID, username: HANDLE }).execute()
    const copy = { revoked_armored: null, copy: `copy of ${HANDLE}`, copy_digest: 'x' }
    await db
      .insertInto('certificates')
      .values({ fingerprint: MINE, owner: ID, ...copy })
      .execute()
    await db
      .insertInto('certificates')
      .values({ fingerprint: THEIRS, owner: null, ...copy, copy: 'other' })
      .execute()
    await db
      .insertInto('seen')
      .values({
        digest: Buffer.from('d'),
        kind: 'data',
        chat_id: 77_001,
        message_id: 2,
        user_id: ID,
        seen_at: 10,
        media_id: null,
        update_id: 3,
        dated_at: 9,
      })
      .execute()
    await db
      .insertInto('encryption_keys')
      .values({ key_id: 'aaaa', user_id: ID, since: 1 })
      .execute()
    await db
      .insertInto('media')
      .values({ id: 'file', chat_id: -5, sender: String(ID), named_at: 10, digest: null })
      .execute()
    await db
      .insertInto('pins')
      .values({
        user_id: ID,
        fingerprint: MINE,
        since: 10,
        standing: 'seen',
        listed: MINE,
        listed_at: 10,
        former: FORMER,
        former_at: 9,
      })
      .execute()
    await db
      .insertInto('pins')
      .values({
        user_id: OTHER,
        fingerprint: THEIRS,
        since: 10,
        standing: 'seen',
        listed: THEIRS,
        listed_at: 10,
        former: null,
        former_at: null,
      })
      .execute()
    await db
      .insertInto('key_changes')
      .values({ user_id: ID, before: FORMER, now: MINE, message: null, send: null })
      .execute()
    const list = JSON.stringify([
      [OTHER, THEIRS],
      [ID, MINE],
    ])
    await db
      .insertInto('lists')
      .values({
        chat_id: -5,
        people: list,
        ever: JSON.stringify([
          [ID, FORMER, 1],
          [OTHER, THEIRS, 0],
        ]),
      })
      .execute()
    const outcome = {
      ...at,
      chat_id: -5,
      message_id: 2,
      verdict: 'verified',
      reason: null,
      delivered: 1,
      opened_with: null,
    }
    await db
      .insertInto('outcomes')
      .values({ update_id: 3, user_id: ID, signer: MINE, ...outcome })
      .execute()
    const skipped = JSON.stringify([
      { userId: ID, reason: 'blocked' },
      { userId: OTHER, reason: 'blocked' },
    ])
    await db
      .insertInto('sent')
      .values({ message_id: 2, ...at, chat_id: -5, recipients: 1, skipped })
      .execute()
  })
}

/** A store with the person in it, and what a sidecar holds of it in memory. */
async function scene(
  o: { store?: Store; policy?: TrustPolicy; dataDir?: string; authorities?: { id: string }[] } = {},
) {
  const { dataDir = temporary(), policy = 'first-use' } = o
  const store = o.store ?? (await open(dataDir, { passphrase: 'words', protection: 'passphrase' }))
  if (o.store === undefined) await fill(store)
  const memory = memoryOf(store)
  const journal = new Journal(memory)
  const forgotten = await Forgotten.load(store)
  const people = await People.load(memory, forgotten)
  const trust = await Trust.load({
    memory,
    journal,
    people,
    policy,
    clocks: agreeingClocks(),
    firstUse: { afterMs: null, authorities: o.authorities ?? [] },
  })
  return {
    dataDir,
    store,
    journal,
    trust,
    people,
    forgotten,
    lists: new KeyListHistory(memory, journal),
    forget: (userId = ID) => forgotten.forget(userId, { memory, journal }),
  }
}

const filesWith = (dataDir: string, word: string): string[] =>
  readdirSync(dataDir).filter((name) => readFileSync(join(dataDir, name)).includes(word))

describe('a forgotten person', () => {
  test('is in no row and no file of the store, but for the chat whose latch stays', async () => {
    const { dataDir, store, journal, forget, lists } = await scene()
    await journal.record([
      { kind: 'verified', userId: ID, detail: { fingerprint: MINE } },
      { kind: 'certificate-shared', detail: { fingerprint: FORMER, people: [1, 2], owner: null } },
      { kind: 'latch-lifted', chatId: 77_001, detail: {} },
      { kind: 'blocked', userId: OTHER, detail: {} },
    ])
    await lists.saw(-5, [{ userId: OTHER, fingerprint: THEIRS, unusable: null }])
    const words = [HANDLE, String(ID), MINE, FORMER]
    for (const word of words) expect(filesWith(dataDir, word), word).not.toEqual([])
    const report = await forget()
    expect(report).toMatchObject({
      isScrubbed: true,
      entries: 4,
      chats: [77_001],
      revoked: [],
      shared: [],
    })
    for (const word of words) expect(filesWith(dataDir, word), word).toEqual([])
    const rows = await store.read(async (db) =>
      Promise.all(
        CARRIED_TABLES.map(
          async (table) => [table, await db.selectFrom(table).selectAll().execute()] as const,
        ),
      ),
    )
    const text = JSON.stringify(rows)
    for (const word of words) expect(text).not.toContain(word)
    expect(text).toContain(THEIRS)
    const chat = rows.find(([table]) => table === 'chats')?.[1]
    expect(chat).toMatchObject([{ id: 77_001, kind: 'private', latched_at: 10, person_id: null }])
    const seen = rows.find(([table]) => table === 'seen')?.[1]
    expect(seen).toMatchObject([{ user_id: null, chat_id: 77_001 }])
    const skipped = rows.find(([table]) => table === 'sent')?.[1]
    expect(skipped).toMatchObject([
      { skipped: JSON.stringify([{ userId: OTHER, reason: 'blocked' }]) },
    ])
  })

  test('leaves a journal that still verifies, with entries that a later one attests', async () => {
    const { store, journal, forget } = await scene()
    await journal.record([
      { kind: 'verified', userId: ID, detail: { fingerprint: MINE } },
      { kind: 'blocked', userId: OTHER, detail: {} },
    ])
    const { alias } = await forget()
    const entries = await journal.read({ afterId: 0, sinceMs: 0, limit: 10 })
    expect(entries).toMatchObject([
      { id: 1, kind: 'verified', userId: null, detail: { forgotten: alias } },
      { id: 2, kind: 'blocked', userId: OTHER, detail: {} },
      { id: 3, kind: 'person-forgotten', detail: { person: alias, entries: [1] } },
    ])
    const parts = { store, engine: null as never, keyring: { all: [] } }
    expect(await verifyJournal(parts, null)).toMatchObject({ forgotten: 1, fault: null })
    const kinds = { kind: 'accepted' }
    await store.write((db) => db.updateTable('journal').set(kinds).where('id', '=', 1).execute())
    expect((await verifyJournal(parts, null)).fault).toMatchObject({ entry: 1 })
  })

  test.each([
    ['at once', false],
    ['after a restart', true],
  ])(
    'is pinned as before when seen again with the same certificate %s',
    async (_when, isRestarted) => {
      const first = await scene()
      await first.forget()
      expect(first.trust.all.map(({ userId }) => userId)).toEqual([OTHER])
      const { trust, people, journal } = isRestarted ? await scene({ store: first.store }) : first
      expect(trust.distrust(ID, NEXT, -5)).toBe('key-changed')
      await trust.saw([{ userId: ID, fingerprint: MINE }])
      expect(trust.distrust(ID, MINE, -5)).toBeNull()
      expect(people.hasSigned(ID, 'words')).toBe(true)
      expect(people.hasSigned(ID, 'file')).toBe(false)
      const kinds = (await journal.read({ afterId: 0, sinceMs: 0, limit: 10 })).map(
        ({ kind }) => kind,
      )
      expect(kinds).toEqual(['person-forgotten'])
    },
  )

  test('has a changed key when seen again with another, and none once the pinned one is back', async () => {
    const { trust, journal, forget, store } = await scene()
    await forget()
    await trust.saw([{ userId: ID, fingerprint: NEXT }])
    expect(trust.distrust(ID, NEXT, -5)).toBe('key-changed')
    const last = (await journal.read({ afterId: 0, sinceMs: 0, limit: 10 })).at(-1)
    expect(last).toMatchObject({
      kind: 'key-changed',
      userId: ID,
      detail: { from: expect.stringMatching(/^forgotten:/), to: NEXT },
    })
    const again = await scene({ store })
    expect(again.trust.distrust(ID, NEXT, -5)).toBe('key-changed')
    await again.trust.saw([{ userId: ID, fingerprint: MINE }])
    expect(again.trust.distrust(ID, MINE, -5)).toBeNull()
  })

  test.each(['blocked', 'verified'] as const)('stays %s', async (standing) => {
    const first = await scene()
    if (standing === 'blocked') await first.trust.decisions.block(ID)
    else await first.trust.decisions.verify(ID, MINE)
    await first.forget()
    const { trust } = await scene({ store: first.store, policy: 'accept' })
    await trust.saw([{ userId: ID, fingerprint: NEXT }])
    expect(trust.standingOf(ID)).toBe(standing)
    expect(trust.distrust(ID, NEXT, -5)).toBe(standing === 'blocked' ? 'blocked' : 'key-changed')
    await trust.saw([{ userId: ID, fingerprint: MINE }])
    expect(trust.distrust(ID, MINE, -5)).toBe(standing === 'blocked' ? 'blocked' : null)
  })

  test('starts over once the operator accepts them, also after a restart', async () => {
    const first = await scene()
    await first.forget()
    await first.trust.saw([{ userId: ID, fingerprint: NEXT }])
    await first.trust.decisions.accept(ID)
    for (const { people, trust } of [first, await scene({ store: first.store })]) {
      expect(people.hasSigned(ID, 'words')).toBe(false)
      expect(trust.distrust(ID, NEXT, -5)).toBeNull()
    }
  })

  test('is forgotten twice without a looser pin, whether seen in between or not', async () => {
    const { trust, forget, store } = await scene()
    await forget()
    await trust.saw([{ userId: ID, fingerprint: NEXT }])
    await forget()
    const again = await scene({ store })
    await again.trust.saw([{ userId: ID, fingerprint: NEXT }])
    expect(again.trust.distrust(ID, NEXT, -5)).toBe('key-changed')
    await again.trust.saw([{ userId: ID, fingerprint: MINE }])
    expect(again.trust.distrust(ID, MINE, -5)).toBeNull()
    expect(again.people.hasSigned(ID, 'words')).toBe(true)
  })

  test('leaves of a revoked certificate that it is revoked, and of a shared one all of it', async () => {
    const { store, forget } = await scene()
    await store.write(async (db) => {
      await db
        .updateTable('certificates')
        .set({ revoked_armored: 'revoked' })
        .where('fingerprint', '=', MINE)
        .execute()
      await db.updateTable('pins').set({ former: THEIRS }).where('user_id', '=', ID).execute()
    })
    const report = await forget()
    expect(report).toMatchObject({ revoked: [MINE], shared: [THEIRS] })
    const rows = await store.read((db) =>
      db.selectFrom('certificates').selectAll().orderBy('fingerprint').execute(),
    )
    expect(rows).toMatchObject([
      { fingerprint: MINE, owner: null, copy: null, revoked_armored: '' },
      { fingerprint: THEIRS, copy: 'other' },
    ])
    const lines = describeStays(report, {
      clients: ['reporter'],
      copies: ['postern.v16.db'],
      isShared: true,
    })
    expect(lines.join('\n')).toMatch(
      /a1a1.*revoked[^]*c3c3.*others[^]*reporter[^]*postern\.v16\.db/,
    )
  })
})

describe('what an authority certified as a forgotten person’s', () => {
  const CORP = { id: 'corp ff user-id@corp.example' }
  const vouched = { fingerprint: NEXT, by: CORP.id, madeMs: 1, untilMs: Number.MAX_SAFE_INTEGER }
  const evidence = { vouched, revokedBy: [], follows: null, revocations: [] }

  test('counts under every policy when they are seen again, also after a restart', async () => {
    const first = await scene({ authorities: [CORP] })
    await first.trust.saw([{ userId: ID, fingerprint: NEXT, evidence }])
    expect(first.trust.standingOf(ID)).toBe('verified')
    await first.forget()
    const text = await first.store.read((db) => db.selectFrom('forgotten').selectAll().execute())
    expect(JSON.stringify(text)).not.toContain(NEXT)
    const { trust } = await scene({ store: first.store, policy: 'accept', authorities: [CORP] })
    // the certificate that was seen first, and certified by nobody
    await trust.saw([{ userId: ID, fingerprint: MINE }])
    expect(trust.distrust(ID, MINE, -5)).toBe('key-changed')
    await trust.saw([{ userId: ID, fingerprint: NEXT }])
    expect(trust.distrust(ID, NEXT, -5)).toBeNull()
    expect(trust.standingOf(ID)).toBe('verified')
    const without = await scene({ store: first.store })
    expect(without.trust.distrust(ID, MINE, -5)).toBeNull()
  })

  test('leaves no copy of a certificate with its certifications, and that one is revoked stays', async () => {
    const { store, forget } = await scene()
    const name = `${MINE} ${'f'.repeat(40)}`
    await store.write(async (db) => {
      const copy = { owner: null, copy: null, copy_digest: null }
      const row = { fingerprint: name, revoked_armored: HANDLE, ...copy }
      await db.insertInto('certificates').values(row).execute()
    })
    await forget()
    const rows = await store.read((db) => db.selectFrom('certificates').selectAll().execute())
    expect(rows.find(({ fingerprint }) => fingerprint === name)).toMatchObject({
      revoked_armored: '',
    })
  })
})

test('no copy stays of certificates that the person had before the former one', async () => {
  const { store, journal, forget } = await scene()
  const detail = { from: NEXT, to: FORMER, standing: 'seen' }
  await journal.record([{ kind: 'key-changed', userId: ID, detail }])
  await store.write(async (db) => {
    const copy = { owner: null, revoked_armored: null, copy: HANDLE, copy_digest: 'x' }
    await db
      .insertInto('certificates')
      .values({ fingerprint: NEXT, ...copy })
      .execute()
  })
  await forget()
  const rows = await store.read((db) => db.selectFrom('certificates').select('copy').execute())
  expect(rows).toEqual([{ copy: 'other' }])
})

test('somebody who is listed with another’s certificate takes nothing with them of what is theirs', async () => {
  const { store, journal, trust, forget } = await scene()
  await trust.decisions.verify(OTHER, THEIRS)
  await trust.saw([{ userId: ID, fingerprint: THEIRS }])
  const outcome = { chat_id: -5, message_id: 3, verdict: 'verified', reason: null, delivered: 1 }
  await store.write((db) =>
    db
      .insertInto('outcomes')
      .values({
        update_id: 9,
        user_id: OTHER,
        signer: THEIRS,
        opened_with: null,
        ...at,
        ...outcome,
      })
      .execute(),
  )
  await forget()
  const entries = await journal.read({ afterId: 0, sinceMs: 0, limit: 10 })
  expect(entries[0]).toMatchObject({ kind: 'verified', userId: OTHER })
  const outcomes = await store.read((db) => db.selectFrom('outcomes').selectAll().execute())
  expect(outcomes).toMatchObject([{ user_id: OTHER }])
})

test('somebody of whom nothing is known is not forgotten', async () => {
  const { forget, journal } = await scene()
  await expect(forget(12)).rejects.toMatchObject({
    code: 'refused',
    message: expect.stringContaining('nothing is known'),
  })
  expect(await journal.read({ afterId: 0, sinceMs: 0, limit: 10 })).toEqual([])
})

test('the alias of a person is another in another store', async () => {
  const [one, other] = [await scene(), await scene()]
  const [first, second] = [await one.forget(), await other.forget()]
  expect(first.alias).toMatch(/^[0-9a-f]{32}$/)
  expect(second.alias).not.toBe(first.alias)
})
