import { Counter, Gauge, type Registry } from '@prometheus-io/client'

const STATES = ['pending', 'active', 'retired', 'destroyed'] as const
const SITUATIONS = ['equal', 'pending', 'older', 'foreign', 'none', 'first'] as const
const OUTCOMES = ['done', 'abandoned', 'refused', 'unanswered', 'unconfirmed', 'not-made'] as const

/** What is known of our keys, asked when somebody looks. */
export interface KeySource {
  keys(): readonly { state: (typeof STATES)[number]; publishedAtMs: number | null }[]
  /** What the last look at `/me` found; null before the first. */
  situation(): (typeof SITUATIONS)[number] | null
}

/** What is counted of the bot's own keys. */
export class KeyMetrics {
  readonly #rotations: Counter<string>
  readonly #opened: Counter<string>

  constructor(registry: Registry, source: KeySource) {
    const registers = [registry]
    this.#rotations = new Counter({
      name: 'postern_rotations_total',
      help: 'Attempts at a rotation of the bot’s key, by what came of them',
      labelNames: ['outcome'],
      registers,
    })
    for (const outcome of OUTCOMES) this.#rotations.inc({ outcome }, 0)
    this.#opened = new Counter({
      name: 'postern_opened_by_key_total',
      help: 'Messages opened, by the state of the key that opened them',
      labelNames: ['state'],
      registers,
    })
    for (const gauge of gaugesOf(source)) registry.registerMetric(gauge)
  }

  /** An attempt at a rotation ended. */
  rotated(outcome: (typeof OUTCOMES)[number]): void {
    this.#rotations.inc({ outcome })
  }

  /** A message was opened with a key of this state. */
  opened(state: (typeof STATES)[number]): void {
    this.#opened.inc({ state })
  }
}

function gaugesOf(source: KeySource): Gauge<string>[] {
  const age = new Gauge({
    name: 'postern_key_age_seconds',
    help: 'Time since the active key was published; absent while there is none',
    registers: [],
    collect() {
      const at = source.keys().find(({ state }) => state === 'active')?.publishedAtMs ?? null
      this.reset()
      if (at === null) this.remove()
      else this.set((Date.now() - at) / 1000)
    },
  })
  const count = new Gauge({
    name: 'postern_own_keys',
    help: 'The bot’s own keys, by state',
    labelNames: ['state'],
    registers: [],
    collect() {
      for (const state of STATES) {
        this.set({ state }, source.keys().filter((key) => key.state === state).length)
      }
    },
  })
  const situation = new Gauge({
    name: 'postern_key_situation',
    help: '1 for what the service was last seen to show against what we hold',
    labelNames: ['situation'],
    registers: [],
    collect() {
      const holds = source.situation()
      for (const one of SITUATIONS) this.set({ situation: one }, one === holds ? 1 : 0)
    },
  })
  return [age, count, situation] as Gauge<string>[]
}
