/** What a run wrote down: the three logs that the checker compares, and what was done to whom. */

/** A message that a person wrote, or had somebody write in their name. Times are ms since epoch. */
export interface Written {
  atMs: number
  chatId: number
  messageId: number
  userId: number
  /** Stands in its text; no other message has it. Empty for poison. */
  canary: string
  /** The phone sealed it: its words are nobody's business but the chat's. */
  sealed: boolean
  /** What kind of poison, or null for a message that must be opened. */
  poison: string | null
  /** It is the sealed bytes of the message with this canary, written once more. */
  copyOf?: string
  /** The bytes of its file, where it has one. */
  file?: Buffer
}

/** An update that the bot took in. `life` grows by one when it dies. */
export interface Handled {
  atMs: number
  life: number
  updateId: number
  chatId: number
  messageId: number
  text: string | null
  verdict: string | null
  reason: string | null
  /** Readable words that were not delivered as text. */
  withheld: string | null
  /** Which sidecar gave it; null where nobody knows. */
  sidecar: number | null
  /** The bot had confirmed every update below this one when it came. */
  confirmedBelow: number
  /** A sidecar had read it from the service then: a batch is answered when its slowest update is judged. */
  readAtMs?: number
}

/** Something that the bot wanted to say. */
export interface Said {
  sendId: string
  chatId: number
  /** Stands in its text; no other send has it. */
  canary: string
  /** Canary of what it answers. */
  answers: string | null
  /** Ids that successful answers named. */
  accepted: number[]
  /** The last thing that was answered when it was no success. */
  lastRefusal: string | null
  /** An edit of it was accepted. */
  isEdited?: boolean
}

/** The bot was shown that a chat is protected. */
export interface Sighting {
  chatId: number
  askedAtMs: number
  atMs: number
}

/** An operator let readable words into a chat again. */
export interface Allowance {
  chatId: number
  fromMs: number
  toMs: number
}

/** A file as the bot got it. */
export interface Fetched {
  chatId: number
  messageId: number
  bytes: Buffer
}

/** A call that was given to the outbox. Times are ms since epoch. */
export interface Later {
  /** The client that gave it; null: the bot. */
  by: string | null
  chatId: number
  /** Stands in its text; no other call has it. */
  canary: string
  /** Of an edit: what it changes. */
  edits: number | null
  deliverAtMs: number | null
  /** A rule demands a person's word. */
  needsWord: boolean
  /** First asked for, and answered with 202; null: nobody knows whether it was taken. */
  askedAtMs: number
  givenAtMs: number | null
  /** Of its entry; of an edit null until it was answered. */
  id: string | null
  /** The states that callers and the bot's updates were shown, in order. */
  seen: { state: string; sentId: number | null; isNews?: true }[]
}

/** A message that asks an approver, as the phone shows it. */
export interface Asked {
  /** Of the call that it is about. */
  canary: string
  code: string
  messageId: number
}

/** What an approver wrote. */
export interface Word {
  chatId: number
  code: string
  isApproved: boolean
  /** The message that it quotes. */
  quotes: number | null
  /** Its time was over. */
  isLate: boolean
  askedAtMs: number
  /** Null: nobody knows whether it was written. */
  messageId: number | null
}

/** A poll of a client that reads updates. */
export interface Polled {
  client: string
  sidecar: number | null
  /** Every number below it was confirmed. */
  offset: number
  updates: { updateId: number; chatId: number; messageId: number }[]
}

/** A time in which something was made to go wrong. */
export interface Episode {
  name: Trouble
  fromMs: number
  toMs: number
}

export type Trouble =
  /** The process or its surroundings. */
  | 'kill'
  | 'restart'
  | 'full-disk'
  | 'read-only'
  | 'clock'
  | 'no-certificates'
  /** The network and the service. */
  | 'service-killed'
  | 'down'
  | 'connections-cut'
  | 'latency'
  | 'slices'
  | 'half-open'
  | 'cut-answers'
  | 'lost-sends'
  | 'spoilt-answers'
  | 'refusals'
  | 'errors'
  | 'late-answers'
  | 'redelivery'
  | 'claims-open'
  | 'claims-no-key'
  | 'claims-other-key'
  | 'late-key'
  /** People and the bot. */
  | 'poison'
  | 'costly-key'
  | 'turned'
  | 'bot-dies'
  /** Several sidecars. */
  | 'stopped'
  | 'database-cut'
  | 'database-down'
  | 'database-silent'
  | 'database-restarted'
  | 'database-failed-over'
  | 'query-ended'
  | 'query-cancelled'
  | 'row-locked'
  | 'table-locked'
  | 'database-full'
  | 'commits-lost'
  | 'database-black-holed'
  | 'database-slow'
  | 'service-black-holed'
  | 'bot-black-holed'
  | 'stopped-in-edit'
  | 'agent-killed'
  | 'agent-stopped'
  | 'rotation'
  | 'bound'
  | 'allowed'

