/** Rows that grant or loosen: what somebody gains who writes the database and has no passphrase. */
import { hash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { sql, type Kysely } from 'kysely'
import { expect, test } from 'vitest'
import { OvertakenError } from '../../src/errors.ts'
import type { Client } from '../../src/clients/records.ts'
import { Journal } from '../../src/kernel/people/journal.ts'
import { verifyJournal } from '../../src/operators/trust/verify-journal.ts'
import { OutboxEntries } from '../../src/outbox/entries.ts'
import { CARRIED_TABLES } from '../../src/store/carry.ts'
import { DATABASE } from '../../src/store/inspect.ts'
import { memoryOf, type StoreRecords } from '../../src/store/memory.ts'
import { insertNew } from '../../src/store/records/rows.ts'
import { SEALED_COLUMNS } from '../../src/store/row-seal.ts'
import type { Schema } from '../../src/store/schema.ts'
import type { Store } from '../../src/store/store.ts'
import { Forgotten } from '../../src/store/forgotten.ts'
import { Registration } from '../../src/updates/registration.ts'
import { entryOf } from '../outbox/support.ts'
import { NO_APPROVALS } from '../support/approvals.ts'
import { describeFile, execute, newStore, open, temporary, testOfFile } from './support.ts'

const passphrase = 'words'
const CLIENT: Client = {
  name: 'watch',
  credential: 'c'.repeat(64),
  may: ['read'],
  chats: [5],
  persons: [],
  rate: null,
  createdAtMs: 1,
} as unknown as Client
const PIN = {
  userId: 7,
  fingerprint: 'a'.repeat(40),
  sinceMs: 1,
  standing: 'blocked' as const,
  listed: null,
  listedAtMs: null,
}

const FILE = { mediaId: 'file', chatId: 5, userId: 7 }
const ENTRY = { kind: 'blocked', userId: 7, chatId: null, detail: {}, isDecision: true } as const

const records =
  (read: (of: StoreRecords) => Promise<unknown>) =>
  (store: Store): Promise<unknown> =>
    memoryOf(store).read(read)

/** What is read of each table, and how a liar changes its rows beside each column; `$` is the table. */
const FORGED: Record<string, { read: (store: Store) => Promise<unknown>; by: string[] }> = {
  clients: {
    read: records(async ({ clients }) => (await clients.of(null)).map(({ name }) => name)),
    by: [
      `INSERT INTO $ (name, credential, allows, created_at) VALUES ('m', 'd', '{"may":["read"],"chats":["all"]}', 1)`,
      `INSERT INTO $ SELECT 'm', 'd', allows, created_at, mac FROM $`,
    ],
  },
  chats: {
    read: records(async ({ chats }) => (await chats.of(null)).map(({ id }) => id)),
    by: [
      'UPDATE $ SET latched_at = NULL',
      `INSERT INTO $ (id, kind, person_id) VALUES (6, 'private', 7)`,
    ],
  },
  pins: {
    read: records(async ({ pins }) => (await pins.of(null)).map(({ standing }) => standing)),
    by: [`INSERT INTO $ (user_id, standing, since) VALUES (9, 'verified', 1)`],
  },
  forgotten: {
    read: async (store) => [(await Forgotten.load(store)).pinOf(8)].flatMap((pin) => pin ?? []),
    by: [
      'UPDATE $ SET pin = NULL',
      `INSERT INTO $ (person, standing, since) VALUES ('b', 'verified', 1)`,
    ],
  },
  certificates: {
    read: records(async ({ certificates }) => {
      const owned = await certificates.owners(null)
      return (await certificates.copyOf('a')) === 'copy' ? owned : []
    }),
    by: ['UPDATE $ SET copy = NULL', `INSERT INTO $ (fingerprint, owner) VALUES ('b', 9)`],
  },
  trust_policies: {
    read: records(({ policies }) => policies.of(null)),
    by: [`INSERT INTO $ (chat_id, policy) VALUES (0, 'accept')`],
  },
  flags: {
    read: records(({ chats }) => chats.isPrivateReadable()),
    by: [`INSERT INTO $ (name, value) VALUES ('private_readable_since', '1')`],
  },
  outbox: {
    read: async (store) => (await OutboxEntries.load(store, NO_APPROVALS)).all.map(({ id }) => id),
    by: [
      `INSERT INTO $ (id, state, chat_id, is_for_sealed, created_at, due_at, bytes, heard, call)
         VALUES ('b', 'waiting', 5, 0, 1, 1, 1, 0, 'none')`,
      `UPDATE $ SET approval = NULL, state = 'waiting'`,
      'UPDATE $ SET client = NULL, credential = NULL',
    ],
  },
  media: {
    read: records(async ({ media }) => {
      const opened = await media.openedAs('file')
      const place = await media.placeOf('file')
      return [...opened.map(({ digest }) => Buffer.from(digest).toString()), place ?? []].flat()
    }),
    by: [
      'UPDATE $ SET digest = NULL',
      `INSERT INTO $ (id, chat_id, sender, named_at) VALUES ('file', 9, '7', 0)`,
    ],
  },
  encryption_keys: {
    read: records(({ encryptionKeys }) => encryptionKeys.of(['k'])),
    by: [`INSERT INTO $ (key_id, user_id, since) VALUES ('k', 9, 1)`],
  },
  presses: {
    read: records(({ presses }) => presses.chatsOf('press', 1)),
    by: [`INSERT INTO $ (id, chat_id, seen_at) VALUES ('press', -9, 1)`],
  },
  client_rates: {
    read: records(async ({ clients }) => [await clients.nextAtMs('watch')].filter((at) => at > 0)),
    by: [],
  },
  own_keys: {
    read: records(async ({ ownKeys }) => (await ownKeys.of(null)).map((key) => key.certificate)),
    by: [
      `UPDATE $ SET state = 'active', retired_at = NULL`,
      `INSERT INTO $ (fingerprint, state, created_at, certificate, locked)
         VALUES ('b', 'active', 2, 'theirs', 'theirs')`,
    ],
  },
}

const digestOf = (copy: string): string => hash('sha256', copy, 'base64')

/** A store with a sealed row of each kind. */
async function scene() {
  const { dataDir, store } = await newStore({ protection: 'none' })
  const memory = memoryOf(store)
  await memory.write(async (of) => {
    await of.clients.save(CLIENT)
    await of.chats.save([
      { id: 5, kind: 'private', personId: 7, latchedAtMs: 1, refusedAtMs: null },
    ])
    await of.pins.save([PIN, { ...PIN, userId: 8 }])
    await of.certificates.addCopies([
      { fingerprint: 'a', copy: 'copy', copyDigest: digestOf('copy') },
    ])
    await of.certificates.setOwner('a', 7)
    await of.policies.set(5, 'pinned')
    await of.encryptionKeys.add([{ keyId: 'k', userId: 7, sinceMs: 1 }])
    await of.presses.add([{ id: 'press', chatId: 5 }], 1)
    await of.clients.setNextAt('watch', 5, 0)
    await of.media.name([FILE])
    await of.media.setOpened(FILE, Buffer.from('digest'))
    const key = { fingerprint: 'a', createdAtMs: 1, certificate: 'ours', locked: 'ours' }
    await of.ownKeys.add(key, 1)
  })
  await (await Forgotten.load(store)).forget(8, { memory, journal: new Journal(memory) })
  const outbox = await OutboxEntries.load(store, NO_APPROVALS)
  const { id } = await outbox.add(
    entryOf({ client: 'watch', credential: CLIENT.credential }),
    Buffer.from('{}'),
  )
  const approval = { code: 'c', requests: [], decision: null } as never
  await outbox.change(id, () => ({ state: 'asked', approval }))
  let current: Store = store
  return {
    file: join(dataDir, DATABASE),
    again: async (o: { passphrase?: string } = {}) => {
      await current[Symbol.asyncDispose]()
      current = await open(dataDir, { mode: 'existing', ...o })
      return current
    },
    close: () => current[Symbol.asyncDispose](),
  }
}

/** Columns that decide nothing, beside the keys. */
const UNCOVERED =
  `mac locked opened_messages opened_media last_opened_at refused_at lifted_at number
 bytes heard signed_at signed_files_at`.split(/\s+/)

/** A value that a column may have, in SQL. */
function otherThan(table: string, column: string, row: object): string {
  const known: Record<string, string> = { standing: 'verified', policy: 'accept', call: 'open' }
  const states: Record<string, string> = { outbox: 'waiting', own_keys: 'pending' }
  const text = column === 'state' ? states[table] : known[column]
  const value = (row as Record<string, unknown>)[column]
  if (value instanceof Uint8Array) return 'mac'
  return typeof value === 'string' ? `'${text ?? 'other'}'` : '99'
}

test.each(Object.entries(FORGED))(
  'a forged row of `%s` is not there, and is reported',
  async (table, { read, by }) => {
    const { again } = await scene()
    const store = await again()
    const all = (db: Kysely<Schema>) =>
      db
        .selectFrom(table as 'flags')
        .selectAll()
        .execute()
    const rows = await store.read(all)
    const changes = rows.flatMap((row) => {
      const covered = Object.keys(row)
        .slice(1)
        .filter((column) => !UNCOVERED.includes(column))
      return covered.map((column) => `UPDATE $ SET "${column}" = ${otherThan(table, column, row)}`)
    })
    for (const statement of [...changes, ...by]) {
      const before = await again()
      const honest = await read(before)
      await before.write((db) => {
        const { sql: text } = db.selectFrom(table as 'flags').compile()
        return sql.raw(statement.replaceAll('$', text.replace('select from ', ''))).execute(db)
      })
      const later = await again()
      const isInsert = statement.startsWith('INSERT')
      expect([statement, await read(later)]).toEqual([statement, isInsert ? honest : []])
      expect(later.rowSeal.forged, statement).toMatchObject([{ table }])
      await later.write(async (db) => {
        await db.deleteFrom(table as 'flags').execute()
        if (rows.length > 0) await insertNew(db, table as 'flags', rows as never)
      })
    }
  },
)

test('no change of a key by Postern gives a forged row its MAC', async () => {
  const { again } = await scene()
  const changes: ((of: StoreRecords) => Promise<unknown>)[] = [
    ({ ownKeys }) => ownKeys.setOffered('a', 2),
    ({ ownKeys }) => ownKeys.promote('a', 2),
    ({ ownKeys }) => ownKeys.eraseSecret('a', 2),
  ]
  for (const change of changes) {
    const store = await again()
    await store.write((db) => db.updateTable('own_keys').set({ published_at: 99 }).execute())
    await memoryOf(store).write(change)
    const rows = await store.read((db) => db.selectFrom('own_keys').selectAll().execute())
    expect(rows).toMatchObject([{ state: 'retired', published_at: 99, offered_at: null }])
    expect(await memoryOf(store).read(({ ownKeys }) => ownKeys.of(null))).toEqual([])
  }
})

test('a forged row of a certificate counts as revoked, also after a write of Postern’s into it', async () => {
  const { again } = await scene()
  const theirs = { fingerprint: 'a', copy: 'next', copyDigest: digestOf('next') }
  await memoryOf(await again()).write(async ({ certificates }) => {
    await certificates.setRevokedCopy('a', 'revoked')
    await certificates.replaceCopy(theirs, digestOf('copy'))
  })
  const found = async () => {
    const store = await again()
    return await memoryOf(store).read(async ({ certificates }) => [
      ...(await certificates.of(['a'])).map(({ isRevoked, copyDigest }) => [isRevoked, copyDigest]),
      await certificates.revokedCopyOf('a'),
      (await certificates.owners(null)).length,
    ])
  }
  expect(await found()).toEqual([[true, theirs.copyDigest], 'revoked', 1])
  const store = await again()
  await store.write((db) => db.updateTable('certificates').set({ revoked_armored: null }).execute())
  expect(await found()).toEqual([[true, null], '', 0])
  await memoryOf(await again()).write(async ({ certificates }) => {
    await certificates.replaceCopy({ ...theirs, copy: 'third' }, theirs.copyDigest)
    await certificates.addCopies([theirs])
  })
  expect(await found()).toEqual([[true, null], '', 0])
  await memoryOf(await again()).write(({ certificates }) => certificates.setOwner('a', 9))
  expect(await found()).toEqual([[true, null], '', 1])
})

test('a client with a forged rate is counted anew, and one that was overtaken is not', async () => {
  const { again } = await scene()
  const store = await again()
  const memory = memoryOf(store)
  const set = (atMs: number, beforeMs: number) =>
    memory.write(({ clients }) => clients.setNextAt('watch', atMs, beforeMs))
  await expect(set(7, 4)).rejects.toThrow(OvertakenError)
  await store.write((db) => db.updateTable('client_rates').set({ next_at: 99 }).execute())
  await expect(set(7, 99)).rejects.toThrow(OvertakenError)
  await set(7, 0)
  expect(await memoryOf(store).read(({ clients }) => clients.nextAtMs('watch'))).toBe(7)
})

test('an older copy of a row is there again, and a deleted row is gone', async () => {
  const { again } = await scene()
  const before = await again()
  await before.write(async (db) => {
    const rows = await db.selectFrom('clients').selectAll().execute()
    for (const table of ['clients', 'pins'] as const) await db.deleteFrom(table).execute()
    await db.insertInto('clients').values(rows).execute()
  })
  const store = await again()
  const found = await memoryOf(store).read(async ({ clients, pins }) => {
    return [(await clients.of(null)).length, (await pins.of(null)).length]
  })
  expect([found, store.rowSeal.forged]).toEqual([[1, 0], []])
})

describeFile('a store in a file', () => {
  test('a webhook of somebody who writes the file leads nowhere', async () => {
    const { file, again, close } = await scene()
    const url = 'https://bot.example/hidden'
    const honest = await Registration.load(await again())
    await honest.set({ url, secret: null })
    await close()
    expect(readFileSync(file).includes(url)).toBe(false)
    expect((await Registration.load(await again())).webhook).toMatchObject({ url, secret: null })
    await close()
    execute(file, `UPDATE webhook SET url = 'https://mallory.example/'`)
    expect((await Registration.load(await again())).webhook).toBeNull()
  })
})

test('rows keep their MACs when the protection of a store changes', async () => {
  const { again } = await scene()
  const store = await again()
  await store.move({ method: 'passphrase', passphrase: 'other' }, (locked) =>
    Promise.resolve(locked),
  )
  const opened = await again({ passphrase: 'other' })
  const clients = await memoryOf(opened).read((of) => of.clients.of(null))
  expect([clients.length, opened.rowSeal.forged]).toEqual([1, []])
})

testOfFile(
  'rows are sealed with the first protection, but decisions by command are not',
  async () => {
    const dataDir = temporary()
    const write = async ({ clients, pins, media, journal }: StoreRecords): Promise<void> => {
      await clients.save(CLIENT)
      await pins.save([PIN])
      await media.name([FILE, { ...FILE, chatId: 6 }])
      await journal.append(ENTRY)
    }
    {
      await using store = await open(dataDir)
      await memoryOf(store).write(write)
    }
    const store = await open(dataDir, { passphrase, isRequired: true })
    const found = await memoryOf(store).read(async ({ clients, pins, media, journal }) => ({
      clients: (await clients.of(null)).length,
      pins: (await pins.of(null)).length,
      place: await media.placeOf('file'),
      journal: await journal.read({ afterId: 0, sinceMs: 0, limit: 9 }),
    }))
    expect(found).toMatchObject({
      clients: 0,
      pins: 1,
      place: FILE,
      journal: [{ kind: 'blocked' }, { kind: 'rows-sealed' }],
    })
    const parts = { store, engine: null as never, keyring: { all: [] } }
    expect(await verifyJournal(parts, null)).toMatchObject({ entries: 2, fault: null })
  },
)

/** Tables whose rows have no MAC, each with what somebody gains who writes one. */
const UNSEALED: Record<string, string> = {
  people: 'a row demands signatures, and a changed or deleted one may demand none',
  names: 'a handle is shown, and decides nothing',
  seen: 'a row refuses a message, and a deleted one lets it in once more',
  confirmed: 'it refuses updates below it',
  secrets: 'AES-GCM seals each under its name',
  protection: 'the passphrase opens it',
  key_changes: 'a row hides that a change was told',
  lists: 'a list warns of changes',
  outcomes: 'they explain, and decide nothing',
  sent: 'they explain, and decide nothing',
  webhook: 'its url and secret rest in `secrets`',
  cursors: 'a consumer gets updates once more, or not',
}

test('each table has rows with MACs, or a reason for none', () => {
  const known = [...Object.keys(SEALED_COLUMNS), ...Object.keys(UNSEALED)]
  expect(known.toSorted()).toEqual(CARRIED_TABLES.toSorted())
})
