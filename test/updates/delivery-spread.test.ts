/** How several sidecars divide the turns to deliver of the bots that they all serve. */
import { describe, expect, test } from 'vitest'
import type { Clock } from '../../src/updates/clock.ts'
import { DeliverySpread, planTurns, type Board } from '../../src/updates/delivery-spread.ts'

const NONE = { orphans: new Set<string>(), kept: new Set<string>() }
const NAMES = Array.from({ length: 10 }, (_, n) => `bot${n}`)

/** Sidecars and the turns of the bots, as all of them see it. */
class World {
  readonly readers = new Map<string, number | null>(NAMES.map((name) => [name, null]))
  sidecars: number[]

  constructor(...sidecars: number[]) {
    this.sidecars = sidecars
  }

  board(self: number): Board {
    const { sidecars } = this
    const stores = [...this.readers].map(([name, reader]) => [name, { sidecars, reader }] as const)
    return { self, stores: new Map(stores) }
  }

  /** Everybody looks at once, then all act, in turns: the first to take a turn has it. */
  step(): void {
    const plans = this.sidecars.map((self) => ({
      self,
      plan: planTurns(this.board(self), NAMES, NONE),
    }))
    for (const { plan } of plans) for (const name of plan.give) this.readers.set(name, null)
    for (const { self, plan } of plans) {
      for (const name of plan.take)
        if (this.readers.get(name) === null) this.readers.set(name, self)
    }
  }

  kill(sidecar: number): void {
    this.sidecars = this.sidecars.filter((one) => one !== sidecar)
    for (const [name, reader] of this.readers) if (reader === sidecar) this.readers.set(name, null)
  }

  counts(): number[] {
    return this.sidecars.map((self) => [...this.readers.values()].filter((r) => r === self).length)
  }
}

describe('turns', () => {
  test.each([
    [[1], [10]],
    [
      [7, 3],
      [5, 5],
    ],
    [
      [5, 900, 20],
      [2, 4, 4],
    ],
  ])('are divided at once when %j start together', (sidecars, counts) => {
    const world = new World(...sidecars)
    world.step()
    expect(world.counts().toSorted((a, b) => a - b)).toEqual(counts)
  })

  test('are given to who comes later, and no more than that moves', () => {
    const world = new World(1)
    world.step()
    const before = new Map(world.readers)
    world.sidecars.push(2)
    world.step()
    world.step()
    expect(world.counts()).toEqual([5, 5])
    const moved = NAMES.filter((name) => world.readers.get(name) !== before.get(name))
    expect(moved).toHaveLength(5)
    const settled = new Map(world.readers)
    world.step()
    expect(world.readers).toEqual(settled)
  })

  test('of one that dies are taken by the others, all of them, at the next look', () => {
    const world = new World(1, 2, 3)
    world.step()
    world.kill(2)
    world.step()
    expect([...world.readers.values()]).not.toContain(null)
    expect(Math.max(...world.counts())).toBe(5)
    world.kill(1)
    world.step()
    expect(world.counts()).toEqual([10])
  })

  test('are not given where no other has fewer, nor those that are kept', () => {
    const world = new World(1, 2)
    for (const [n, name] of NAMES.entries()) world.readers.set(name, n < 6 ? 1 : 2)
    expect(planTurns(world.board(1), NAMES, NONE).give.size).toBe(1)
    expect(planTurns(world.board(1), NAMES, { ...NONE, kept: new Set(NAMES) }).give.size).toBe(0)
    for (const name of NAMES) world.readers.set(name, 1)
    world.sidecars = [1]
    expect(planTurns(world.board(1), NAMES, NONE).give.size).toBe(0)
  })

  test('of a bot that only one serves are that one’s, beside its part of the others', () => {
    const stores = new Map([
      ['alone', { sidecars: [1], reader: null }],
      ['both', { sidecars: [1, 2], reader: null }],
    ])
    expect([...planTurns({ self: 1, stores }, ['alone', 'both'], NONE).take]).toEqual([
      'alone',
      'both',
    ])
    expect([...planTurns({ self: 2, stores }, ['both'], NONE).take]).toEqual(['both'])
  })
})

describe('a turn that its sidecar does not take', () => {
  test('is taken by another after a while, and kept', async () => {
    let nowMs = 0
    const clock: Clock = { now: () => nowMs, monotonicNow: () => nowMs, wait: async () => {} }
    const world = new World(1, 2)
    for (const name of NAMES.slice(0, 5)) world.readers.set(name, 1)
    const spread = new DeliverySpread(() => Promise.resolve(world.board(1)), clock)
    const turns = new Map(NAMES.map((name) => [name, spread.join(name)]))
    const late = turns.get('bot9')
    expect(await late?.mayTake()).toBe(false)
    nowMs += 2000
    expect(await late?.mayTake()).toBe(false)
    nowMs += 1000
    expect(await late?.mayTake()).toBe(true)
    world.readers.set('bot9', 1)
    nowMs += 1000
    const given = async (): Promise<string[]> => {
      const all = NAMES.map(async (name) => ((await turns.get(name)?.mustGive()) ? [name] : []))
      return (await Promise.all(all)).flat()
    }
    expect(await given()).toEqual(['bot0'])
    for (const name of NAMES) if (name !== 'bot9') world.readers.set(name, 2)
    world.readers.set('bot8', 1)
    for (const name of NAMES.slice(0, 5)) world.readers.set(name, 1)
    nowMs += 11_000
    expect(await given()).not.toContain('bot9')
  })

  test('is given once it was kept for its time, which is longer when nobody took it again', async () => {
    let nowMs = 0
    const clock: Clock = { now: () => nowMs, monotonicNow: () => nowMs, wait: async () => {} }
    const readers = new Map<string, number | null>([['b', 1]])
    const board = (): Board => ({
      self: 1,
      stores: new Map([...readers].map(([bot, reader]) => [bot, { sidecars: [1, 2], reader }])),
    })
    const spread = new DeliverySpread(() => Promise.resolve(board()), clock)
    const [a, b] = [spread.join('a'), spread.join('b')]
    /** Nobody takes the first for a while, so that we do. @returns after how long we give it */
    const keptForMs = async (): Promise<number> => {
      readers.set('a', null)
      while (!(await a.mayTake())) nowMs += 1000
      readers.set('a', 1)
      expect(await b.mustGive()).toBe(true)
      const sinceMs = nowMs
      while (!(await a.mustGive())) nowMs += 1000
      return nowMs - sinceMs
    }
    expect([await keptForMs(), await keptForMs()]).toEqual([15_000, 30_000])
    readers.set('a', 2)
    expect(await a.mustGive()).toBe(false)
    expect(await keptForMs()).toBe(15_000)
  })

  test('is the one’s who joined last for the bot, whenever who was there before leaves', async () => {
    const world = new World(1)
    const spread = new DeliverySpread(() => Promise.resolve(world.board(1)))
    const before = spread.join('bot0')
    const now = spread.join('bot0')
    before[Symbol.dispose]()
    expect(await now.mayTake()).toBe(true)
    now[Symbol.dispose]()
    expect(await now.mayTake()).toBe(false)
  })
})
