/** I5: what was once known of a chat is known ever after, by whoever knew it. */
import type { Evidence } from './checker.ts'
import { lastAllowedMs, UNDER_WAY_MS, type History, type Remembered } from './history.ts'

/** Stands for the store in place of one life of a sidecar. */
const STORE = 'store'

type Chat = Remembered['chats'][number]

/** A fact of a chat that only its operator takes back. */
interface Fact {
  holds: (chat: Chat | undefined) => boolean
  isAllowed: boolean
  lost: (id: number) => string
}

const FACTS: readonly Fact[] = [
  {
    holds: (chat) => chat?.latched === true,
    isAllowed: true,
    lost: (id) => `I5: chat ${id} lost its latch`,
  },
  {
    holds: (chat) => chat?.kind === 'private',
    isAllowed: false,
    lost: (id) => `I5: chat ${id} is private no more`,
  },
]

/**
 * A sidecar keeps in memory what it cannot write, and is not to forget it while it lives. What the
 * store had, or the bot was told with success, is kept for good, whoever is killed.
 */
export function checkMemory(history: History, { chats, encryptedChats }: Evidence): string[] {
  const looks = [...history.remembered]
  if (chats !== null) looks.push({ atMs: Infinity, chats })
  const lives = Map.groupBy(looks, ({ by }) => by ?? STORE)
  const lost = [...lives].flatMap(([by, seen]) =>
    FACTS.flatMap((fact) =>
      lostOf(fact, { history, looks: seen, told: by === STORE ? history.sightings : [] }),
    ),
  )
  const isKnown = (id: number): boolean =>
    looks.some((look) => look.chats.some((chat) => chat.id === id && chat.latched))
  const unknown = encryptedChats
    .filter((id) => !isKnown(id))
    .map((id) => `I5: chat ${id} was never known to be protected`)
  return [...new Set([...lost, ...unknown])]
}

function lostOf(
  { holds, isAllowed, lost }: Fact,
  o: { history: History; looks: readonly Remembered[]; told: History['sightings'] },
): string[] {
  const knownAtMs = new Map<number, number>()
  const breaches: string[] = []
  for (const { chats, atMs, askedAtMs = atMs } of o.looks) {
    const told = isAllowed ? o.told.filter((one) => one.atMs < askedAtMs) : []
    for (const { chatId, atMs: toldAtMs } of told) {
      knownAtMs.set(chatId, Math.max(toldAtMs, knownAtMs.get(chatId) ?? 0))
    }
    for (const [id, sinceMs] of knownAtMs) {
      // what an operator loosened meanwhile is loose, until it is seen again
      const allowedAtMs = isAllowed ? lastAllowedMs(o.history, { chatId: id, atMs }) : -Infinity
      if (sinceMs <= allowedAtMs + UNDER_WAY_MS) knownAtMs.delete(id)
      else if (sinceMs < askedAtMs && !holds(chats.find((chat) => chat.id === id))) {
        breaches.push(lost(id))
      }
    }
    for (const chat of chats) {
      // what loosened it while the look was under way may have come after its answer
      if (holds(chat) && !knownAtMs.has(chat.id)) knownAtMs.set(chat.id, askedAtMs)
    }
  }
  return breaches
}
