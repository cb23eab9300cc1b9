/** How calls of the outbox ended, as updates for the bot (setting `outbox.updates`). */
import type { OutboxEntries, OutboxEntry } from './entries.ts'

const MOST = 100

export class OutboxNews {
  readonly #entries: OutboxEntries
  readonly #isOn: boolean
  #more = new AbortController()

  constructor(entries: OutboxEntries, { isOn }: { isOn: boolean }) {
    this.#entries = entries
    this.#isOn = isOn
    entries.onChange(() => {
      if (this.#unheard().length > 0) this.#more.abort()
    })
  }

  /** Aborts when there is something that the bot has not heard of. */
  get signal(): AbortSignal {
    const isOver = this.#more.signal.aborted && this.#unheard().length === 0
    if (isOver) this.#more = new AbortController()
    return this.#more.signal
  }

  /** @param updateId of the update before them, so that an offset counted from it confirms nothing more */
  after(updateId: number) {
    return this.#unheard().map(({ id, state, chatId, sentId: messageId, code }) => {
      const outbox = { id, state, chatId, messageId, code }
      return { id, update: { updateId, kind: 'postern_outbox', postern_outbox: outbox } }
    })
  }

  /** Records that the bot has heard of entries; if unwritten, it hears of them again. */
  async heard(ids: readonly string[]): Promise<void> {
    await this.#entries.hear(ids).catch(() => undefined)
  }

  #unheard(): OutboxEntry[] {
    if (!this.#isOn) return []
    const all = this.#entries.all.filter((entry) => entry.settledAtMs !== null && !entry.isHeard)
    return all.slice(0, MOST)
  }
}
