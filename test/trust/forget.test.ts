/** A person who is forgotten: what goes, and what survives under keyed hashes. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { KeyListHistory } from '../../src/kernel/people/key-list-history.ts'
import { Journal } from '../../src/kernel/people/journal.ts'
import { People } from '../../src/kernel/people/people.ts'
import { Trust } from '../../src/kernel/people/trust.ts'
import type { TrustPolicy } from '../../src/kernel/index.ts'
import { CARRIED_TABLES } from '../../src/store/carry.ts'
import { memoryOf } from '../../src/store/memory.ts'
import { changeRows, Rows, upsert } from '../../src/store/records/rows.ts'
import type { Store } from '../../src/store/store.ts'
import { describeStays, Forgotten } from '../../src/store/forgotten.ts'
import { verifyJournal } from '../../src/operators/trust/verify-journal.ts'
import { agreeingClocks } from '../support/judging-clock.ts'
import { open, temporary } from '../store/support.ts'

const ID = 471_108_150
const OTHER = 5
const HANDLE = 'alice_of_the_hill'
const [MINE, FORMER] = ['a1'.repeat(20), 'b2'.repeat(20)]
const [THEIRS, NEXT] = ['c3'.repeat(20), 'd4'.repeat(20)]

const SEEN = { since: 10, standing: 'seen', listed_at: 10 }
const COPY = { revoked_armored: null, copy_digest: 'x' }
const CHAT = { kind: 'private', latched_at: 10, refused_at: null, lifted_at: null }
const SIGHTING = {
  kind: 'data',
  message_id: 2,
  seen_at: 10,
  media_id: null,
  update_id: 3,
  dated_at: 9,
}
const OUTCOME = {
  at: 10,
  chat_id: -5,
  message_id: 2,
  verdict: 'verified',
  reason: null,
  delivered: 1,
}

/** A row about the person in every table that has any, and of another one in some. */
const ROWS: Record<string, object[]> = {
  chats: [{ id: 77_001, person_id: ID, ...CHAT }],
  people: [{ user_id: ID, signed_at: 10, signed_files_at: null }],
  names: [{ user_id: ID, username: HANDLE }],
  certificates: [
    { fingerprint: MINE, owner: ID, ...COPY, copy: `copy of ${HANDLE}` },
    { fingerprint: THEIRS, owner: null, ...COPY, copy: 'other' },
  ],
  seen: [{ digest: Buffer.from('d'), chat_id: 77_001, user_id: ID, ...SIGHTING }],
  encryption_keys: [{ key_id: 'aaaa', user_id: ID, since: 1 }],
  media: [{ id: 'file', chat_id: -5, sender: String(ID), named_at: 10, digest: null }],
  pins: [
    { user_id: ID, fingerprint: MINE, listed: MINE, former: FORMER, former_at: 9, ...SEEN },
    { user_id: OTHER, fingerprint: THEIRS, listed: THEIRS, former: null, former_at: null, ...SEEN },
  ],
  key_changes: [{ user_id: ID, before: FORMER, now: MINE, message: null, send: null }],
  lists: [
    {
      chat_id: -5,
      people: JSON.stringify([
        [OTHER, THEIRS],
        [ID, MINE],
      ]),
      ever: JSON.stringify([
        [ID, FORMER, 1],
        [OTHER, THEIRS, 0],
      ]),
    },
  ],
  outcomes: [{ update_id: 3, user_id: ID, signer: MINE, opened_with: null, ...OUTCOME }],
  sent: [
    {
      message_id: 2,
      at: 10,
      chat_id: -5,
      recipients: 1,
      skipped: JSON.stringify([ID, OTHER].map((userId) => ({ userId, reason: 'blocked' }))),
    },
  ],
}

const MORE: Record<string, object> = {
  chats: {},
  certificates: {},
  encryption_keys: {},
  media: {},
  pins: { former_pinned: 0, vouched: null },
}
const sealed = (store: Store, table: string, row: object): object =>
  table in MORE ? store.rowSeal.seal(table as 'pins', { ...MORE[table], ...row } as never) : row

