/** Opening what is asked for side by side: a few at a time, step by step, and all else in between. */
import { setImmediate as immediate } from 'node:timers/promises'
import type { Opened, UnlockedKey } from '../engine.ts'
import { parseMessage, type OwnIds, type EncryptedMessage } from '../format/encrypted-message.ts'
import { agree, begin, finish, nameIn, type BegunMessage } from './open.ts'
import type { NativeOwnKey, NativeOwnKeys } from './own-keys.ts'

/** A message that somebody wants to read. */
export interface OpenRequest {
  armored: string
  keys: UnlockedKey[]
  ids: OwnIds
  signal: AbortSignal | undefined
}

/** What became of it; as it was parsed where it is the library's to open. */
export type OpenResult = Opened | EncryptedMessage

interface PendingOpen {
  message: OpenRequest
  resolve: (result: OpenResult) => void
  reject: (error: unknown) => void
}

/** One that can be opened here, or what is left of it. */
type OpenStep = BegunMessage | { result: () => OpenResult }

/** As many take a millisecond, unless they are long. */
const TOGETHER = 8
const TOGETHER_CHARS = 65_536
/** As many before all others, so that their signatures are verified beside the next ones. */
const AT_FIRST = 2

export class MessageOpener {
  readonly #own: NativeOwnKeys
  readonly #isNative: () => boolean
  readonly #waiting: PendingOpen[] = []
  #isBusy = false

  /** @param isNative false when everything is the library's to open */
  constructor(own: NativeOwnKeys, isNative: () => boolean) {
    this.#own = own
    this.#isNative = isNative
  }

  /** Whether anything is being opened, waits for its turn, or was just opened beside others. */
  get isBusy(): boolean {
    return this.#isBusy
  }

  /** Opens one when its turn has come; in the order in which they were asked for. */
  open(message: OpenRequest): Promise<OpenResult> {
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
  #next(most: number): PendingOpen[] {
    let count = 0
    for (let chars = 0; count < most && count < this.#waiting.length; count++) {
      chars += this.#waiting[count]?.message.armored.length ?? 0
      if (chars > TOGETHER_CHARS && count > 0) break
    }
    return this.#waiting.splice(0, count)
  }

  /** Each step for all of them before the next one: what is alike, the processor has at hand. */
  async #openSome(some: PendingOpen[]): Promise<void> {
    const underway: { pending: PendingOpen; step: OpenStep; shared: Buffer | null }[] = []
    for (const pending of some) {
      const step = this.#begin(pending.message)
      underway.push({ pending, step: step instanceof Promise ? await step : step, shared: null })
    }
    for (const one of underway) if (!('result' in one.step)) one.shared = agree(one.step)
    for (const { pending, step, shared } of underway) {
      try {
        pending.resolve('result' in step ? step.result() : (finish(step, shared) ?? step.encrypted))
      } catch (error) {
        pending.reject(error)
      }
    }
  }

  /** Waits only where a key of ours must be asked for. */
  #begin({ armored, keys, ids, signal }: OpenRequest): OpenStep | Promise<OpenStep> {
    try {
      const encrypted = parseMessage(armored, ids)
      const isOurs =
        encrypted.outcome === 'encrypted' && this.#isNative() && signal?.aborted !== true
      const named = isOurs ? nameIn(encrypted, keys) : null
      if (!isOurs || named === null) return { result: () => encrypted }
      const stepWith = (known: NativeOwnKey | null): OpenStep =>
        begin(encrypted, named, known) ?? { result: () => encrypted }
      const known = this.#own.now(named.key)
      return known === undefined ? this.#own.of(named.key).then(stepWith, failing) : stepWith(known)
    } catch (error) {
      return failing(error)
    }
  }
}

function failing(error: unknown): OpenStep {
  const result = (): OpenResult => {
    throw error
  }
  return { result }
}
