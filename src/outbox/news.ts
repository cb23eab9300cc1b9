/** How calls of the outbox ended, as updates for the bot (setting `outbox.updates`). */
import type { OutboxEntries, OutboxEntry } from './entries.ts'

const MOST = 100

export type OutboxNews = ReturnType<typeof outboxNews>

export function outboxNews(entries: OutboxEntries, { isOn }: { isOn: boolean }) {
  const unwritten = new Set<string>()
  let more = new AbortController()

  const unheard = (): OutboxEntry[] => {
    if (!isOn) return []
    const isNew = (entry: OutboxEntry): boolean =>
      entry.settledAtMs !== null && !entry.isHeard && !unwritten.has(endOf(entry))
    return entries.all.filter(isNew).slice(0, MOST)
  }

  entries.onChange(() => {
    if (unheard().length > 0) more.abort()
  })

  return {
    /** Aborts when there is something that the bot has not heard of. */
    get signal(): AbortSignal {
      const { aborted } = more.signal
      if (aborted && unheard().length === 0) more = new AbortController()
      return more.signal
    },
    /** @param updateId of the update before them, so that an offset counted from it confirms nothing more */
    after: (updateId: number) =>
      unheard().map((entry) => {
        const { id, state, chatId, sentId: messageId, code, replacedBy } = entry
        const postern_outbox = { id, state, chatId, messageId, code, replacedBy }
        return { id: endOf(entry), update: { updateId, kind: 'postern_outbox', postern_outbox } }
      }),
    /** Records that the bot has heard of ends; if unwritten, it hears of them again after a start. */
    heard: async (ends: readonly string[]): Promise<void> => {
      for (const end of ends) {
        unwritten.add(end)
        const [id = ''] = end.split(' ')
        const how = (entry: OutboxEntry) => (endOf(entry) === end ? { isHeard: true } : null)
        const writing = entries.change(id, how).then(() => unwritten.delete(end))
        await writing.catch(() => undefined)
      }
    },
  }
}

/** An entry that was sent after a refusal has another end. */
const endOf = ({ id, settledAtMs }: OutboxEntry): string => `${id} ${settledAtMs}`
