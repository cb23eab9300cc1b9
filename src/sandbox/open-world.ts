import { lookup } from 'node:dns/promises'
import { FIXED_LIMITS } from '../api/limits.ts'
import { WorldClock, type ClockMode, type ClockState } from './clock.ts'
import { Faults } from './faults/faults.ts'
import { Persistence, type RecordRow } from './persistence/persistence.ts'
import { CALL_KIND, Transcript } from './transcript.ts'
import { CLOCK_KEY, World, type WorldRules } from './world.ts'

export interface WorldOptions {
  /** File that stores the world; in memory alone when absent. */
  data?: string
  /**
   * `running` follows real time; `still` moves only by `advance`. By default as stored in `data`,
   * else `running`.
   */
  clock?: ClockMode
  /** Time at the start, ms since epoch; the real time by default. */
  startMs?: number
  /** `off`: no rate windows. For benchmarks. */
  rates?: WorldRules['rates']
  /** `local`: webhooks may be http and at any address. For bots on this machine. */
  webhooks?: WorldRules['webhooks']
  /** Stands in for DNS when a webhook's host is resolved. */
  resolveHost?: WorldRules['resolveHost']
  /**
   * How many ms of real time `advance` waits for a receiver that does not answer; 10 000 by default.
   */
  receiverPatienceMs?: number
  /** How many of the newest calls the transcript holds; 10 000 by default, 0 for none. */
  transcriptCalls?: number
}

/** Opens the world that a file holds, or makes a new and empty one. @throws OperatorError */
export async function openWorld(options: WorldOptions): Promise<World> {
  return createWorld(await openPersistence(options.data), options)
}

/**
 * Makes the world that takes another one's place and begins with these rows, its clock too. The
 * other one goes on until the persistence of the new one is started.
 */
export function createSuccessor(
  { persistence }: World,
  { rows, options }: { rows: readonly RecordRow[]; options: WorldOptions },
): World {
  const { clock: _mode, startMs: _time, ...rest } = options
  return createWorld(persistence.successor(rows), rest)
}

function createWorld(persistence: Persistence, options: WorldOptions): World {
  const clocks = persistence.map<string, ClockState>('clock')
  const isNew = clocks.size === 0
  return new World({
    persistence,
    clocks,
    isNew,
    clock: openClock(options, clocks.get(CLOCK_KEY)),
    rules: {
      rates: options.rates ?? 'spec',
      webhooks: options.webhooks ?? 'public',
      resolveHost: options.resolveHost ?? resolveByDns,
      receiverPatienceMs: options.receiverPatienceMs ?? FIXED_LIMITS.webhookAnswerMs,
    },
    transcript: new Transcript(options.transcriptCalls ?? 10_000, persistence.map(CALL_KIND)),
    faults: new Faults(),
  })
}

/** Loads SQLite only when it is used. */
async function openPersistence(file: string | undefined): Promise<Persistence> {
  if (file === undefined) return new Persistence()
  const { FilePersistence } = await import('./persistence/file.ts')
  return FilePersistence.open(file)
}

function openClock({ clock, startMs }: WorldOptions, stored: ClockState | undefined): WorldClock {
  if (stored === undefined) return new WorldClock({ mode: clock ?? 'running', startMs })
  const before = WorldClock.from(stored)
  if (clock === undefined || clock === stored.mode) return before
  return new WorldClock({ mode: clock, startMs: before.now() })
}

async function resolveByDns(host: string): Promise<string[]> {
  return (await lookup(host, { all: true })).map(({ address }) => address)
}
