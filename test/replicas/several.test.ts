/** Several sidecars on one store. */
import { OvertakenError } from '../../src/errors.ts'
import { sql } from 'kysely'
import { describe, expect, test, vi } from 'vitest'
import { KnownChats } from '../../src/kernel/wall/known-chats.ts'
import { ReplayMemory } from '../../src/kernel/opening/replay-memory.ts'
import type { Sighting } from '../../src/kernel/opening/seen-rules.ts'
import { Journal } from '../../src/kernel/people/journal.ts'
import { People } from '../../src/kernel/people/people.ts'
import { Trust } from '../../src/kernel/people/trust.ts'
import { type Store } from '../../src/store/store.ts'
import { agreeingClocks } from '../support/judging-clock.ts'
import { hasPostgres } from '../support/postgres.ts'
import { flags, put, temporary } from '../store/support.ts'
import { openOn, serverOf, sidecars, pair } from './scene.ts'
import { memoryOf } from '../../src/store/memory.ts'
import { loadReplayMemory } from '../../src/wiring/stores.ts'

const describeIt = describe.skipIf(!hasPostgres())

const NONE = { latched_at: null, refused_at: null, lifted_at: null, person_id: null }
const chat = (id: number) => ({ id, kind: 'group', ...NONE })

const insertChats = (store: Store, ...ids: number[]): Promise<unknown> =>
  store.write((db) => db.insertInto('chats').values(ids.map(chat)).execute())

/** What two sidecars have in memory of one thing. */
const each = async <T>(one: Store, two: Store, load: (store: Store) => Promise<T>) =>
  [await load(one), await load(two)] as [T, T]

/** The keys of each time that a sidecar reads something of these tables again. */
function following(store: Store, ...tables: Parameters<Store['follow']>[0][]): string[][] {
  const reread: string[][] = []
  for (const table of tables) {
    store.follow(table, async (_db, keys) => void reread.push(keys.toSorted()))
  }
  return reread
}

describeIt('what one sidecar writes', () => {
  test('is read again by another before its next decision, and not again after that', async () => {
    const { one, two } = await pair()
    const reread = following(two, 'chats')
    await two.fresh()
    expect(reread).toEqual([])
    await insertChats(one, 7, 8)
    await two.fresh()
    await two.fresh()
    expect(reread).toEqual([['7', '8']])
  })

  test.each(['write', 'note'] as const)('by a %s that is undone is not', async (how) => {
    const { one, two } = await pair()
    const reread = following(two, 'chats')
    const failing = one[how](async (db) => {
      await db.insertInto('chats').values(chat(7)).execute()
      throw new Error('changed my mind')
    })
    await expect(failing).rejects.toThrow('changed my mind')
    await two.fresh()
    expect(reread).toEqual([])
  })

  test('by a note is read again too, and what no decision rests on is not', async () => {
    const { one, two } = await pair()
    const reread = following(two, 'people', 'flags')
    await one.note((db) => db.insertInto('people').values({ user_id: 5, signed_at: 1 }).execute())
    await one.note((db) =>
      db
        .insertInto('sent')
        .values({ message_id: 1, at: 1, chat_id: 1, recipients: 1, skipped: '[]' })
        .execute(),
    )
    await two.fresh()
    expect(reread).toEqual([['5']])
  })

  test('is known to another before its own write is computed', async () => {
    const { one, two } = await pair()
    const known = new Set<string>()
    two.follow('chats', async (_db, keys) => keys.forEach((key) => known.add(key)))
    await insertChats(one, 7)
    await two.write(async () => {
      expect([...known]).toEqual(['7'])
    })
  })

  test('of a row that is gone is told as well', async () => {
    const { one, two } = await pair()
    await insertChats(one, 7)
    await two.fresh()
    const reread = following(two, 'chats')
    await one.write((db) => db.deleteFrom('chats').execute())
    await two.fresh()
    expect(reread).toEqual([['7']])
  })

  test('in thousands of rows is all read again', async () => {
    const { one, two } = await pair()
    const keys: string[] = []
    two.follow('pins', async (_db, some) => void keys.push(...some))
    const pins = Array.from({ length: 2500 }, (_, index) => ({
      user_id: index,
      fingerprint: null,
      since: 0,
      standing: 'seen' as const,
      listed: null,
      listed_at: null,
    }))
    await one.write((db) => db.insertInto('pins').values(pins).execute())
    await two.fresh()
    expect(new Set(keys).size).toBe(2500)
  })

  test('at the same time as others follows them one by one, and none is lost', async () => {
    const { stores } = await sidecars(3)
    await put(stores[0] as Store, 'count', '0')
    const increment = (store: Store) =>
      store.write(async (db) => {
        const { value } = await db.selectFrom('flags').select('value').executeTakeFirstOrThrow()
        await db
          .updateTable('flags')
          .set({ value: String(Number(value) + 1) })
          .execute()
      })
    await Promise.all(Array.from({ length: 30 }, (_, n) => increment(stores[n % 3] as Store)))
    expect(await flags(stores[0] as Store)).toEqual({ count: '30' })
  })
})

