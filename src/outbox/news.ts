/** How calls of the outbox ended, as updates for the bot (setting `outbox.updates`). */
import type { OutboxEntries, OutboxEntry } from './entries.ts'

const MOST = 100

export class OutboxNews {
  readonly #entries: OutboxEntries
  readonly #isOn: boolean
  readonly #unwritten = new Set<string>()
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
    const { aborted } = this.#more.signal
    if (aborted && this.#unheard().length === 0) this.#more = new AbortController()
    return this.#more.signal
  }

  /** @param updateId of the update before them, so that an offset counted from it confirms nothing more */
  after(updateId: number) {
    return this.#unheard().map((entry) => {
      const { id, state, chatId, sentId: messageId, code, replacedBy } = entry
      const end = { id, state, chatId, messageId, code, replacedBy }
      return { id: endOf(entry), update: { updateId, kind: 'postern_outbox', postern_outbox: end } }
    })
  }

  /** Records that the bot has heard of ends; if unwritten, it hears of them again after a start. */
  async heard(ends: readonly string[]): Promise<void> {
    for (const end of ends) {
      this.#unwritten.add(end)
      const [id = ''] = end.split(' ')
      const how = (entry: OutboxEntry) => (endOf(entry) === end ? { isHeard: true } : null)
      const writing = this.#entries.change(id, how)
      await writing.then(() => this.#unwritten.delete(end)).catch(() => undefined)
    }
  }

  #unheard(): OutboxEntry[] {
    if (!this.#isOn) return []
    const isNew = (entry: OutboxEntry): boolean =>
      entry.settledAtMs !== null && !entry.isHeard && !this.#unwritten.has(endOf(entry))
    return this.#entries.all.filter(isNew).slice(0, MOST)
  }
}

/** An entry that was sent after a refusal has another end. */
const endOf = ({ id, settledAtMs }: OutboxEntry): string => `${id} ${settledAtMs}`
