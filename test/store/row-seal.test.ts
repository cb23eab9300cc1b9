/** Rows that grant or loosen: what somebody gains who writes the database and has no passphrase. */
import { copyFileSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync, type SQLInputValue } from 'node:sqlite'
import { expect, onTestFinished, test } from 'vitest'
import type { Client, Records } from '../../src/kernel/index.ts'
import { memoryOf } from '../../src/store/memory.ts'
import { SEALED_COLUMNS } from '../../src/store/row-seal.ts'
import type { Store } from '../../src/store/store.ts'
import { CARRIED_TABLES } from '../../src/store/carry.ts'
import { DATABASE } from '../../src/store/inspect.ts'
import { OutboxEntries } from '../../src/outbox/entries.ts'
import { Registration } from '../../src/updates/registration.ts'
import { FIRST_STORE } from './first-store.ts'
import { describeFile, execute, open, temporary } from './support.ts'

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

/** What each record says of rows that are written as they should be, and what a liar writes. */
const FORGED: Record<string, { read: (records: Records) => Promise<unknown>; by: string[] }> = {
  clients: {
    read: async ({ clients }) => (await clients.of(null)).map(({ name, chats }) => [name, chats]),
    by: [
      `INSERT INTO clients (name, credential, allows, created_at) VALUES ('m', 'd', '{"may":["read"],"chats":["all"]}', 1)`,
      `UPDATE clients SET allows = '{"may":["read"],"chats":["all"]}'`,
      `UPDATE clients SET credential = 'd'`,
      `INSERT INTO clients SELECT 'm', 'd', allows, created_at, mac FROM clients`,
    ],
  },
  chats: {
    read: async ({ chats }) => (await chats.of(null)).map(({ id, personId }) => [id, personId]),
    by: [
      'UPDATE chats SET latched_at = NULL',
      'UPDATE chats SET person_id = 9',
      `UPDATE chats SET kind = 'public'`,
      `INSERT INTO chats (id, kind, person_id) VALUES (6, 'private', 7)`,
    ],
  },
  pins: {
    read: async ({ pins }) =>
      (await pins.of(null)).map(({ userId, standing }) => [userId, standing]),
    by: [
      `UPDATE pins SET standing = 'verified'`,
      `UPDATE pins SET fingerprint = '${'b'.repeat(40)}'`,
      'UPDATE pins SET listed = fingerprint, since = 0',
      `INSERT INTO pins (user_id, standing, since) VALUES (8, 'verified', 1)`,
    ],
  },
  certificates: {
    read: ({ certificates }) => certificates.owners(null),
    by: [
      'UPDATE certificates SET owner = 9',
      `INSERT INTO certificates (fingerprint, owner) VALUES ('b', 9)`,
    ],
  },
  trust_policies: {
    read: ({ policies }) => policies.of(null),
    by: [
      `UPDATE trust_policies SET policy = 'accept'`,
      `INSERT INTO trust_policies (chat_id, policy) VALUES (0, 'accept')`,
    ],
  },
  flags: {
    read: ({ chats }) => chats.isPrivateReadable(),
    by: [`INSERT INTO flags (name, value) VALUES ('private_readable_since', '1')`],
  },
  own_keys: {
    read: async ({ ownKeys }) => (await ownKeys.of(null)).map(({ certificate }) => certificate),
    by: [
      `UPDATE own_keys SET certificate = 'theirs', locked = 'theirs'`,
      `INSERT INTO own_keys (fingerprint, state, created_at, certificate, locked)
         VALUES ('b', 'active', 2, 'theirs', 'theirs')`,
    ],
  },
}