describeIt('what only tightens', () => {
  test('a latch that another sidecar set stays, whatever else of the chat is written', async () => {
    const { one, two } = await pair()
    const [mine, theirs] = await each(one, two, (store) => KnownChats.load(memoryOf(store)))
    await mine.saw([{ chatId: 1, kind: 'group' }])
    await two.fresh()
    await theirs.saw([{ chatId: 1, isProtected: true }])
    // the first has not asked since, and knows of no latch
    await mine.refused(1)
    expect(mine.isLatched(1)).toBe(true)
    const again = await KnownChats.load(memoryOf(one))
    expect([again.isLatched(1), again.get(1)?.refusedAtMs]).toEqual([true, expect.any(Number)])
  })

  test('of two people who are seen first at the same time, a private chat has one', async () => {
    const { one, two } = await pair()
    const [mine, theirs] = await each(one, two, (store) => KnownChats.load(memoryOf(store)))
    await mine.saw([{ chatId: 1, kind: 'private' }])
    await two.fresh()
    await Promise.all([
      mine.saw([{ chatId: 1, userId: 10 }]),
      theirs.saw([{ chatId: 1, userId: 20 }]),
    ])
    await Promise.all([one.fresh(), two.fresh()])
    expect(mine.personOf(1)).toBe(theirs.personOf(1))
    expect([10, 20]).toContain(mine.personOf(1))
  })

  test('who is blocked at one sidecar is blocked at all, a first listing at another included', async () => {
    const { one, two } = await pair()
    const [mine, theirs] = await each(one, two, trustOver)
    await mine.decisions.block(5)
    await theirs.saw([{ userId: 5, fingerprint: 'a'.repeat(40) }])
    expect(theirs.distrust(5, 'a'.repeat(40), 1)).toBe('blocked')
    await one.fresh()
    expect(mine.distrust(5, 'a'.repeat(40), 1)).toBe('blocked')
    await theirs.policies.set(1, 'pinned')
    await one.fresh()
    expect(mine.policies.for(1)).toBe('pinned')
  })

  test('who has signed at one sidecar must sign at all, until the operator starts them anew', async () => {
    const { one, two } = await pair()
    const [mine, theirs] = [await People.load(memoryOf(one)), await People.load(memoryOf(two))]
    await mine.rememberSigned([5], 'words')
    await two.fresh()
    expect(theirs.hasSigned(5, 'words')).toBe(true)
    await memoryOf(two).write(({ signers }) => signers.forget(5))
    theirs.signedForgotten(5)
    await one.fresh()
    expect(mine.hasSigned(5, 'words')).toBe(false)
  })
})

const sighting = (more: Partial<Sighting> = {}): Sighting => ({
  chatId: 1,
  updateId: 10,
  messageId: 100,
  userId: 5,
  dateMs: Date.now(),
  dataDigest: 'data',
  signatureDigest: 'signature',
  ...more,
})

