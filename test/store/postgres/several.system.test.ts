/** Several sidecars on one store. */
import { join } from 'node:path'
import { sql } from 'kysely'
import { describe, expect, test, vi } from 'vitest'
import { KnownChats } from '../../../src/kernel/wall/known-chats.ts'
import { ReplayMemory } from '../../../src/kernel/opening/replay-memory.ts'
import type { ReplayCheck, Sighting } from '../../../src/kernel/opening/seen-rules.ts'
import { Journal } from '../../../src/kernel/people/journal.ts'
import { People } from '../../../src/kernel/people/people.ts'
import { Trust } from '../../../src/kernel/people/trust.ts'
import { type Store } from '../../../src/store/store.ts'
import { agreeingClocks } from '../../support/judging-clock.ts'
import { hasPostgres } from '../../support/postgres.ts'
import { flags, modeOf, put, temporary } from '../support.ts'
import { openOn, serverOf, sidecars, pair } from './scene.ts'
import { memoryOf } from '../../../src/store/memory.ts'
import { loadReplayMemory } from '../../../src/wiring/stores.ts'

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

describeIt('changes of one sidecar at another', () => {
  test('a change of one sidecar is read once by the other before its next decision', async () => {
    const { one, two } = await pair()
    const reread = following(two, 'chats')
    await two.fresh()
    expect(reread).toEqual([])
    await insertChats(one, 7, 8)
    await two.fresh()
    await two.fresh()
    expect(reread).toEqual([['7', '8']])
  })

  test('a change of one sidecar is read by the other before its own write runs', async () => {
    const { one, two } = await pair()
    const known = new Set<string>()
    two.follow('chats', async (_db, keys) => keys.forEach((key) => known.add(key)))
    await insertChats(one, 7)
    await two.write(async () => {
      expect([...known]).toEqual(['7'])
    })
  })

  test('a change of 2,500 rows is read completely by the other sidecar', async () => {
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

  test('concurrent writes of three sidecars run one after the other', async () => {
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

describeIt('memory of two sidecars', () => {
  test('a latch that the other sidecar set survives a write by a sidecar that does not know it', async () => {
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

  test('a private chat that two sidecars see first with two people has one person at both', async () => {
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

  test('a person whom one sidecar blocks is blocked at the other, even when first listed there', async () => {
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

describeIt('the replay memory of two sidecars', () => {
  /** Judges as a batch does; `meanwhile` runs between the question and the answer, once. */
  async function take(
    memory: ReplayMemory,
    one: Sighting,
    meanwhile: () => Promise<unknown> = () => Promise.resolve(),
  ): Promise<string> {
    let isFirst = true
    const claims = one.signatureDigest === null ? [] : [one.signatureDigest]
    const met = { dataDigest: one.dataDigest, signatures: claims.map((digest) => ({ digest })) }
    const judge = async (check: ReplayCheck): Promise<string> => {
      const as = await check.recognize(one, claims)
      if (isFirst) await meanwhile()
      isFirst = false
      if (as === 'new' || as === 'again') await check.remember(one, as)
      return as
    }
    return await memory.batch(judge, [met])
  }

  const memories = async (): Promise<[ReplayMemory, ReplayMemory]> => {
    const { one, two } = await pair({ protection: 'none' })
    return await each(one, two, (store) =>
      loadReplayMemory(store, memoryOf(store), agreeingClocks()),
    )
  }

  test('data that two sidecars judge at the same time is new at one and replayed at the other', async () => {
    const [mine, theirs] = await memories()
    const other = sighting({ updateId: 11, messageId: 101 })
    let second = ''
    const first = await take(mine, sighting(), async () => {
      second = await take(theirs, other)
    })
    expect([first, second]).toEqual(['replayed', 'new'])
  })

  test('a signature on further data is replayed where the other sidecar judges it at the same time', async () => {
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

  test('a signature on other data is replayed over a minute after the verdict of the other sidecar', async () => {
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

  test('an update that the bot confirmed at one sidecar is refused at the other', async () => {
    const [mine, theirs] = await memories()
    expect(await take(mine, sighting())).toBe('new')
    expect(await take(theirs, sighting())).toBe('again')
    await mine.confirmed.record(11)
    expect(await take(theirs, sighting())).toBe('confirmed')
  })

  test('a sighting without an update id is bound to one update of two', async () => {
    const [mine, theirs] = await memories()
    await mine.rememberOwn(sighting({ updateId: null, messageId: null }))
    let second = ''
    const first = await take(mine, sighting({ updateId: 1 }), async () => {
      second = await take(theirs, sighting({ updateId: 2 }))
    })
    expect([first, second]).toEqual(['replayed', 'again'])
  })
})

describeIt('sidecars that start on one schema', () => {
  test('four sidecars that start together make one store with the same secrets', async () => {
    const { servers, schema } = await sidecars(4, { protection: 'none' })
    const empty = `${schema}_2`
    const stores = await Promise.all(
      servers.map((server) => openOn(server, empty, { protection: 'none' })),
    )
    const secrets = await Promise.all(stores.map((store) => store.secret('replay')))
    expect(new Set(secrets.map((secret) => secret.toString('hex'))).size).toBe(1)
    expect(new Set(stores.map(({ masterSecret }) => masterSecret)).size).toBe(1)
  })

  test('the later of two bots that start together on one schema is refused with `store-other-bot`', async () => {
    const { servers, schema } = await sidecars(2)
    const empty = `${schema}_2`
    const opened = await Promise.allSettled(
      servers.map((server, n) => openOn(server, empty, { botId: 7 + n })),
    )
    const refused = opened.flatMap((one) => (one.status === 'rejected' ? [one.reason] : []))
    expect(refused).toEqual([expect.objectContaining({ code: 'store-other-bot' })])
  })

  test('a second sidecar on one data directory is refused as `store-in-use`', async () => {
    const { servers, schema } = await sidecars(1)
    const dataDir = temporary()
    const [server] = servers
    if (server === undefined) throw new Error('none')
    await openOn(server, schema, { dataDir })
    expect(modeOf(join(dataDir, 'sidecar.lock'))).toBe('600')
    const second = openOn(serverOf(urlOf(server)), schema, { dataDir })
    await expect(second).rejects.toMatchObject({ code: 'store-in-use' })
  })

  test('a sidecar follows a protection that another moved, or is locked without the new passphrase', async () => {
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

describeIt('`Store.tryLock`', () => {
  test('a lock belongs to one sidecar at a time, and to the next after its release', async () => {
    const { one, two, schema } = await pair()
    const first = await one.tryLock('poll')
    expect(first?.isHeld).toBe(true)
    expect([await two.tryLock('poll'), await one.tryLock('poll')]).toEqual([null, null])
    expect(await one.isWanted('poll')).toBe(true)
    expect((await two.tryLock('rotation'))?.isHeld).toBe(true)
    await first?.[Symbol.asyncDispose]()
    expect([first?.isHeld, first?.signal.aborted]).toEqual([false, true])
    const second = await two.tryLock('poll')
    expect(second?.isHeld).toBe(true)
    await two[Symbol.asyncDispose]()
    expect([second?.isHeld, (await one.tryLock('rotation'))?.isHeld]).toEqual([false, true])
    // a row that somebody locks is as good as taken
    await one.read(async (db) => {
      await db.transaction().execute(async (locking) => {
        await sql.raw(`LOCK TABLE ${schema}.turns`).execute(locking)
        expect(await one.tryLock('poll')).toBeNull()
      })
    })
  })

  test('a shared lock belongs to both sidecars, and each counts two sidecars', async () => {
    const { stores } = await pair()
    for (const store of stores) {
      expect((await store.tryLock('sends', { isShared: true }))?.isHeld).toBe(true)
      expect(await store.countSidecars()).toBe(2)
    }
  })

  test('a lock acquired with `isFresh` reads all earlier changes', async () => {
    const { one, two } = await pair()
    const reread = following(two, 'chats')
    await insertChats(one, 7)
    expect((await two.tryLock('poll'))?.isHeld).toBe(true)
    expect(reread).toEqual([])
    expect((await two.tryLock('sends', { isShared: true, isFresh: true }))?.isHeld).toBe(true)
    expect(reread).toEqual([['7']])
  })

  test('a lock is released where the epoch query fails with it', async () => {
    const { one, two, schema } = await pair()
    await one.read((db) => sql.raw(`ALTER TABLE ${schema}.state RENAME TO away`).execute(db))
    const failing = one.tryLock('poll', { isFresh: true })
    await expect(failing).rejects.toMatchObject({ code: 'postern_store_unwritable' })
    expect((await two.tryLock('poll'))?.isHeld).toBe(true)
    await one.read((db) => sql.raw(`ALTER TABLE ${schema}.away RENAME TO state`).execute(db))
  })

  test('a lock is lost with its connection, and its signal aborts', async () => {
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
