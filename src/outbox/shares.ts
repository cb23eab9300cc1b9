/** How much of the outbox each caller may fill. */
import { Refusal } from '../errors.ts'
import { isOver, type OutboxEntry } from './entry.ts'

/** At most so many entries, and bytes of those with words; the next is refused. */
const MOST = { entries: 10_000, bytes: 64 * 2 ** 20 }
/** What clients may have of that: all together, and each. The bot has the rest, and what they leave. */
const PARTS = { clients: 2, client: 8 }
const FULL_SECONDS = 60

interface Share {
  of: string
  entries: number
  bytes: number
  isOf: (entry: OutboxEntry) => boolean
}

function shareOf(of: string, part: number, isOf: Share['isOf']): Share {
  return { of, entries: MOST.entries / part, bytes: MOST.bytes / part, isOf }
}

/** The share of a caller alone. @param client null: the bot, whose share is the whole */
export function mostOf(client: string | null): Share {
  if (client === null) return shareOf('the outbox', 1, () => true)
  return shareOf(`client ${client}`, PARTS.client, (one) => one.client === client)
}

const OF_CLIENTS = shareOf('all clients together', PARTS.clients, ({ client }) => client !== null)

/**
 * @param call an entry that is to be added
 * @throws Refusal `postern_outbox_full`, which names the share that has no room
 */
export function requireRoom(
  entries: readonly OutboxEntry[],
  call: Pick<OutboxEntry, 'client' | 'bytes'>,
): void {
  const unsent = entries.filter((entry) => !isOver(entry))
  const shares = call.client === null ? [] : [OF_CLIENTS, mostOf(call.client)]
  for (const { of, isOf, ...most } of [mostOf(null), ...shares]) {
    const kept = unsent.filter(isOf)
    const bytes = kept.reduce((total, entry) => total + entry.bytes, call.bytes)
    if (kept.length < most.entries && bytes <= most.bytes) continue
    const share = `${of} may have ${most.entries} calls and ${most.bytes / 2 ** 20} MiB`
    throw new Refusal('postern_outbox_full', share, { extra: { retryAfter: FULL_SECONDS } })
  }
}
