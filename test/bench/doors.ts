import { compare, type Result } from './measure.ts'
import { startWorld, type BenchWorld } from './world.ts'

const CALLS = 200

/** What the sidecar adds to a call that it passes on, and what hostile work takes from it. */
export async function doorJobs(): Promise<Result[]> {
  await using world = await startWorld()
  const direct = (): Promise<void> => many(() => world.direct('GET', '/commands'))
  const through = (): Promise<void> => many(() => world.through('GET', '/commands'))
  return [
    await compare({
      job: 'passthrough',
      ours: through,
      peers: [{ name: 'direct', run: direct }],
      rounds: 7,
      warmups: 2,
    }),
    await underFire(world),
  ]
}

/** An unrelated call while floods are being opened, against the same call with nothing going on. */
async function underFire(world: BenchWorld): Promise<Result> {
  const call = (): Promise<void> => many(() => world.through('GET', '/commands'), 50)
  return await compare({
    job: 'unrelated-call-during-flood',
    ours: async () => await call(),
    peers: [{ name: 'during-flood', run: () => world.duringFlood(call) }],
    rounds: 5,
  })
}

async function many(call: () => Promise<void>, count = CALLS): Promise<void> {
  for (let index = 0; index < count; index++) await call()
}
