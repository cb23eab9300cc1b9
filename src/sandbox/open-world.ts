import { lookup } from 'node:dns/promises'
import { FIXED_LIMITS } from '../api/limits.ts'
import { WorldClock, type ClockMode, type ClockState } from './clock.ts'
import { Faults } from './faults/faults.ts'
import { IN_MEMORY, plainKind, type Persistence } from './persistence/persistence.ts'
import { Transcript, type TranscriptCall } from './transcript.ts'
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
  const persistence = await openPersistence(options.data)
  const clocks = persistence.map<string, ClockState>(plainKind('clock'))
  const isNew = clocks.size === 0
  const calls =
    options.data === undefined ? null : persistence.map<number, TranscriptCall>(plainKind('call'))
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
    transcript: new Transcript(options.transcriptCalls ?? 10_000, calls),
    faults: new Faults(),
  })
}

/** Loads SQLite only when it is used. */
async function openPersistence(file: string | undefined): Promise<Persistence> {
  if (file === undefined) return IN_MEMORY
  const { FilePersistence } = await import('./persistence/file.ts')
  return await FilePersistence.open(file)
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
