/** A client that reads updates by polling one sidecar after the other. It confirms some of what it was given. */
import { setTimeout as pause } from 'node:timers/promises'
import { callAt } from '../support/bot-call.ts'
import type { Random } from '../support/faults-random.ts'
import type { Door, Update } from './bot.ts'
import type { History } from './history.ts'

const RETRY_MS = 150

export interface ReaderOptions {
  door: Door
  history: History
  random: Random
  name: string
  token: string
}

export class Reader {
  readonly #o: ReaderOptions
  #next = 0
  #offset = 0

  constructor(options: ReaderOptions) {
    this.#o = options
  }

  /** Polls until it was answered: from then on nothing is to be missing. */
  async begin(): Promise<void> {
    while (!(await this.#poll(0))) await pause(RETRY_MS)
  }

  async readAlong(enough: AbortSignal): Promise<void> {
    const { random } = this.#o
    while (!enough.aborted) {
      if (random.oneIn(2)) this.#offset = this.#next
      if (!(await this.#poll(1))) await pause(RETRY_MS)
    }
  }

  async #poll(seconds: number): Promise<boolean> {
    const { door, history, name: client, token } = this.#o
    const [base, offset] = [door.bot, this.#offset]
    if (base === null) return false
    const path = `/updates?timeout=${seconds}${offset === 0 ? '' : `&offset=${offset}`}`
    const signal = AbortSignal.timeout((seconds + 4) * 1000)
    const answer = await callAt(base, token, { method: 'GET', path, signal }).catch(() => null)
    if (answer?.status !== 200) return false
    const updates = (answer.json.result as Update[]).map(({ updateId, message }) => {
      return { updateId, chatId: message?.chat.id ?? 0, messageId: message?.id ?? 0 }
    })
    history.polled.push({ client, sidecar: door.sidecarOf?.(base) ?? null, offset, updates })
    this.#next = Math.max(this.#next, (updates.at(-1)?.updateId ?? 0) + 1)
    return true
  }
}
