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
  readonly fetched: Fetched[]
  /** The bot has ever confirmed every update below this one. */
  confirmedBelow: number
  /** How long after the last trouble every sidecar was ready, ms; null when that is not promised. */
  readyAfterMs: number | null
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
    fetched: [],
    confirmedBelow: 0,
    readyAfterMs: null,
    breaches: [],
  }
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
