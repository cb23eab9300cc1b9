import { expect, test } from 'vitest'
import { createEngine, type MeasuredEngine } from '../../../src/openpgp/index.ts'
import type { SealRequest } from '../../../src/openpgp/engine.ts'
import { FairQueue } from '../../../src/util/fair-queue.ts'
import { createEngineQueue, lanedEngine } from '../../../src/wiring/several/laned-engine.ts'

const REQUEST = { text: 'hello' } as SealRequest

/** An engine whose seals are held, and how two bots see it. */
function stage() {
  const begun: (string | undefined)[] = []
  const ends: (() => void)[] = []
  const engine = createEngine()
  const held: MeasuredEngine = {
    ...engine,
    seal: ({ owner }) => {
      begun.push(owner)
      return new Promise((resolve) => ends.push(() => resolve('sealed')))
    },
    openFile: () => Promise.resolve({ outcome: 'not-encrypted' }),
  }
  const queue = new FairQueue({ slots: 2, perLane: 2 })
  const [flooded, quiet] = ['flooded', 'quiet'].map((owner) =>
    lanedEngine(held, { lane: queue.lane(), owner }),
  )
  if (flooded === undefined || quiet === undefined) throw new Error('two bots')
  const end = async (): Promise<void> => {
    ends.shift()?.()
    await new Promise((resolve) => setImmediate(resolve))
  }
  return { begun, end, flooded, quiet }
}

test('a quiet bot is sealed for in turn with a flooding bot', async () => {
  const { begun, end, flooded, quiet } = stage()
  for (let n = 0; n < 50; n++) void flooded.seal(REQUEST)
  void quiet.seal(REQUEST)
  void quiet.seal(REQUEST)
  for (let n = 0; n < 4; n++) await end()
  expect(begun).toEqual(['flooded', 'flooded', 'quiet', 'flooded', 'quiet', 'flooded'])
})

test('a flooding bot leaves slots of the engine free for other bots', () => {
  const queue = createEngineQueue()
  const [flooded, quiet] = [queue.lane(), queue.lane()]
  const never = (): Promise<void> => new Promise(() => {})
  void quiet.run(never)
  for (let n = 0; n < 50; n++) void flooded.run(never)
  expect([flooded.busy, flooded.waiting]).toEqual([2, 48])
  void quiet.run(never)
  expect([quiet.busy, quiet.waiting]).toEqual([2, 0])
})

test('an attachment is opened without waiting for a slot', async () => {
  const { flooded } = stage()
  for (let n = 0; n < 50; n++) void flooded.seal(REQUEST)
  const opened = await flooded.openFile({} as never, {} as never)
  expect(opened.outcome).toBe('not-encrypted')
})

test('the load of a `lanedEngine` reports no threads of the shared engine', () => {
  const { flooded } = stage()
  expect(flooded.load()).toEqual({ threads: {}, certificates: null })
})
