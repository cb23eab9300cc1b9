import { Listeners } from '../util/listeners.ts'

/** The text of each condition, and what to do about it. */
type ConditionTable<Code extends string> = Readonly<Record<Code, { what: string; hint: string }>>

/** One condition that holds, for people and probes. */
export interface Condition<Code extends string> {
  code: Code
  /** The condition, with its detail. */
  message: string
  /** What to do about it. */
  hint: string
  /** Since when, ms since epoch. */
  sinceMs: number
}

/** A condition began (`holds`), or ended. */
export interface ConditionChange<Code extends string> {
  code: Code
  holds: boolean
}

/** Which of the conditions of a table hold now. */
export class Conditions<Code extends string> {
  readonly #table: ConditionTable<Code>
  readonly #holding = new Map<Code, { detail: string; sinceMs: number }>()
  readonly #changes = new Listeners<ConditionChange<Code>>()
  /** Calls back when a condition begins and when it ends, until the returned function is called. */
  readonly onChange = this.#changes.add

  constructor(table: ConditionTable<Code>) {
    this.#table = table
  }

  /**
   * States a condition. A repetition keeps its beginning and replaces the detail.
   * @param detail for people; no secrets and no person's text; may be empty
   */
  set(code: Code, detail: string): void {
    const known = this.#holding.get(code)
    this.#holding.set(code, { detail, sinceMs: known?.sinceMs ?? Date.now() })
    if (known === undefined) this.#changes.emit({ code, holds: true })
  }

  /** Ends a condition; no effect when it was not stated. */
  clear(code: Code): void {
    if (this.#holding.delete(code)) this.#changes.emit({ code, holds: false })
  }

  /** States a condition with its detail, or, for null, ends it. */
  show(code: Code, detail: string | null): void {
    if (detail === null) this.clear(code)
    else this.set(code, detail)
  }

  /** Whether a condition holds now. */
  holds(code: Code): boolean {
    return this.#holding.has(code)
  }

  /** All conditions that hold, the oldest first. */
  all(): Condition<Code>[] {
    return [...this.#holding].map(([code, { detail, sinceMs }]) => {
      const { what, hint } = this.#table[code]
      return { code, message: detail === '' ? what : `${what}: ${detail}`, hint, sinceMs }
    })
  }
}