describeIt('the memory against replays', () => {
  /** Judges as a batch does; `meanwhile` runs between the question and the answer, once. */
  async function take(
    memory: ReplayMemory,
    one: Sighting,
    meanwhile: () => Promise<unknown> = () => Promise.resolve(),
  ): Promise<string> {
    let isFirst = true
    return await memory.batch(async (check) => {
      const claims = one.signatureDigest === null ? [] : [one.signatureDigest]
      const as = await check.recognize(one, claims)
      if (isFirst) await meanwhile()
      isFirst = false
      if (as === 'new' || as === 'again') await check.remember(one, as)
      return as
    })
  }

  const memories = async (): Promise<[ReplayMemory, ReplayMemory]> => {
    const { one, two } = await pair({ protection: 'none' })
    return await each(one, two, (store) =>
      loadReplayMemory(store, memoryOf(store), agreeingClocks()),
    )
  }

  test('gives the same data to one of two sidecars that judge it at once', async () => {
    const [mine, theirs] = await memories()
    const other = sighting({ updateId: 11, messageId: 101 })
    let second = ''
    const first = await take(mine, sighting(), async () => {
      second = await take(theirs, other)
    })
    expect([first, second]).toEqual(['replayed', 'new'])
  })

  test('lets a signature stand on other data no more often, however many judge at once', async () => {
    const [mine, theirs] = await memories()
    const copy = (n: number): Sighting =>
      sighting({ dataDigest: `data${n}`, updateId: n, messageId: n })
    await take(mine, copy(1))
    await take(mine, copy(2))
    const first = await take(mine, copy(3), async () => {
      await take(theirs, copy(4))
    })
    expect(first).toBe('replayed')
  })

  test('lets a signature stand on other data within a minute of our own time, however many judge at once', async () => {
    const [mine, theirs] = await memories()
    const firstMs = Date.now()
    const copy = (n: number): Sighting =>
      sighting({ dataDigest: `data${n}`, updateId: n, messageId: n, dateMs: firstMs })
    vi.useFakeTimers({ toFake: ['Date'], now: firstMs })
    const recognized = await take(mine, copy(1), async () => {
      await take(theirs, copy(2))
      vi.setSystemTime(firstMs + 90_000)
    }).finally(() => vi.useRealTimers())
    expect(recognized).toBe('replayed')
  })

  test('refuses at one sidecar what the bot has confirmed at another', async () => {
    const [mine, theirs] = await memories()
    expect(await take(mine, sighting())).toBe('new')
    expect(await take(theirs, sighting())).toBe('again')
    await mine.confirmed.record(11)
    expect(await take(theirs, sighting())).toBe('confirmed')
  })

  test('binds what was seen without a number to one update alone', async () => {
    const [mine, theirs] = await memories()
    await mine.rememberOwn(sighting({ updateId: null, messageId: null }))
    let second = ''
    const first = await take(mine, sighting({ updateId: 1 }), async () => {
      second = await take(theirs, sighting({ updateId: 2 }))
    })
    expect([first, second]).toEqual(['replayed', 'again'])
  })

  test('gives up what is overtaken again and again, with nothing remembered', async () => {
    const { one } = await pair({ protection: 'none' })
    let runs = 0
    const overtaken = one.note(async (db) => {
      runs += 1
      await db
        .insertInto('flags')
        .values({ name: `n${runs}`, value: '' })
        .execute()
      throw new OvertakenError()
    })
    await expect(overtaken).rejects.toThrow(OvertakenError)
    expect(runs).toBeGreaterThan(1)
    expect(await flags(one)).toEqual({})
  })
})

describeIt('a start', () => {
  test('of several at once makes one store with one protection, whose secrets are the same', async () => {
    const { servers, schema } = await sidecars(4, { protection: 'none' })
    const empty = `${schema}_2`
    const stores = await Promise.all(
      servers.map((server) => openOn(server, empty, { protection: 'none' })),
    )
    const secrets = await Promise.all(stores.map((store) => store.secret('replay')))
    expect(new Set(secrets.map((secret) => secret.toString('hex'))).size).toBe(1)
    expect(new Set(stores.map(({ masterSecret }) => masterSecret)).size).toBe(1)
  })

  test('of two bots at once on one schema gives it to one of them', async () => {
    const { servers, schema } = await sidecars(2)
    const empty = `${schema}_2`
    const opened = await Promise.allSettled(
      servers.map((server, n) => openOn(server, empty, { botId: 7 + n })),
    )
    const refused = opened.flatMap((one) => (one.status === 'rejected' ? [one.reason] : []))
    expect(refused).toEqual([expect.objectContaining({ code: 'store-other-bot' })])
  })

  test('of a second sidecar on one data directory is refused', async () => {
    const { servers, schema } = await sidecars(1)
    const dataDir = temporary()
    const [server] = servers
    if (server === undefined) throw new Error('none')
    await openOn(server, schema, { dataDir })
    const second = openOn(serverOf(urlOf(server)), schema, { dataDir })
    await expect(second).rejects.toMatchObject({ code: 'store-in-use' })
  })

  test('notices a protection that another sidecar has moved: what opens it goes on, or locks', async () => {
    const { one, two } = await pair({ passphrase: 'old', protection: 'passphrase' })
    const secret = await one.secret('replay')
    await one.move({ method: 'none' }, async (locked) => locked)
    await two.fresh()
    expect([two.method, await two.secret('replay')]).toEqual(['none', secret])
    await one.move({ method: 'passphrase', passphrase: 'new' }, async (locked) => locked)
    await two.fresh()
    expect(() => two.seal('a', Buffer.from('words'))).toThrow('no protection that this sidecar')
  })
})

