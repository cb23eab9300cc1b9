/** Opening what is asked for side by side: a few at a time, step by step, and all else in between. */
import { setImmediate as immediate } from 'node:timers/promises'
import type { Opened, UnlockedKey } from '../engine.ts'
import { walkMessage, type OwnIds, type Walked } from '../format/encrypted-message.ts'
import { agree, begin, finish, nameIn, type Begun } from './open.ts'
import type { OwnKey, OwnKeys } from './own-keys.ts'

/** A message that somebody wants to read. */
export interface ToOpen {
  armored: string
  keys: UnlockedKey[]
  ids: OwnIds
  signal: AbortSignal | undefined
}

/** What became of it; as it was walked where it is the library's to open. */
export type Left = Opened | Walked

interface Asked {
  message: ToOpen
  resolve: (left: Left) => void
  reject: (error: unknown) => void
}

/** One that can be opened here, or what is left of it. */
type Step = Begun | { left: () => Left }

/** As many take a millisecond, unless they are long. */
const TOGETHER = 8
const TOGETHER_CHARS = 65_536
/** As many before all others, so that their signatures are verified beside the next ones. */
const AT_FIRST = 2

export class Opener {
  readonly #own: OwnKeys
  readonly #isNative: () => boolean
  readonly #waiting: Asked[] = []
  #isBusy = false

  /** @param isNative false when everything is the library's to open */
  constructor(own: OwnKeys, isNative: () => boolean) {
    this.#own = own
    this.#isNative = isNative
  }

  /** Whether anything is being opened, waits for its turn, or was just opened beside others. */
  get isBusy(): boolean {
    return this.#isBusy
  }

  /** Opens one when its turn has come; in the order in which they were asked for. */
  open(message: ToOpen): Promise<Left> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ message, resolve, reject })
      if (this.#isBusy) return
      this.#isBusy = true
      queueMicrotask(() => void this.#openAll())
    })
  }

  async #openAll(): Promise<void> {
    for (let most = AT_FIRST; ; most = TOGETHER) {
      const some = this.#next(most)
      await this.#openSome(some)
      // One that came alone is all that there is; others are followed by what becomes of them.
      const isAlone = some.length === 1 && this.#waiting.length === 0
      if (!isAlone) await immediate()
      if (this.#waiting.length === 0) break
    }
    this.#isBusy = false
  }

  /** Those whose turn it is. */
  #next(most: number): Asked[] {
    let count = 0
    for (let chars = 0; count < most && count < this.#waiting.length; count++) {
      chars += this.#waiting[count]?.message.armored.length ?? 0
      if (chars > TOGETHER_CHARS && count > 0) break
    }
    return this.#waiting.splice(0, count)
  }

  /** Each step for all of them before the next one: what is alike, the processor has at hand. */
  async #openSome(some: Asked[]): Promise<void> {
    const underway: { asked: Asked; step: Step; shared: Buffer | null }[] = []
    for (const asked of some) {
      const step = this.#begin(asked.message)
      underway.push({ asked, step: step instanceof Promise ? await step : step, shared: null })
    }
    for (const one of underway) if (!('left' in one.step)) one.shared = agree(one.step)
    for (const { asked, step, shared } of underway) {
      try {
        asked.resolve('left' in step ? step.left() : (finish(step, shared) ?? step.walked))
      } catch (error) {
        asked.reject(error)
      }
    }
  }

  /** Waits only where a key of ours must be asked for. */
  #begin({ armored, keys, ids, signal }: ToOpen): Step | Promise<Step> {
    try {
      const walked = walkMessage(armored, ids)
      const isOurs = walked.outcome === 'encrypted' && this.#isNative() && signal?.aborted !== true
      const named = isOurs ? nameIn(walked, keys) : null
      if (!isOurs || named === null) return { left: () => walked }
      const stepWith = (known: OwnKey | null): Step =>
        begin(walked, named, known) ?? { left: () => walked }
      const known = this.#own.now(named.key)
      return known === undefined ? this.#own.of(named.key).then(stepWith, failing) : stepWith(known)
    } catch (error) {
      return failing(error)
    }
  }
}

function failing(error: unknown): Step {
  const left = (): Left => {
    throw error
  }
  return { left }
}