const insert = (store: Store, table: string, ...rows: object[]): Promise<unknown> =>
  store.write((db) =>
    db
      .insertInto(table as 'people')
      .values(rows.map((row) => sealed(store, table, row)) as never)
      .execute(),
  )

/** A store with the person in it, and what a sidecar holds of it in memory. */
async function scene(
  o: { store?: Store; policy?: TrustPolicy; dataDir?: string; authorities?: { id: string }[] } = {},
) {
  const { dataDir = temporary(), policy = 'first-use' } = o
  const store = o.store ?? (await open(dataDir, { passphrase: 'words', protection: 'passphrase' }))
  if (o.store === undefined) {
    for (const [table, rows] of Object.entries(ROWS)) await insert(store, table, ...rows)
  }
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
    entries: () => journal.read({ afterId: 0, sinceMs: 0, limit: 10 }),
    lists: new KeyListHistory(memory, journal),
    forget: (userId = ID) => forgotten.forget(userId, { memory, journal }),
  }
}

const filesWith = (dataDir: string, word: string): string[] =>
  readdirSync(dataDir).filter((name) => readFileSync(join(dataDir, name)).includes(word))

test('a forgotten person is in no row and no file of the store, and the chat’s latch stays', async () => {
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

test('a journal with a forgotten person verifies, and a later entry attests the erased ones', async () => {
  const { store, journal, entries, forget } = await scene()
  await journal.record([
    { kind: 'verified', userId: ID, detail: { fingerprint: MINE } },
    { kind: 'blocked', userId: OTHER, detail: {} },
  ])
  const { alias } = await forget()
  const all = await entries()
  expect(all).toMatchObject([
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

test('no entry of another person is erased, although it names a certificate or chat of the forgotten one', async () => {
  const { journal, entries, forget } = await scene()
  await journal.record([
    { kind: 'verified', userId: OTHER, detail: { fingerprint: MINE } },
    { kind: 'key-changed', userId: OTHER, detail: { from: MINE, to: FORMER, standing: 'seen' } },
    { kind: 'stranger', userId: OTHER, chatId: 77_001, detail: {} },
    { kind: 'verified', userId: ID, detail: { fingerprint: MINE } },
  ])
  const before = await entries()
  const report = await forget()
  expect([report.entries, report.shared.toSorted()]).toEqual([1, [MINE, FORMER].toSorted()])
  expect((await entries()).slice(0, 3)).toEqual(before.slice(0, 3))
})

test.each([
  ['at once', false],
  ['after a restart', true],
])(
  'a forgotten person who is listed with the same certificate %s is pinned as before',
  async (_when, isRestarted) => {
    const first = await scene()
    await first.forget()
    expect(first.trust.all.map(({ userId }) => userId)).toEqual([OTHER])
    const { trust, people, entries } = isRestarted ? await scene({ store: first.store }) : first
    expect(trust.distrust(ID, NEXT, -5)).toBe('key-changed')
    await trust.saw([{ userId: ID, fingerprint: MINE }])
    expect(trust.distrust(ID, MINE, -5)).toBeNull()
    expect(people.hasSigned(ID, 'words')).toBe(true)
    expect(people.hasSigned(ID, 'file')).toBe(false)
    const kinds = (await entries()).map(({ kind }) => kind)
    expect(kinds).toEqual(['person-forgotten'])
  },
)

test('a forgotten person who is listed with another certificate has a changed key', async () => {
  const { trust, entries, forget, store } = await scene()
  await forget()
  await trust.saw([{ userId: ID, fingerprint: NEXT }])
  expect(trust.distrust(ID, NEXT, -5)).toBe('key-changed')
  const last = (await entries()).at(-1)
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

test.each(['blocked', 'verified'] as const)('a forgotten person stays %s', async (standing) => {
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

test('`trust accept` ends the memory of a forgotten person, also after a restart', async () => {
  const first = await scene()
  await first.forget()
  await first.trust.saw([{ userId: ID, fingerprint: NEXT }])
  await first.trust.decisions.accept(ID)
  for (const { people, trust } of [first, await scene({ store: first.store })]) {
    expect(people.hasSigned(ID, 'words')).toBe(false)
    expect(trust.distrust(ID, NEXT, -5)).toBeNull()
  }
})

test('a person who is forgotten twice keeps the same pin, listed in between or not', async () => {
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

test('a forgotten person’s revoked certificate stays revoked, and a shared one stays whole', async () => {
  const { store, forget } = await scene()
  await store.write(async (db) => {
    const known = new Rows(db, store.rowSeal)
    await known.change('certificates', { fingerprint: MINE }, { revoked_armored: 'revoked' })
    await changeRows(db, 'pins', { user_id: ID }, { former: THEIRS })
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
  expect(lines.join('\n')).toMatch(/a1a1.*revoked[^]*c3c3.*others[^]*reporter[^]*postern\.v16\.db/)
})

const CORP = { id: 'corp ff user-id@corp.example' }
const vouched = { fingerprint: NEXT, by: CORP.id, madeMs: 1, untilMs: Number.MAX_SAFE_INTEGER }
const evidence = { vouched, withdrawnBy: [], follows: null, revocations: [] }

test('a forgotten person’s certified certificate counts when listed again, under every policy', async () => {
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

test('a forgotten person’s certified copy is erased, a forged one too, and its revocation stays', async () => {
  const { store, forget } = await scene()
  const [name, forged] = [`${MINE} ${'f'.repeat(40)}`, `${MINE} ${'e'.repeat(40)}`]
  const row = { owner: OTHER, copy: null, copy_digest: null, revoked_armored: HANDLE }
  await insert(store, 'certificates', { ...row, fingerprint: name })
  await store.write((db) =>
    upsert(db, 'certificates', 'fingerprint', { ...row, fingerprint: forged }),
  )
  await forget()
  const rows = await store.read((db) => db.selectFrom('certificates').selectAll().execute())
  const left = Object.fromEntries(
    rows.map((one) => [one.fingerprint, [one.owner, one.revoked_armored]]),
  )
  expect([left[name], left[forged]]).toEqual([
    [OTHER, ''],
    [null, ''],
  ])
})

test('a forgotten person’s older certificates are erased too', async () => {
  const { store, journal, forget } = await scene()
  const detail = { from: NEXT, to: FORMER, standing: 'seen' }
  await journal.record([{ kind: 'key-changed', userId: ID, detail }])
  await insert(store, 'certificates', { fingerprint: NEXT, owner: null, ...COPY, copy: HANDLE })
  await forget()
  const rows = await store.read((db) => db.selectFrom('certificates').select('copy').execute())
  expect(rows).toEqual([{ copy: 'other' }])
})

test('a person listed with another’s certificate is forgotten without the other’s records', async () => {
  const { store, entries, trust, forget } = await scene()
  await trust.decisions.verify(OTHER, THEIRS)
  await trust.saw([{ userId: ID, fingerprint: THEIRS }])
  const outcome = { update_id: 9, user_id: OTHER, signer: THEIRS, opened_with: null, ...OUTCOME }
  await insert(store, 'outcomes', outcome)
  await forget()
  const all = await entries()
  expect(all[0]).toMatchObject({ kind: 'verified', userId: OTHER })
  const outcomes = await store.read((db) => db.selectFrom('outcomes').selectAll().execute())
  expect(outcomes).toMatchObject([{ user_id: OTHER }])
})

test('an unknown person cannot be forgotten', async () => {
  const { forget, entries } = await scene()
  await expect(forget(12)).rejects.toMatchObject({
    code: 'refused',
    message: expect.stringContaining('nothing is known'),
  })
  expect(await entries()).toEqual([])
})

test('a forgotten person has another alias in another store', async () => {
  const [one, other] = [await scene(), await scene()]
  const [first, second] = [await one.forget(), await other.forget()]
  expect(first.alias).toMatch(/^[0-9a-f]{32}$/)
  expect(second.alias).not.toBe(first.alias)
})
