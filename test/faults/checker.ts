/** Decides over the logs of a run whether every promise was kept (SECURITY, 4). */
import type { ChatRow } from '../../src/control/chats.ts'
import type { KeyRow } from '../../src/control/keys.ts'
import type { InboxEntry } from '../../src/sandbox/phone/seen.ts'
import type { TranscriptCall } from '../../src/sandbox/transcript.ts'
import { checkUpdates } from './check-updates.ts'
import { checkSecrecy } from './check-secrecy.ts'
import type { History } from './history.ts'

/** What is left when a run is over. */
export interface Evidence {
  /** Every call that the service received, and what it answered. */
  service: TranscriptCall[]
  /** Every byte that went towards the service. */
  wire: Buffer[]
  /** What each phone showed. */
  phones: readonly (readonly Omit<InboxEntry, 'n' | 'at' | 'kind'>[])[]
  /** The fingerprint that the service publishes for the bot. */
  published: string | null
  /** The sidecar's own keys and chats at the end; null when it could not be asked. */
  keys: KeyRow[] | null
  chats: ChatRow[] | null
  /** Everything that the sidecar wrote to its log, in all its lives. */
  log: string
  /** Every file of the data directory. */
  atRest: Buffer[]
  secrets: readonly string[]
  /** Encrypted from the start. */
  encryptedChats: readonly number[]
}

export interface Outcome {
  seed: number
  breaches: string[]
  /** One line for people. */
  line: string
}

/** Compares what was written, handled and said. */
export function check(history: History, evidence: Evidence): Outcome {
  const updates = checkUpdates(history, evidence)
  const breaches = [
    ...history.breaches,
    ...updates.breaches,
    ...checkSecrecy(history, evidence),
    ...checkKeys(evidence),
    ...checkSends(history, evidence),
    ...checkMemory(history, evidence),
  ]
  const accepted = [...history.said.values()].filter((said) => said.accepted.length > 0).length
  const names = [...new Set(history.episodes.map(({ name }) => name))].sort()
  const line = [
    `${history.written.length} written`,
    `${updates.handled} handled (${updates.excused} not readable in trouble)`,
    `${accepted} of ${history.said.size} sends accepted`,
    `${history.episodes.length} troubles: ${names.join(' ')}`,
  ].join(', ')
  return { seed: history.seed, breaches, line }
}

/** I3: one key, ever; the one that the service shows. */
function checkKeys({ service, published, keys }: Evidence): string[] {
  const put = service
    .filter(({ method, path }) => method === 'PUT' && path.endsWith('/key'))
    .map(({ body }) => /"fingerprint":"(\w+)"/.exec(body)?.[1]?.toLowerCase())
  const different = new Set(put)
  if (keys === null) return ['I3: the sidecar could not be asked for its keys']
  const active = keys.filter(({ state }) => state === 'active')
  return [
    ...(different.size === 1 ? [] : [`I3: ${different.size} different keys were published`]),
    ...(keys.length === 1 ? [] : [`I3: the sidecar holds ${keys.length} keys`]),
    ...(active.length === 1 && active[0]?.fingerprint === published?.toLowerCase()
      ? []
      : ['I3: the published key is not the active one']),
  ]
}

/** I4: what was accepted is there once, in its chat, and what was not at most once. */
function checkSends(history: History, { phones }: Evidence): string[] {
  const shown = phones.flat()
  return [...history.said.values()].flatMap(({ canary, chatId, accepted, sendId }) => {
    const seen = shown.filter(({ text }) => text.includes(canary))
    const messages = new Set(seen.map((one) => `${one.chatId}:${one.messageId}`))
    const wanted = accepted.length > 0 ? [`${chatId}:${accepted[0]}`] : [...messages].slice(0, 1)
    const same = messages.size === wanted.length && wanted.every((id) => messages.has(id))
    return [
      ...(new Set(accepted).size <= 1 ? [] : [`I4: ${sendId} was accepted as two messages`]),
      ...(same ? [] : [`I4: ${sendId}: ${messages.size} messages, ${wanted.length} accepted`]),
    ]
  })
}

/** I5: what was once known of a chat is known ever after. */
function checkMemory(history: History, evidence: Evidence): string[] {
  const breaches: string[] = []
  const latched = new Set<number>()
  const wasPrivate = new Set<number>()
  const looks = history.remembered.map(({ chats }) => chats)
  if (evidence.chats !== null) looks.push(evidence.chats)
  for (const chats of looks) {
    const now = new Map(chats.map((chat) => [chat.id, chat]))
    for (const id of latched) {
      if (now.get(id)?.latched !== true) breaches.push(`I5: chat ${id} lost its latch`)
    }
    for (const id of wasPrivate) {
      if (now.get(id)?.kind !== 'private') breaches.push(`I5: chat ${id} is private no more`)
    }
    for (const chat of chats) {
      if (chat.latched) latched.add(chat.id)
      if (chat.kind === 'private') wasPrivate.add(chat.id)
    }
  }
  for (const id of evidence.encryptedChats) {
    if (!latched.has(id)) breaches.push(`I5: chat ${id} was never known to be protected`)
  }
  return [...new Set(breaches)]
}