/** A store with a sealed row of each kind, closed; `by` changes the file as somebody else does. */
async function scene() {
  const dataDir = temporary()
  const store = await open(dataDir, { protection: 'none' })
  await memoryOf(store).write(async (records) => {
    await records.clients.save(CLIENT)
    await records.chats.save([
      { id: 5, kind: 'private', personId: 7, latchedAtMs: 1, refusedAtMs: null },
    ])
    await records.pins.save([PIN])
    await records.certificates.setOwner('a', 7)
    await records.policies.set(5, 'pinned')
    const key = { fingerprint: 'a', createdAtMs: 1, certificate: 'ours', locked: 'ours' }
    await records.ownKeys.add(key as never, 1)
  })
  const file = join(dataDir, DATABASE)
  let current: Store = store
  return {
    file,
    again: async (o: { passphrase?: string } = {}) => {
      await current[Symbol.asyncDispose]()
      current = await open(dataDir, { mode: 'existing', ...o })
      return current
    },
    close: () => current[Symbol.asyncDispose](),
  }
}

describeFile('somebody who writes the file', () => {
  test('a forged row of any table is not there, and is reported', async () => {
    const { file, again, close } = await scene()
    const backup = `${file}.honest`
    await close()
    copyFileSync(file, backup)
    for (const [table, { read, by }] of Object.entries(FORGED)) {
      const honest = await memoryOf(await again()).read(read)
      for (const statement of by) {
        await close()
        execute(file, statement)
        const store = await again()
        const found = await memoryOf(store).read(read)
        const isInsert = statement.startsWith('INSERT')
        expect([statement, found]).toEqual([statement, isInsert ? honest : []])
        expect(store.rowSeal.forged, statement).toMatchObject([{ table }])
        await close()
        copyFileSync(backup, file)
      }
    }
  })

  test('a forged store of a version before MACs has no row either', async () => {
    const { file, again, close } = await scene()
    await close()
    const drop = Object.keys(SEALED_COLUMNS).map((table) => `ALTER TABLE ${table} DROP COLUMN mac`)
    execute(
      file,
      `${drop.join(';')}; ALTER TABLE cursors DROP COLUMN shown;
       ALTER TABLE outbox DROP COLUMN call; DROP INDEX journal_first; ALTER TABLE journal DROP COLUMN place;
       ALTER TABLE journal DROP COLUMN former; ALTER TABLE journal_heads DROP COLUMN kept;
       PRAGMA user_version = 19`,
    )
    const { clients } = await memoryOf(await again()).read(async (records) => ({
      clients: await records.clients.of(null),
    }))
    expect(clients).toEqual([])
  })

  test('an older copy of a row is there again, and a deleted row is gone', async () => {
    const { file, again, close } = await scene()
    await close()
    const database = new DatabaseSync(file)
    onTestFinished(() => (database.isOpen ? database.close() : undefined))
    const row = database.prepare('SELECT * FROM clients').get() ?? {}
    database.exec('DELETE FROM clients; DELETE FROM pins')
    const marks = Object.keys(row).map(() => '?')
    const values = Object.values(row) as SQLInputValue[]
    database.prepare(`INSERT INTO clients VALUES (${marks.join()})`).run(...values)
    database.close()
    const store = await again()
    const found = await memoryOf(store).read(async ({ clients, pins }) => {
      return [(await clients.of(null)).length, (await pins.of(null)).length]
    })
    expect([found, store.rowSeal.forged]).toEqual([[1, 0], []])
  })
})

describeFile('what leaves the sidecar', () => {
  test('a call or a webhook of somebody who writes the file leads nowhere', async () => {
    const { file, again, close } = await scene()
    const url = 'https://bot.example/hidden'
    const honest = await Registration.load(await again())
    await honest.set({ url, secret: null })
    await close()
    expect(readFileSync(file).includes(url)).toBe(false)
    expect((await Registration.load(await again())).webhook).toMatchObject({ url, secret: null })
    await close()
    execute(
      file,
      `UPDATE webhook SET url = 'https://mallory.example/';
       INSERT INTO outbox (id, state, chat_id, is_for_sealed, created_at, due_at, bytes)
         VALUES ('x', 'waiting', 5, 0, 1, 1, 1)`,
    )
    const store = await again()
    const entries = await OutboxEntries.load(store, {} as never)
    expect([(await Registration.load(store)).webhook, entries.all]).toEqual([null, []])
    expect(store.rowSeal.forged).toEqual([{ table: 'outbox', key: 'x' }])
  })
})

