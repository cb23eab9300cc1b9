/** The store of one sidecar on a real server: what it reports, and what it orders. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { sql } from 'kysely'
import { beforeAll, describe, expect, test, vi } from 'vitest'
import { describePlace } from '../../src/replicas/address.ts'
import { PostgresError } from '../../src/replicas/failures.ts'
import { freshSchema, hasPostgres, sharedCluster } from '../support/postgres.ts'
import { flags, put, temporary } from '../store/support.ts'
import { openOn, pair, serverOf, watched } from './scene.ts'

let url = ''
beforeAll(async () => {
  if (hasPostgres()) ({ url } = await sharedCluster())
})

describe.skipIf(!hasPostgres())('a store in a database', () => {
  test('is shared, and reports nothing of mistakes', async () => {
    const { store, writable, reach } = await watched(url)
    expect(store.isShared).toBe(true)
    const mistake = store.read((db) => sql`SELECT 1 / 0`.execute(db))
    await expect(mistake).rejects.toMatchObject({ code: '22012' })
    expect([writable, reach]).toEqual([[], []])
  })

  test('reports a write that fails, and the next that does not', async () => {
    const { store, writable, reach } = await watched(url)
    const failing = store.write(async () => {
      throw new PostgresError('storage', 'x')
    })
    const refused = { code: 'postern_store_unwritable', detail: '' }
    await expect(failing).rejects.toMatchObject(refused)
    expect(writable).toEqual([false])
    await put(store, 'a', 'x')
    expect([writable, reach, await flags(store)]).toEqual([[false, true], [], { a: 'x' }])
  })

  test('finds the primary anew where a write is refused as read-only', async () => {
    const { store, reach } = await watched(url)
    const failing = store.write(async () => {
      throw new PostgresError('read-only', 'x')
    })
    await expect(failing).rejects.toMatchObject({ detail: 'the database is out of reach' })
    expect(reach).toEqual(['unreachable'])
    await expect.poll(() => reach).toEqual(['unreachable', 'reachable'])
  })

  test('changes nothing where a write is given up, and goes on in order', async () => {
    const { store } = await watched(url)
    const given = store.write(async (db) => {
      await db.insertInto('flags').values({ name: 'a', value: 'x' }).execute()
      throw new Error('given up')
    })
    const next = put(store, 'b', 'y')
    await expect(given).rejects.toThrow('given up')
    await next
    expect(await flags(store)).toEqual({ b: 'y' })
  })

  test('has a lock once among sidecars, and counts these', async () => {
    const { one, two } = await pair()
    const lock = await one.tryLock('rotation')
    expect([lock?.isHeld, await two.tryLock('rotation', { isFresh: true })]).toEqual([true, null])
    await lock?.[Symbol.asyncDispose]()
    const next = await two.tryLock('rotation', { isFresh: true })
    expect([next?.isHeld, await one.tryLock('rotation')]).toEqual([true, null])
    await next?.[Symbol.asyncDispose]()
    const shared = await Promise.all(
      [one, two].map((each) => each.tryLock('sends', { isShared: true })),
    )
    expect(shared.map((each) => each?.isHeld)).toEqual([true, true])
    expect([await one.countSidecars(), await two.countSidecars()]).toEqual([2, 2])
  })

  test('knows with a lock what others wrote before, and without it once it is asked', async () => {
    const { one, two } = await pair()
    const read: string[] = []
    two.follow('flags', async (_db, keys) => void read.push(...keys))
    await put(one, 'a', 'x')
    await two.tryLock('sends', { isShared: true })
    expect(read).toEqual([])
    await two.tryLock('rotation', { isFresh: true })
    expect(read).toEqual(['a'])
    await put(one, 'b', 'x')
    await two.fresh()
    expect(read).toEqual(['a', 'b'])
  })

  test('knows that a turn is wanted, and waits until it is free', async () => {
    const { one, two } = await pair()
    const turn = await one.tryLock('poll')
    expect([await one.isWanted('poll'), await two.isWanted('poll')]).toEqual([false, true])
    expect(await two.tryLock('poll')).toBeNull()
    expect(await one.isWanted('poll')).toBe(true)
    const free = vi.fn()
    const waiting = two.untilFree('poll', new AbortController().signal).then(free)
    expect(free).not.toHaveBeenCalled()
    await turn?.[Symbol.asyncDispose]()
    await waiting
    expect((await two.tryLock('poll'))?.isHeld).toBe(true)
  })

  test('answers nothing once it is closed, and gives back what it had', async () => {
    const { one, two } = await pair()
    const lock = await one.tryLock('rotation')
    await one[Symbol.asyncDispose]()
    expect(lock?.isHeld).toBe(false)
    expect((await two.tryLock('rotation'))?.isHeld).toBe(true)
  })

  test('is one of several in a process, each with its own rows', async () => {
    const server = serverOf(url)
    const [one, two] = [await watched(url), await openOn(server, freshSchema())]
    await put(one.store, 'a', 'x')
    expect(await flags(two)).toEqual({})
  })

  test.each([
    ['its epoch', { epoch: 99 }, true],
    ['its timeline', { epoch: 1, timelineId: 2 }, true],
    ['nothing', { epoch: 1 }, false],
  ])(
    'is refused where %s is behind the record of its data directory',
    async (_what, o, isBehind) => {
      const server = serverOf(url)
      const [schema, dataDir] = [freshSchema(), temporary()]
      const first = await openOn(server, schema)
      await first[Symbol.asyncDispose]()
      const { epoch, timelineId = 1 } = o as { epoch: number; timelineId?: number }
      const timeline = { ...server.timeline, timelineId }
      const record = { place: describePlace(server.address, schema), epoch, timeline }
      writeFileSync(join(dataDir, 'database.json'), JSON.stringify(record))
      const opening = openOn(server, schema, { dataDir })
      if (isBehind) await expect(opening).rejects.toMatchObject({ code: 'store-rolled-back' })
      else expect((await opening).isShared).toBe(true)
    },
  )

  test('keeps a secret that it made', async () => {
    const protection = { protection: 'none', isRequired: true } as const
    const store = await openOn(serverOf(url), freshSchema(), protection)
    const made = await store.secret('seen')
    expect([made, await store.secret('seen')]).toEqual([made, made])
    expect(made.length).toBeGreaterThan(0)
  })
})
