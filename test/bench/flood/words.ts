/** What the processes of the flood bench say to each other. */

/** What is answered in the service's place. */
export type Lie = { kind: 'text'; text: string } | { kind: 'endless'; bytes: number }

export interface Lies {
  routes: [route: string, lie: Lie][]
  /** Key lists of the groups from `FIRST_GROUP` on, in turn; absent: there are no such groups. */
  keyLists?: string[]
}

/** Protected groups that nobody else knows of. */
export const FIRST_GROUP = 9_000_000
export const GROUPS = 1000

/** What is asked again as soon as it is answered. */
export const POLL_PATH = '/updates'

export type ToService = { setKey: { publicKey: string; fingerprint: string } } | { lies: Lies }

/** Said first by the service. */
export interface ServiceFacts {
  url: string
  token: string
  botId: number
  aliceId: number
  privateChat: number
}

/** A call made over and over, by so many lanes side by side. `#` in it is a group, each in turn. */
export interface Lane {
  method: 'GET' | 'POST'
  path: string
  body?: string
  lanes: number
}

export type ToBot = { go: { url: string; token: string; lanes: Lane[] } } | { stop: true }

/** How many answers of each status there were; 0 for calls that had none. */
export type BotSaid = { going: true } | { stopped: Record<string, number> }

/** A success in the service's envelope. */
export const success = (result: unknown): string => JSON.stringify({ ok: true, result })
