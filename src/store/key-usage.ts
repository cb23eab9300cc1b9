/** Counts of messages opened by each own key, to show when an old one is no longer needed. */
import type { Store } from './store.ts'

export type OpenedKind = 'message' | 'media'

/** A key's counts in all. `lastAtMs`: ms since the epoch, null when it has opened nothing yet. */
export interface KeyUsageCounts {
  messages: number
  media: number
  lastAtMs: number | null
}

/** Counts are written this long after an opening at the latest; a crash loses no more. */
const WRITE_AFTER_MS = 10_000

const NONE: KeyUsageCounts = { messages: 0, media: 0, lastAtMs: null }

export type KeyUsage = Awaited<ReturnType<typeof loadKeyUsage>>

/** Counts what each key opens. Its disposal writes the counts. */
export async function loadKeyUsage(store: Store) {
  const total = new Map<string, KeyUsageCounts>()
  let unwritten = new Map<string, KeyUsageCounts>()
  let timer: NodeJS.Timeout | undefined
  const rows = await store.read((db) =>
    db
      .selectFrom('own_keys')
      .select(['fingerprint', 'opened_messages as messages', 'opened_media as media'])
      .select('last_opened_at as lastAtMs')
      .execute(),
  )
  for (const { fingerprint, ...counts } of rows) total.set(fingerprint, counts)

  /** Writes the counts; counts that cannot be written now are written with the next. */
  const flush = async (): Promise<void> => {
    clearTimeout(timer)
    timer = undefined
    const counted = unwritten
    if (counted.size === 0) return
    unwritten = new Map()
    const write = store.write(async (db) => {
      for (const [fingerprint, { messages, media, lastAtMs }] of counted) {
        await db
          .updateTable('own_keys')
          .set((own) => ({
            opened_messages: own('opened_messages', '+', messages),
            opened_media: own('opened_media', '+', media),
            last_opened_at: lastAtMs ?? 0,
          }))
          .where('fingerprint', '=', fingerprint)
          .execute()
      }
    })
    await write.catch(() => {
      for (const [fingerprint, counts] of counted) addTo(unwritten, fingerprint, counts)
    })
  }

  return {
    /** @param fingerprint of the primary key */
    of: (fingerprint: string): KeyUsageCounts => total.get(fingerprint) ?? NONE,
    /** Counts something that a key has opened; redelivered updates count each time. */
    note(fingerprint: string, kind: OpenedKind): void {
      const [messages, media] = kind === 'message' ? [1, 0] : [0, 1]
      const one = { messages, media, lastAtMs: Date.now() }
      for (const counts of [total, unwritten]) addTo(counts, fingerprint, one)
      timer ??= setTimeout(() => void flush(), WRITE_AFTER_MS).unref()
    },
    flush,
    [Symbol.asyncDispose]: flush,
  }
}

function addTo(
  sums: Map<string, KeyUsageCounts>,
  fingerprint: string,
  { messages, media, lastAtMs }: KeyUsageCounts,
): void {
  const sum = sums.get(fingerprint) ?? NONE
  sums.set(fingerprint, {
    messages: sum.messages + messages,
    media: sum.media + media,
    lastAtMs: Math.max(sum.lastAtMs ?? 0, lastAtMs ?? 0),
  })
}