test('rows keep their MACs when the protection of a store changes', async () => {
  const { again } = await scene()
  const store = await again()
  await store.move({ method: 'passphrase', passphrase: 'other' }, (locked) =>
    Promise.resolve(locked),
  )
  const opened = await again({ passphrase: 'other' })
  const clients = await memoryOf(opened).read((records) => records.clients.of(null))
  expect([clients.length, opened.rowSeal.forged]).toEqual([1, []])
})

describeFile('a store without a protection', () => {
  test('rows are sealed with the first protection, but decisions by command are not', async () => {
    const dataDir = temporary()
    const write = async ({ clients, pins }: Records): Promise<void> => {
      await clients.save(CLIENT)
      await pins.save([PIN])
    }
    {
      await using store = await open(dataDir)
      await memoryOf(store).write(write)
    }
    const store = await open(dataDir, { passphrase, isRequired: true })
    const found = await memoryOf(store).read(async ({ clients, pins, journal }) => ({
      clients: (await clients.of(null)).length,
      pins: (await pins.of(null)).length,
      journal: await journal.read({ afterId: 0, sinceMs: 0, limit: 9 }),
    }))
    expect(found).toMatchObject({ clients: 0, pins: 1, journal: [{ kind: 'rows-sealed' }] })
  })
})

describeFile('a store of 0.1.0', () => {
  test('rows are sealed at the first start alone', async () => {
    const dataDir = temporary()
    const file = join(dataDir, DATABASE)
    copyFileSync(join(import.meta.dirname, 'fixtures', FIRST_STORE.file), file)
    const o = { passphrase: FIRST_STORE.passphrase, mode: 'existing' } as const
    const counts = (store: Store) =>
      memoryOf(store).read(async ({ pins, chats, ownKeys }) =>
        (await Promise.all([pins.of(null), chats.of(null), ownKeys.of(null)])).map(
          (all) => all.length,
        ),
      )
    const first = await open(dataDir, o)
    const before = await counts(first)
    expect([first.rowSeal.forged, before.every((count) => count > 0)]).toEqual([[], true])
    await first[Symbol.asyncDispose]()
    execute(file, `INSERT INTO pins (user_id, standing, since) VALUES (99, 'verified', 1)`)
    const second = await open(dataDir, o)
    expect([await counts(second), second.rowSeal.forged]).toEqual([
      before,
      [{ table: 'pins', key: '99' }],
    ])
  })
})

/** Tables whose rows have no MAC, each with what somebody gains who writes one. */
const UNSEALED: Record<string, string> = {
  people: 'a row demands signatures, and a deleted one demands none',
  names: 'a handle is shown, and decides nothing',
  seen: 'a row refuses a message, and a deleted one lets it in once more',
  confirmed: 'it refuses updates below it',
  encryption_keys: 'a row says for whom a message may be: it loosens no verdict',
  media: 'a row names a place, and a file is opened by the key in the message',
  secrets: 'AES-GCM seals each under its name',
  protection: 'the passphrase opens it',
  key_changes: 'a row hides that a change was told',
  lists: 'a list warns of changes',
  outcomes: 'they explain, and decide nothing',
  sent: 'they explain, and decide nothing',
  webhook: 'its url and secret rest in `secrets`',
  presses: 'a row names a chat, which must be one alone',
  client_rates: 'a row lets a client send sooner or later',
  cursors: 'a consumer gets updates once more, or not',
}

test('each table has rows with MACs, or a reason for none', () => {
  const known = [...Object.keys(SEALED_COLUMNS), ...Object.keys(UNSEALED)]
  expect(known.toSorted()).toEqual(CARRIED_TABLES.toSorted())
})
