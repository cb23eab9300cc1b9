/** Opening what is asked for side by side: a few at a time, step by step, and all else in between. */
import { setImmediate as immediate } from 'node:timers/promises'
import type { NotOpened, Opened, UnlockedKey } from '../engine.ts'
import { walkMessage, type OwnIds, type Walked } from '../walk.ts'
import { agree, begin, finish, type Begun } from './open.ts'
import type { OwnKeys } from './own-keys.ts'

/** A message that somebody wants to read. */
export interface ToOpen {
  armored: string
  keys: UnlockedKey[]
  ids: OwnIds
  signal: AbortSignal | undefined
}

/** What became of it; as it was walked where it is the library's to open. */
export type Left = Opened | Walked

interface Asked extends ToOpen {
  resolve: (left: Left) => void
  reject: (error: unknown) => void
}

/** As many take a millisecond, unless they are long. */
const TOGETHER = 8
const TOGETHER_CHARS = 65_536

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

  /** Whether anything is being opened, or waits for its turn. */
  get isBusy(): boolean {
    return this.#isBusy
  }

  /** Opens one when its turn has come; in the order in which they were asked for. */
  open(message: ToOpen): Promise<Left> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ ...message, resolve, reject })
      if (this.#isBusy) return
      this.#isBusy = true
      queueMicrotask(() => void this.#openAll())
    })
  }

  async #openAll(): Promise<void> {
    for (;;) {
      await this.#openSome(this.#next())
      this.#isBusy = this.#waiting.length > 0
      if (!this.#isBusy) return
      await immediate()
    }
  }

  /** Those whose turn it is. */
  #next(): Asked[] {
    let count = 0
    for (let chars = 0; count < TOGETHER && count < this.#waiting.length; count++) {
      chars += this.#waiting[count]?.armored.length ?? 0
      if (chars > TOGETHER_CHARS && count > 0) break
    }
    return this.#waiting.splice(0, count)
  }

  /** Each step for all of them before the next one: what is alike, the processor has at hand. */
  async #openSome(some: Asked[]): Promise<void> {
    const begun = await Promise.all(some.map((one) => this.#begin(one)))
    for (const one of begun) if ('secret' in one) agree(one)
    for (const [index, one] of begun.entries()) {
      const asked = some[index]
      try {
        asked?.resolve('secret' in one ? (finish(one) ?? one.walked) : one.left())
      } catch (error) {
        asked?.reject(error)
      }
    }
  }

  async #begin({ armored, keys, ids, signal }: Asked): Promise<Begun | { left: () => Left }> {
    try {
      const walked: Walked | NotOpened = walkMessage(armored, ids)
      const isOurs = walked.outcome === 'encrypted' && this.#isNative() && signal?.aborted !== true
      const begun = isOurs ? await begin(walked, keys, this.#own) : null
      return begun ?? { left: () => walked }
    } catch (error) {
      const left = (): Left => {
        throw error
      }
      return { left }
    }
  }
}
