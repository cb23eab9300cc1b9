/** Decides over the logs of a run whether every promise was kept (SECURITY, 4). */
import type { ChatRow } from '../../src/operators/chats.ts'
import type { KeyRow } from '../../src/operators/keys.ts'
import type { InboxEntry } from '../../src/sandbox/phone/seen.ts'
import type { TranscriptCall } from '../../src/sandbox/transcript.ts'
import type { Keeper } from './keeper.ts'
import { checkDeliveries } from './check-deliveries.ts'
import { checkMemory } from './check-memory.ts'
import { checkOutbox } from './check-outbox.ts'
import { checkReaders } from './check-readers.ts'
import { checkUpdates, withReadings } from './check-updates.ts'
import { checkSecrecy } from './check-secrecy.ts'
import { lastAllowedMs, linesOf, UNDER_WAY_MS, unless, type History } from './history.ts'

/** What is left when a run is over. */
export interface Evidence {
  /** Every call that the service received, and what it answered. */
  service: TranscriptCall[]
  /** Every byte that went towards the service. */
  wire: Buffer[]
  /** What each phone showed. */
  phones: readonly (readonly (Omit<InboxEntry, 'n' | 'at' | 'kind'> & { at?: number })[])[]
  /** The fingerprint that the service publishes for the bot. */
  published: string | null
  /** The sidecar's own keys and chats at the end; null when it could not be asked. */
  keys: KeyRow[] | null
  chats: ChatRow[] | null
  /** What a sidecar says of its outbox and its journal; null when it could not be asked. */
  outbox: Awaited<ReturnType<Keeper['outbox']>>
  journal: Awaited<ReturnType<Keeper['journal']>>
  /** The bot is told of the ends of calls in the outbox. */
  hasNews: boolean
  /** What each client that reads may read, by chat. */
  readers: Readonly<Record<string, ReadonlySet<number>>>
  /** The key was replaced on the way, as an operator asked. */
  rotates?: boolean
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
  /** The lines of the history, and everything that the sidecar wrote to its log. */
  log: string
}

/** Compares what was written, handled and said. */
export function check(given: History, evidence: Evidence): Outcome {
  const history = withReadings(given, evidence)
  const updates = checkUpdates(history, evidence)
  const breaches = [
    ...history.breaches,
    ...updates.breaches,
    ...checkDeliveries(history),
    ...checkSecrecy(history, evidence),
    ...checkKeys(evidence),
    ...checkSends(history, evidence),
    ...checkMemory(history, evidence),
    ...checkReadable(history, evidence),
    ...checkSignatures(history, evidence),
    ...checkEdits(history, evidence),
    ...checkOutbox(history, evidence),
    ...checkReaders(history, evidence),
    ...checkJournal(history, evidence),
    ...checkReady(history),
  ]
  const accepted = [...history.said.values()].filter((said) => said.accepted.length > 0).length
  const names = [...new Set(history.episodes.map(({ name }) => name))].sort()
  const { readyAfterMs, heardAfterMs, settledAfterMs } = history
  const times = [
    ['ready', readyAfterMs],
    ['heard', heardAfterMs],
    ['settled', settledAfterMs],
  ] as const
  const line = [
    `${history.written.length} written`,
    `${updates.handled} handled (${updates.excused} not readable in trouble)`,
    `${timesIn(evidence.log, 'is left at the service')} left at the service and ${timesIn(evidence.log, 'left at the service came')} came`,
    `${accepted} of ${history.said.size} sends accepted`,
    outboxLine(history, evidence),
    ...times.flatMap(([what, ms]) => (ms === null ? [] : [`${what} after ${seconds(ms)}`])),
    `${history.episodes.length} troubles: ${names.join(' ')}`,
  ].join(', ')
  const log = [...linesOf(history), evidence.log].join('\n')
  return { seed: history.seed, breaches, line, log }
}

const seconds = (ms: number): string => `${(ms / 1000).toFixed(1)} s`

function outboxLine({ later, asked, words, polled }: History, { outbox }: Evidence): string {
  const ends = Map.groupBy(outbox ?? [], ({ state }) => state)
  const states = [...ends].map(([state, all]) => `${all.length} ${state}`)
  const polls = polled.length === 0 ? '' : `, ${polled.length} polls of clients`
  const people = `${asked.length} words asked for and ${words.length} given`
  return `${later.length} for later (${states.join(', ')}), ${people}${polls}`
}

const timesIn = (log: string, words: string): number => log.split(words).length - 1

