/** Whose turn it is among several sidecars, and whose sends wait. */
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { SendFence, KeyTurn } from '../../src/store/postgres/send-fence.ts'
import type { PublicationCalls } from '../../src/keys/driver.ts'
import { Publication } from '../../src/keys/publication.ts'
import { REAL_CLOCK } from '../../src/util/clock.ts'
import { DeliveryTurns } from '../../src/updates/delivery-turns.ts'
import type { DeliveryLoop } from '../../src/updates/delivery-loop.ts'
import { PollTurn } from '../../src/updates/poll-turn.ts'
import type { Store } from '../../src/store/store.ts'
import { NEW, OLD, Scene } from '../keys/publication-scene.ts'
import { pair } from '../store/postgres/scene.ts'
import { hasPostgres } from '../support/postgres.ts'

const never = new AbortController().signal

/** Two sidecars, and what cuts the first one's session. */
async function two() {
  const { stores, servers } = await pair()
  return { stores, cut: () => servers[0]?.session.cut() }
}

/** What a publication shares with those of other sidecars. */
const sharedOver = (store: Store, fence: SendFence) => ({
  fence,
  turn: new KeyTurn({ store, fence }),
  fresh: () => store.fresh(),
})

const pollTurns = (stores: readonly [Store, Store]) =>
  stores.map((store) => new PollTurn(store)) as [PollTurn, PollTurn]

describe.skipIf(!hasPostgres())('`PollTurn` of two sidecars', () => {
  test('a poll turn belongs to one sidecar until the last of its polls has ended', async () => {
    const { stores } = await two()
    const [one, other] = pollTurns(stores)
    const [first, second] = [await one.tryTake(), await one.tryTake()]
    expect([first?.isHeld, second?.isHeld, await other.tryTake()]).toEqual([true, true, null])
    await first?.[Symbol.asyncDispose]()
    await first?.[Symbol.asyncDispose]()
    expect(await other.tryTake()).toBe(null)
    const waiting = other.take(never)
    await second?.[Symbol.asyncDispose]()
    await using taken = await waiting
    expect([taken?.isHeld, await one.tryTake()]).toEqual([true, null])
  })

  test('a poll turn is lost with the database session, and its signal aborts', async () => {
    const { stores, cut } = await two()
    const [one, other] = pollTurns(stores)
    const lost = await one.tryTake()
    cut()
    expect([lost?.isHeld, lost?.signal.aborted]).toEqual([false, true])
    await using taken = await other.take(never)
    expect(taken?.isHeld).toBe(true)
    await lost?.[Symbol.asyncDispose]()
    expect(taken?.isHeld).toBe(true)
  })

  test('a sidecar starts its delivery loop only when the loop of the other has stopped', async () => {
    const { stores } = await two()
    const begun: number[] = []
    const [one, other] = stores.map(
      (store, n) =>
        new DeliveryTurns({
          turns: new PollTurn(store),
          clock: REAL_CLOCK,
          fresh: () => store.fresh(),
          makeLoop: () => {
            begun.push(n)
            return { stop: () => Promise.resolve(), wake: () => {} } as unknown as DeliveryLoop
          },
        }),
    ) as [DeliveryTurns, DeliveryTurns]
    await expect.poll(() => begun.length).toBe(1)
    const [holder, waiter] = begun[0] === 0 ? [one, other] : [other, one]
    await holder.stop({ graceMs: 0 })
    await expect.poll(() => begun.toSorted()).toEqual([0, 1])
    await waiter.stop({ graceMs: 0 })
  })
})

describe.skipIf(!hasPostgres())('a key rotation with two sidecars', () => {
  const fences = async () => {
    const made = await two()
    const loaded = await Promise.all(made.stores.map((store) => SendFence.load(store)))
    onTestFinished(async () => {
      for (const fence of loaded) await fence[Symbol.asyncDispose]()
    })
    return { ...made, fences: loaded as [SendFence, SendFence] }
  }

  test('a fence removes no `key_publishing` flag that another sidecar has set', async () => {
    const { stores, fences: all } = await fences()
    const [fence] = all
    const raise = (by: string) =>
      stores[1].write((db) =>
        db.updateTable('flags').set({ value: by }).where('name', '=', 'key_publishing').execute(),
      )
    const raised = async (): Promise<string[]> =>
      (await stores[0].read((db) => db.selectFrom('flags').selectAll().execute()))
        .filter(({ name }) => name === 'key_publishing')
        .map(({ value }) => value)
    const closed = await fence.close(never)
    await raise('the second')
    await closed[Symbol.asyncDispose]()
    expect(await raised()).toEqual(['the second'])
    await stores[0].fresh()
    await raise('the third')
    await fence.lower()
    expect(await raised()).toEqual(['the third'])
    for (const one of all) await one[Symbol.asyncDispose]()
  })

  test('a key upload is not sent once the sidecar has lost its turn', async () => {
    const { stores, fences: all, cut } = await fences()
    const scene = new Scene({ keys: [NEW, OLD], shown: 'old' })
    const left: unknown[] = []
    const putKey: PublicationCalls['putKey'] = async (_key, requireAllowed) => {
      cut()
      requireAllowed?.()
      left.push('left')
    }
    const publication = new Publication({
      ...scene.parts,
      calls: { ...scene.calls, putKey },
      shared: sharedOver(stores[0], all[0]),
    })
    await publication.compareNow()
    expect([left, publication.rotation?.phase]).toEqual([[], 'waiting'])
    await publication[Symbol.asyncDispose]()
  })

  test('a publication whose fence could not be lowered lowers it with a later try', async () => {
    const { stores, fences: all } = await fences()
    const [fence, other] = all
    await other.close(never)
    await stores[0].fresh()
    expect(fence.isClosed).toBe(true)
    const refused = vi.spyOn(fence, 'lower').mockRejectedValueOnce(new Error('no database'))
    const publication = new Publication({
      ...new Scene({ keys: [OLD], shown: 'old' }).parts,
      shared: sharedOver(stores[0], fence),
    })
    publication.start()
    await expect.poll(() => fence.isRaised).toBe(false)
    expect(refused.mock.calls.length).toBeGreaterThan(1)
    await publication[Symbol.asyncDispose]()
  })
})
