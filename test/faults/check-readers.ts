/** I17: a client that reads gets each update of its chats, in order, and nothing that it confirmed. */
import type { Evidence } from './checker.ts'
import { queuedBy } from './check-updates.ts'
import type { History, Polled } from './history.ts'

export function checkReaders(history: History, evidence: Evidence): string[] {
  const queue = queuedBy(evidence).filter(({ chatId }) => chatId !== 0)
  const byClient = Map.groupBy(history.polled, ({ client }) => client)
  return [...byClient].flatMap(([client, polls]) => [
    ...polls.flatMap((poll) => checkPoll(client, poll)),
    ...checkGot(
      client,
      polls,
      queue.filter(({ chatId }) => evidence.readers[client]?.has(chatId)),
    ),
  ])
}

function checkPoll(client: string, { updates, offset, sidecar }: Polled): string[] {
  const numbers = updates.map(({ updateId }) => updateId)
  const below = numbers.filter((one) => one < offset)
  const gap = numbers.findIndex(
    (one, at) => one !== (at === 0 ? Math.max(offset, one) : numbers[at - 1]! + 1),
  )
  return [
    ...below.map(
      (one) => `I17: ${client} got ${one} from sidecar ${sidecar}, below its offset ${offset}`,
    ),
    ...(gap === -1 ? [] : [`I17: ${client} got ${numbers[gap]} after ${numbers[gap - 1]}`]),
  ]
}

/** What it confirmed, and what it got first, against what the service gave out of its chats. */
function checkGot(
  client: string,
  polls: readonly Polled[],
  queue: { chatId: number; messageId: number }[],
): string[] {
  const had = new Set<string>()
  const confirmed = new Map<string, number>()
  const got: string[] = []
  const latest = new Map<number, string>()
  const breaches: string[] = []
  for (const { offset, updates } of polls) {
    for (const [number, place] of latest) if (number < offset) confirmed.set(place, number)
    for (const { updateId, ...place } of updates) {
      const name = `message ${place.messageId} of chat ${place.chatId}`
      if (confirmed.has(name)) breaches.push(`I17: ${client} confirmed ${name}, and got it again`)
      if (!had.has(name)) got.push(name)
      had.add(name)
      latest.set(updateId, name)
    }
  }
  const due = queue.map(({ chatId, messageId }) => `message ${messageId} of chat ${chatId}`)
  const wrong = due.findIndex((name, at) => got[at] !== name)
  if (wrong !== -1) breaches.push(`I17: ${client} was to get ${due[wrong]}, and got ${got[wrong]}`)
  return [...new Set(breaches)]
}