/** What is known of a chat, as an operator sees it. */
export interface Remembered {
  atMs: number
  /** Before this was asked for; `atMs` when not given. */
  askedAtMs?: number
  /** Which life of which sidecar has it in memory; absent: the store, or the only sidecar. */
  by?: string
  chats: { id: number; kind: string | null; latched: boolean }[]
}

export interface History {
  readonly seed: number
  readonly written: Written[]
  readonly handled: Handled[]
  readonly said: Map<string, Said>
  readonly episodes: Episode[]
  readonly remembered: Remembered[]
  readonly sightings: Sighting[]
  readonly allowances: Allowance[]
  /** The service called an encrypted chat open until then, that of the approver or another. */
  readonly claims: { chatId: number; isApprovers: boolean; toMs: number }[]
  readonly fetched: Fetched[]
  readonly later: Later[]
  /** The bot's updates about entries whose call was not answered yet, by entry. */
  readonly earlyNews: Map<string, Later['seen']>
  readonly asked: Asked[]
  readonly words: Word[]
  readonly polled: Polled[]
  /** Clocks jumped so far that what is by the clock cannot be demanded. */
  hasFarClocks: boolean
  /** The bot has ever confirmed every update below this one. */
  confirmedBelow: number
  /** How long after the last trouble every sidecar was ready, ms; null when that is not promised. */
  readyAfterMs: number | null
  /** How long after the last trouble the bot had heard everybody, and the outbox was empty, ms. */
  heardAfterMs: number | null
  settledAfterMs: number | null
  /** Whatever broke a promise while the run went on. */
  readonly breaches: string[]
}

export function newHistory(seed: number): History {
  return {
    seed,
    written: [],
    handled: [],
    said: new Map(),
    episodes: [],
    remembered: [],
    sightings: [],
    allowances: [],
    claims: [],
    fetched: [],
    later: [],
    earlyNews: new Map(),
    asked: [],
    words: [],
    polled: [],
    hasFarClocks: false,
    confirmedBelow: 0,
    readyAfterMs: null,
    heardAfterMs: null,
    settledAfterMs: null,
    breaches: [],
  }
}

/** What a rule reports. */
export const unless = (isKept: boolean, breach: string): string[] => (isKept ? [] : [breach])

/** Notes a state that somebody was shown, where it is another than the one before. */
export function noteState(later: Later, now: Later['seen'][number]): void {
  const last = later.seen.at(-1)
  if (now.isNews === true || last?.state !== now.state) later.seen.push(now)
  else if (now.sentId !== null) last.sentId = now.sentId
}

/** Notes an update of the bot about an entry. */
export function noteNews(history: History, id: string, now: Later['seen'][number]): void {
  const { later, earlyNews } = history
  const known = later.find((one) => one.id === id)
  if (known === undefined) earlyNews.set(id, [...(earlyNews.get(id) ?? []), now])
  else noteState(known, now)
}

/** Runs something as an episode, which is written down with its times. */
export async function during(
  history: History,
  name: Trouble,
  doing: () => Promise<void>,
): Promise<void> {
  const episode: Episode = { name, fromMs: Date.now(), toMs: Infinity }
  history.episodes.push(episode)
  try {
    await doing()
  } finally {
    episode.toMs = Date.now()
  }
}

/** How long what is decided already may still be on its way, ms. */
export const UNDER_WAY_MS = 2000

/** Since when an allowance of before counts no more; Infinity while one is made. */
export function lastAllowedMs(
  { allowances }: History,
  o: { chatId: number; atMs: number },
): number {
  return allowances
    .filter(({ chatId, fromMs }) => chatId === o.chatId && fromMs <= o.atMs)
    .reduce((latest, { toMs }) => Math.max(latest, toMs), -Infinity)
}

/** A history without anybody's words, a line of JSON for each entry: troubles, latches, verdicts. */
export function linesOf(history: History): string[] {
  const { episodes, allowances, sightings, remembered, handled } = history
  const latches = remembered.map(({ chats, ...look }) => ({
    ...look,
    latched: chats.filter(({ latched }) => latched).map(({ id }) => id),
  }))
  const changes = [...Map.groupBy(latches, ({ by }) => by).values()].flatMap((looks) =>
    looks.filter(({ latched }, n) => String(latched) !== String(looks[n - 1]?.latched)),
  )
  const verdicts = handled.map(({ text, withheld, ...one }) => ({
    ...one,
    hasText: text !== null,
    isWithheld: withheld !== null,
  }))
  return [
    ...episodes,
    ...allowances.map((allowance) => ({ allowance })),
    ...sightings.map((sighting) => ({ sighting })),
    ...changes.map((look) => ({ look })),
    ...verdicts.map((update) => ({ update })),
  ].map((entry) => JSON.stringify(entry))
}
