/** Moving a store from a folder into a database and back. */
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { openStore } from '../../../src/store/open-store.ts'
import { fileSource, fileTarget, takeSchema } from '../../../src/store/postgres/move-ends.ts'
import { relocate, type MoveEnd } from '../../../src/store/postgres/move-store.ts'
import type { Store } from '../../../src/store/store.ts'
import { CARRIED_TABLES } from '../../../src/store/carry.ts'
import { freshSchema, hasPostgres, sharedCluster } from '../../support/postgres.ts'
import { flags, put, temporary } from '../support.ts'
import { openOn, serverOf } from './scene.ts'

const PASSPHRASE = { passphrase: 'right' }
const tryKey = (): Promise<void> => Promise.resolve()

interface Place {
  name: string
  /** Opens it as an end of a move. */
  source: () => Promise<MoveEnd>
  target: () => Promise<MoveEnd>
  /** Opens the store that is there. */
  open: () => Promise<Store>
}

function folder(): Place {
  const dataDir = temporary()
  return {
    name: dataDir,
    source: () => fileSource(dataDir, PASSPHRASE),
    target: () => Promise.resolve(fileTarget(dataDir)),
    open: async () => {
      const store = await openStore({ dataDir, mode: 'existing', ...PASSPHRASE })
      onTestFinished(() => store[Symbol.asyncDispose]())
      return store
    },
  }
}

async function database(): Promise<Place> {
  const { url } = await sharedCluster()
  const server = serverOf(url)
  const schema = freshSchema()
  const take = (): Promise<MoveEnd> => takeSchema(server, schema)
  return {
    name: schema,
    source: take,
    target: take,
    open: () => openOn(serverOf(url), schema, { mode: 'existing', ...PASSPHRASE }),
  }
}

const ENTRY = { at: 1, kind: 'accepted', user_id: 1, hash: Buffer.alloc(32), place: 0 }

/** A store with a row in every table, one of them of bytes and nulls. */
async function filled(make: () => Promise<Store>): Promise<Buffer> {
  const store = await make()
  const secret = await store.secret('replay')
  await put(store, 'nul', 'a\0b “ü” \u{1F600}')
  await store.write(async (db) => {
    const own = { certificate: 'c', created_at: 1, offered_at: null, published_at: 2 }
    await db
      .insertInto('own_keys')
      .values([
        { ...own, fingerprint: 'f1', state: 'active', retired_at: null, locked: 'locked' },
        { ...own, fingerprint: 'f2', state: 'destroyed', retired_at: 3, locked: '' },
      ])
      .execute()
    const none = { latched_at: null, refused_at: null, lifted_at: null, person_id: null }
    await db
      .insertInto('chats')
      .values([
        { id: Number.MAX_SAFE_INTEGER, kind: 'private', ...none, person_id: -5 },
        { id: 2, kind: 'group', ...none, latched_at: 7 },
      ])
      .execute()
    await db
      .insertInto('seen')
      .values({ digest: Buffer.alloc(32, 200), kind: 'data', chat_id: 1, seen_at: 5 } as never)
      .execute()
    for (const detail of ['{}', '{"a":1}']) {
      await db
        .insertInto('journal')
        .values({ ...ENTRY, detail })
        .execute()
    }
    await db.insertInto('encryption_keys').values({ key_id: 'k', user_id: 1, since: 1 }).execute()
  })
  await store[Symbol.asyncDispose]()
  return secret
}

async function filledFolder(): Promise<{ place: Place; secret: Buffer }> {
  const place = folder()
  const make = () => openStore({ dataDir: place.name, mode: 'create', ...PASSPHRASE })
  return { place, secret: await filled(make) }
}

async function move(from: Place, to: Place, wrap = (end: MoveEnd): MoveEnd => end) {
  await using stack = new AsyncDisposableStack()
  const ends = { from: stack.use(await from.source()), to: stack.use(await to.target()) }
  const request = PASSPHRASE
  return await relocate({ from: wrap(ends.from), to: wrap(ends.to), request, tryKey })
}

const movedAway = { code: 'store-moved', message: expect.stringContaining('was moved from') }

