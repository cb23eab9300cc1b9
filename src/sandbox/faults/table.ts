import { ENDPOINTS } from '../../api/endpoints.ts'

/**
 * Faults by name, and when each strikes. `before`: the request is not handled and changes nothing.
 * `after`: the request is handled, and its response is damaged. `rule`: a rule of the service works
 * otherwise. `lie`: a hostile service changes the response.
 */
export const FAULTS = {
  /** Closes the connection without handling the request. */
  cut: 'before',
  /** Never answers. */
  hang: 'before',
  /** Waits `delayMs` of real time, then goes on as usual. */
  delay: 'before',
  /** Answers with an error of any `status`, `code`, `retryAfter`, `retryAfterHeader`, `expected`. */
  error: 'before',
  /** Answers with exactly this `status`, `headers` and `body`. */
  answer: 'before',
  /** Answers with an HTML page and `status` (502), as a proxy would. */
  html: 'before',
  /** Answers with a redirect: `status` (302) to `location`. */
  redirect: 'before',
  /** Handles the request, then closes the connection instead of answering. */
  'lost-answer': 'after',
  /** Handles the request, and closes the connection after half of the response. */
  'half-answer': 'after',
  /** Sends one byte of the response body every `delayMs`. */
  'slow-body': 'after',
  /** Appends `bytes` of blanks to the response body. */
  'giant-body': 'after',
  /** Drops the last character of the response body. */
  'invalid-json': 'after',
  /** Ignores `offset`, so that confirmed updates come again. */
  'keep-confirmed': 'rule',
  /** Answers `PUT /key` at once, and applies it after `delayMs` of the sandbox's clock. */
  'late-key': 'rule',
  /**
   * The service behaves in every way as if `chatId` had `mode` (and `historyVisible`); phones go by
   * the true mode. Lasts until it is cleared.
   */
  'claim-mode': 'rule',
  /** Every response shows `chatId` with the kind `kind`. */
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

/** Names of endpoints (src/api/endpoints.ts), and `media`. */
export const FAULT_ROUTES = [...ENDPOINTS.map(({ name }) => name), 'media'] as const
export type FaultRoute = (typeof FAULT_ROUTES)[number]

/** How a fault strikes. Options that a fault does not use are ignored. */
export interface FaultOptions {
  /** Every call when absent. */
  route?: FaultRoute
  botId?: number
  /** Strikes so many times; without end when absent. */
  times?: number
  /** Lets so many calls pass first. */
  after?: number
  /** Strikes one call in so many, at random as `seed` determines. */
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