describeIt('a lock', () => {
  test('is had by one sidecar at a time, and by the next once it is given back', async () => {
    const { one, two } = await pair()
    const first = await one.tryLock('poll')
    expect(first?.isHeld).toBe(true)
    expect([await two.tryLock('poll'), await one.tryLock('poll')]).toEqual([null, null])
    expect((await two.tryLock('rotation'))?.isHeld).toBe(true)
    await first?.[Symbol.asyncDispose]()
    expect([first?.isHeld, first?.signal.aborted]).toEqual([false, true])
    expect((await two.tryLock('poll'))?.isHeld).toBe(true)
  })

  test('that is taken fresh knows all that was written before it was taken', async () => {
    const { one, two } = await pair()
    const reread = following(two, 'chats')
    await insertChats(one, 7)
    expect((await two.tryLock('poll'))?.isHeld).toBe(true)
    expect(reread).toEqual([])
    expect((await two.tryLock('sends', { isShared: true, isFresh: true }))?.isHeld).toBe(true)
    expect(reread).toEqual([['7']])
  })

  test('is not kept when what is asked with it fails', async () => {
    const { one, two, schema } = await pair()
    await one.read((db) => sql.raw(`ALTER TABLE ${schema}.state RENAME TO away`).execute(db))
    const failing = one.tryLock('poll', { isFresh: true })
    await expect(failing).rejects.toMatchObject({ code: 'postern_store_unwritable' })
    expect((await two.tryLock('poll'))?.isHeld).toBe(true)
    await one.read((db) => sql.raw(`ALTER TABLE ${schema}.away RENAME TO state`).execute(db))
  })

  test('is held by a session that the server ends when it is silent, unlike connections for queries', async () => {
    const { one, servers } = await pair()
    const limit = sql.raw<{ limit: string }>(
      `SELECT current_setting('idle_session_timeout') AS limit`,
    )
    const ofSession = await servers[0]?.session.query('SHOW idle_session_timeout')
    expect(ofSession).toEqual([{ idle_session_timeout: '3500ms' }])
    expect((await one.read((db) => limit.execute(db))).rows).toEqual([{ limit: '0' }])
  })

  test('is lost with the connection that holds it, and said so at once', async () => {
    const { one, two, servers } = await pair()
    const lock = await one.tryLock('poll')
    const [server] = servers
    const lost = new Promise<void>((resolve) => {
      lock?.signal.addEventListener('abort', () => resolve())
    })
    const pid = await server?.session.query<{ pid: number }>('SELECT pg_backend_pid() AS pid')
    await two.write((db) => sql`SELECT pg_terminate_backend(${pid?.[0]?.pid})`.execute(db))
    await lost
    expect(lock?.isHeld).toBe(false)
    await expect.poll(async () => (await two.tryLock('poll')) !== null).toBe(true)
    // the first is connected again, and has no lock that it does not hold
    await one.fresh()
    expect([lock?.isHeld, await one.tryLock('poll')]).toEqual([false, null])
  })
})

async function trustOver(store: Store): Promise<Trust> {
  const journal = new Journal(memoryOf(store))
  const people = await People.load(memoryOf(store))
  return await Trust.load({
    memory: memoryOf(store),
    journal,
    people,
    policy: 'accept',
    clocks: agreeingClocks(),
  })
}

function urlOf({ address }: ReturnType<typeof serverOf>): string {
  const { user, host, database } = address
  return `postgres://${user}@/${database}?host=${encodeURIComponent(host)}`
}
