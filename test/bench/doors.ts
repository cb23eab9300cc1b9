import { compare, type Result } from './measure.ts'
import { startWorld } from './world.ts'

const CALLS = 200

/** What the sidecar adds to a call that it passes on. */
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
  ]
}

async function many(call: () => Promise<void>): Promise<void> {
  for (let index = 0; index < CALLS; index++) await call()
}
