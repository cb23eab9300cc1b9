/**
 * How long a bot with a webhook waits for an update when the sidecar that delivers is stopped in its
 * tracks (SIGSTOP), and how often two idle sidecars query the database.
 */
import { setTimeout as pause } from 'node:timers/promises'
import { createSandbox } from '../../src/sandbox/create.ts'
import { addBot } from '../bench/bench-bots.ts'
import { startPostern } from '../bench/processes.ts'
import { takeOverOf } from '../bench/take-over.ts'
import { freshSchema, ownCluster } from '../support/postgres.ts'

const IDLE_MS = 20_000
/** A sidecar that does not deliver looks every second: each time in another part of it. */
const LOOK_MS = 1000
const STATEMENTS = 'SELECT sum(xact_commit + xact_rollback) FROM pg_stat_database'

/** Prints a line for each round, and the transactions of idle sidecars. */
export async function measureTakeover(rounds: number, print: (line: string) => void) {
  using own = ownCluster()
  own.cluster.start()
  await using sandbox = await createSandbox({ rates: 'off', transcriptCalls: 0 })
  const bot = await addBot(sandbox)
  const store = { url: own.cluster.url, schema: freshSchema() }
  const took: number[] = []
  let repeats = 0
  for (let n = 0; n < rounds; n++) {
    const afterMs = (n * LOOK_MS) / rounds
    const how = { way: 'webhook', signal: 'SIGSTOP', afterMs } as const
    const round = await takeOverOf({ sandbox, bot, store, ...how })
    took.push(round.ms)
    repeats += round.repeats
    print(`round ${n + 1}: delivered by the other after ${(round.ms / 1000).toFixed(2)} s`)
  }
  const from = { upstream: sandbox.url, token: bot.token, publish: true, store }
  await using _first = await startPostern(from)
  await using _second = await startPostern(from)
  const before = Number(own.cluster.sql(STATEMENTS))
  await pause(IDLE_MS)
  const each = (Number(own.cluster.sql(STATEMENTS)) - before) / 2 / (IDLE_MS / 1000)
  print(`longest: ${(Math.max(...took) / 1000).toFixed(2)} s`)
  print(`delivered twice, by the one that woke: ${repeats}`)
  print(`idle: ${each.toFixed(1)} transactions a second of each sidecar, on average of the two`)
}