/** I3: one key, ever, or one sequence of them; the last is the one that the service shows. */
function checkKeys({ service, published, keys, rotates = false }: Evidence): string[] {
  const put = service
    .filter(({ method, path }) => method === 'PUT' && path.endsWith('/key'))
    .map(({ body }) => /"fingerprint":"(\w+)"/.exec(body)?.[1]?.toLowerCase())
  const different = new Set(put)
  const turns = put.filter((one, n) => one !== put[n - 1])
  if (keys === null) return ['I3: the sidecar could not be asked for its keys']
  const active = keys.filter(({ state }) => state === 'active')
  const isActive = active.length === 1 && active[0]?.fingerprint === published?.toLowerCase()
  return [
    ...unless(turns.length === different.size, 'I3: a key was published again after another'),
    ...unless(
      different.size === 1 || rotates,
      `I3: ${different.size} different keys were published`,
    ),
    ...unless(keys.length === 1 || rotates, `I3: the sidecar holds ${keys.length} keys`),
    ...keysNobodyHolds(put, keys),
    ...unless(isActive, 'I3: the published key is not the active one'),
  ]
}

function keysNobodyHolds(put: readonly (string | undefined)[], keys: KeyRow[]): string[] {
  const held = new Set(keys.map(({ fingerprint }) => fingerprint))
  return [...new Set(put)]
    .filter((one) => one !== undefined && !held.has(one))
    .map((one) => `I3: the key ${one} was published and is held by nobody`)
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
      ...unless(new Set(accepted).size <= 1, `I4: ${sendId} was accepted as two messages`),
      ...unless(same, `I4: ${sendId}: ${messages.size} messages, ${wanted.length} accepted`),
    ]
  })
}

/** I2: into a chat that the store, or the bot, had seen protected goes no readable word. */
function checkReadable(history: History, { service }: Evidence): string[] {
  const stored = history.remembered.filter(({ by }) => by === undefined)
  const looks = stored.flatMap(({ atMs, askedAtMs = atMs, chats }) =>
    chats.filter(({ latched }) => latched).map(({ id: chatId }) => ({ chatId, atMs, askedAtMs })),
  )
  const sightings = [...looks, ...history.sightings]
  return service.flatMap(({ method, path, at, by, body }) => {
    if (by !== 'api' || method !== 'POST' || !path.endsWith('/messages')) return []
    const chatId = Number(/"chatId":(\d+)/.exec(body)?.[1])
    const allowedAtMs = lastAllowedMs(history, { chatId, atMs: at })
    const seen = sightings.filter((one) => one.chatId === chatId && one.askedAtMs > allowedAtMs)
    const knownAtMs = Math.min(...seen.map(({ atMs }) => atMs))
    if (!/"text":/.test(body) || at < knownAtMs + UNDER_WAY_MS) return []
    return [
      `I2: readable words for chat ${chatId}, ${at - knownAtMs} ms after it was seen protected`,
    ]
  })
}

/** I4: an edit that was accepted is there. */
function checkEdits({ said }: History, { phones }: Evidence): string[] {
  const edits = phones.flat().filter(({ edited }) => edited)
  return [...said.values()]
    .filter(({ isEdited }) => isEdited === true)
    .filter(({ canary }) => !edits.some(({ text }) => text.includes(canary)))
    .map(({ sendId }) => `I4: an edit of ${sendId} was accepted, and no phone shows it`)
}

/** How long after the last trouble the sidecars may be behind, ms. */
const READY_MS = 10_000
/** And how long what people wrote, ms. */
const HEARD_MS = 45_000

function checkReady({ readyAfterMs, heardAfterMs }: History): string[] {
  const [readyMs, heardMs] = [readyAfterMs ?? 0, heardAfterMs ?? 0]
  const after = 'after the last trouble'
  return [
    ...unless(readyMs <= READY_MS, `I13: ready ${seconds(readyMs)} ${after}`),
    ...unless(heardMs <= HEARD_MS, `I13: the bot heard everybody ${seconds(heardMs)} ${after}`),
  ]
}

/** I18: the journal was changed by nobody, and its heads are signed; none is from weeks ahead. */
function checkJournal({ hasFarClocks }: History, { outbox, journal }: Evidence): string[] {
  if (outbox === null || journal === null) return ['I18: the sidecar could not be asked']
  const { fault, heads, lastSigned, entries } = journal
  return [
    ...(fault === null || hasFarClocks
      ? []
      : [`I18: entry ${fault.entry} of the journal: ${fault.what}`]),
    ...unless(
      heads.unsigned === 0 && (lastSigned !== null || entries === 0),
      `I18: ${heads.unsigned} of ${heads.signed + heads.unsigned} heads are not signed`,
    ),
  ]
}

/**
 * I8: what the bot said was signed with the key that the service showed then. What is dated by a
 * clock that is an hour off is not believed.
 */
function checkSignatures({ episodes }: History, { phones, rotates = false }: Evidence): string[] {
  if (!rotates) return []
  const clocks = episodes.filter(({ name }) => name === 'clock')
  const isMisdated = (at: number): boolean =>
    clocks.some(({ fromMs, toMs }) => at >= fromMs && at < toMs + UNDER_WAY_MS)
  return phones
    .flat()
    .filter(({ verdict, text }) => text.includes('kb') && verdict === 'bad')
    .filter(({ at }) => at === undefined || !isMisdated(at))
    .map(({ chatId, messageId }) => `I8: message ${messageId} of chat ${chatId} is badly signed`)
}