describe.skipIf(!hasPostgres())('`relocate` between a folder and PostgreSQL', () => {
  test('a store moves into PostgreSQL and back with every row, and opens in one place only', async () => {
    const { place: first, secret } = await filledFolder()
    const [second, third] = [await database(), folder()]
    const there = await move(first, second)
    expect(Object.keys(there.tables ?? {})).toEqual([...CARRIED_TABLES])
    expect(there.keys).toBe(1)
    await expect(first.open()).rejects.toMatchObject(movedAway)
    const store = await second.open()
    expect(await store.secret('replay')).toEqual(secret)
    expect(await flags(store)).toEqual({ nul: 'a\u{FFFD}b “ü” \u{1F600}' })
    // what is written next takes the next number
    const added = await store.write((db) =>
      db
        .insertInto('journal')
        .values({ ...ENTRY, detail: '{}' })
        .returning('id')
        .executeTakeFirstOrThrow(),
    )
    expect(added.id).toBe(3)
    await store[Symbol.asyncDispose]()
    const back = await move(second, third)
    expect(back.tables?.['journal']?.rows).toBe(3)
    expect(back.tables?.['seen']).toEqual(there.tables?.['seen'])
    await expect(second.open()).rejects.toMatchObject(movedAway)
    const last = await third.open()
    expect(await last.secret('replay')).toEqual(secret)
    const rows = await last.read((db) => db.selectFrom('chats').selectAll().orderBy('id').execute())
    expect(rows.map(({ id, latched_at }) => [id, latched_at])).toEqual([
      [2, 7],
      [Number.MAX_SAFE_INTEGER, null],
    ])
  })

  /** What happens to an end, in order; the process dies before or after each. */
  const STEPS = ['receive to', 'withRows to', 'setMark from', 'setMark to'] as const

  test.each(STEPS.flatMap((step) => (['before', 'after'] as const).map((when) => [when, step])))(
    'a store move that dies %s the step %s leaves one store, and a second move completes',
    async (when, step) => {
      const { place: from, secret } = await filledFolder()
      const to = await database()
      let isFirst = true
      const dying = (end: MoveEnd): MoveEnd => {
        const side = isFirst ? 'from' : 'to'
        isFirst = false
        return dyingEnd(end, { when, step, side })
      }
      await expect(move(from, to, dying)).rejects.toThrow('died')
      const opens = await Promise.all([from, to].map((place) => canOpen(place)))
      expect(opens.filter(Boolean).length).toBeLessThanOrEqual(1)
      // what goes on in a source that was not given up must not be lost either
      if (opens[0]) {
        const store = await from.open()
        await put(store, 'since', 'yes')
        await store[Symbol.asyncDispose]()
      }
      const isAlreadyThere = opens[1] === true
      if (!isAlreadyThere) await move(from, to)
      const store = await to.open()
      expect(await store.secret('replay')).toEqual(secret)
      expect('since' in (await flags(store))).toBe(opens[0])
      await expect(from.open()).rejects.toMatchObject(movedAway)
    },
  )

  test('a store move over another store, or over a store that was moved away, is refused', async () => {
    const { place: one } = await filledFolder()
    const { place: other } = await filledFolder()
    await expect(move(one, other)).rejects.toMatchObject({ code: 'refused' })
    const away = await database()
    await move(other, away)
    await expect(move(one, other)).rejects.toMatchObject({ code: 'refused' })
    await expect(move(other, await database())).rejects.toMatchObject(movedAway)
    await expect(move(folder(), other)).rejects.toMatchObject({ code: 'store-missing' })
  })

  test('a store that a sidecar has open does not move, from a folder or from PostgreSQL', async () => {
    const { place } = await filledFolder()
    const to = await database()
    const store = await place.open()
    await expect(move(place, to)).rejects.toMatchObject({ code: 'store-in-use' })
    await store[Symbol.asyncDispose]()
    await move(place, to)
    await to.open()
    await expect(move(to, folder())).rejects.toMatchObject({ code: 'store-in-use' })
  })

  test('a store on PostgreSQL is copied into a backup file that can be restored', async () => {
    const { place, secret } = await filledFolder()
    const to = await database()
    await move(place, to)
    const store = await to.open()
    const file = await store.copy()
    const { readBackup, restore } = await import('../../../src/store/backup.ts')
    const held = await readBackup(file, PASSPHRASE)
    expect([held.method, held.counts['chats'], held.keys.length]).toEqual(['passphrase', 2, 2])
    const elsewhere = join(temporary(), 'data')
    restore(file, elsewhere)
    const restored = await openStore({ dataDir: elsewhere, mode: 'existing', ...PASSPHRASE })
    expect(await restored.secret('replay')).toEqual(secret)
    expect(Object.keys(await flags(restored))).toContain('backup_taken_at')
    await restored[Symbol.asyncDispose]()
  })
})

/** An end whose methods can be copied. */
const bound = (end: MoveEnd): MoveEnd => ({
  place: end.place,
  find: () => end.find(),
  withRows: (read) => end.withRows(read),
  receive: (rows, mark) => end.receive(rows, mark),
  setMark: (mark) => end.setMark(mark),
  discard: () => end.discard(),
  [Symbol.asyncDispose]: () => end[Symbol.asyncDispose](),
})

/** An end at which the process dies. */
function dyingEnd(end: MoveEnd, at: { when: string; step: string; side: string }): MoveEnd {
  const [method = '', side] = at.step.split(' ')
  const dies = async <T>(name: string, run: () => Promise<T>): Promise<T> => {
    const isHere = name === method && side === at.side
    if (isHere && at.when === 'before') throw new Error('died')
    const result = await run()
    if (isHere) throw new Error('died')
    return result
  }
  return {
    ...bound(end),
    withRows: (read) => dies('withRows', () => end.withRows(read)),
    receive: (rows, mark) => dies('receive', () => end.receive(rows, mark)),
    setMark: (mark) => dies('setMark', () => end.setMark(mark)),
  }
}

async function canOpen(place: Place): Promise<boolean> {
  try {
    await (await place.open())[Symbol.asyncDispose]()
    return true
  } catch (error) {
    const { code } = error as { code?: string }
    if (code === 'store-moved' || code === 'store-missing') return false
    throw error
  }
}
