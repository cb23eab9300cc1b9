/**
 * What can be made to go wrong, by name, and when it strikes. `before` the deed: the call changes
 * nothing. `after`: the deed is done and the answer suffers. `rule`: a rule behaves differently.
 * `lie`: a hostile service changes what it answers.
 */
export const FAULTS = {
  /** The connection is cut before anything is done. */
  cut: 'before',
  /** Never answers. */
  hang: 'before',
  /** Answers after `delayMs` of real time, then goes on as usual. */
  delay: 'before',
  /** The error envelope with any `status`, `code`, `retryAfter`, `retryAfterHeader`, `expected`. */
  error: 'before',
  /** Exactly this `status`, `headers` and `body`. */
  answer: 'before',
  /** A 502 of some proxy, in HTML. */
  html: 'before',
  /** A redirect with `status` (302) to `location`. */
  redirect: 'before',
  /** The deed is done, then the connection is cut instead of an answer. */
  'lost-answer': 'after',
  /** The deed is done, and half of the answer comes before the connection is cut. */
  'half-answer': 'after',
  /** The answer's body comes one byte every `delayMs`. */
  'slow-body': 'after',
  /** The answer is followed by `bytes` of blanks. */
  'giant-body': 'after',
  /** The answer's last character is missing. */
  'invalid-json': 'after',
  /** What `offset` confirms is kept, so that updates come again. */
  'keep-confirmed': 'rule',
  /** `PUT /key` is answered at once and takes effect after `delayMs` of the sandbox's clock. */
  'late-key': 'rule',
  /**
   * The service behaves in every way as if `chatId` had `mode` (and `historyVisible`); phones
   * know better. Stands until it is cleared.
   */
  'claim-mode': 'rule',
  /** Wherever `chatId` is shown, its kind is `kind`. */
  'claim-kind': 'lie',
  /** `/me` claims that the bot has no key. */
  'claim-unprotected': 'lie',
  /** `/me` shows `fingerprint` instead of the bot's. */
  'claim-fingerprint': 'lie',
  /** Key lists and key records show `publicKey` and `fingerprint` for `userId`. */
  'swap-key': 'lie',
  /** Key lists (of `chatId`) also name `userId` with `publicKey` and `fingerprint`. */
  ghost: 'lie',
  /** Key lists (of `chatId`) leave out `userId`. */
  'hide-key': 'lie',
} as const satisfies Record<string, 'before' | 'after' | 'rule' | 'lie'>

export type FaultName = keyof typeof FAULTS
export type FaultPhase = (typeof FAULTS)[FaultName]

/** How a fault strikes; what a name does not use is ignored. */
export interface FaultOptions {
  /** An endpoint's name (src/api/endpoints.ts), or `media`; every call when absent. */
  route?: string
  botId?: number
  /** Strikes this often, then is over; without end when absent. */
  times?: number
  /** Lets this many calls pass first. */
  after?: number
  /** Strikes one call in so many, by chance that follows from `seed` alone. */
  oneIn?: number
  seed?: number
  delayMs?: number
  bytes?: number
  status?: number
  code?: string
  retryAfter?: number
  retryAfterHeader?: string
  expected?: 'text' | 'armored'
  headers?: Record<string, string>
  body?: string
  location?: string
  chatId?: number
  mode?: 'open' | 'protected'
  historyVisible?: boolean
  kind?: string
  userId?: number
  publicKey?: string
  fingerprint?: string
}
