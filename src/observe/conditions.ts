import { Listeners } from '../util/listeners.ts'

/** What a condition is, and what to do about it. */
export interface ConditionText {
  what: string
  hint: string
}

/** One condition that holds, for people and probes. */
export interface Condition<Code extends string> {
  code: Code
  /** What is the matter, with its detail. */
  message: string
  /** What to do about it. */
  hint: string
  /** Since when, ms since epoch. */
  sinceMs: number
}

/** A condition came up (`holds`), or went. */
export interface ConditionChange<Code extends string> {
  code: Code
  holds: boolean
}

/** Which of the conditions of a table hold now. */
export class Conditions<Code extends string> {
  readonly #table: Readonly<Record<Code, ConditionText>>
  readonly #holding = new Map<Code, { detail: string; sinceMs: number }>()
  readonly #changes = new Listeners<ConditionChange<Code>>()
  /** Calls back when a condition comes up and when it goes, until the returned function is called. */
  readonly onChange = this.#changes.add

  constructor(table: Readonly<Record<Code, ConditionText>>) {
    this.#table = table
  }

  /**
   * States a condition. Stated again, it keeps its beginning and takes the new detail.
   * @param detail what exactly, for people; no secrets and nobody's words; may be empty
   */
  set(code: Code, detail: string): void {
    const known = this.#holding.get(code)
    this.#holding.set(code, { detail, sinceMs: known?.sinceMs ?? Date.now() })
    if (known === undefined) this.#changes.emit({ code, holds: true })
  }

  /** Takes a condition back; nothing happens when it was not stated. */
  clear(code: Code): void {
    if (this.#holding.delete(code)) this.#changes.emit({ code, holds: false })
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
