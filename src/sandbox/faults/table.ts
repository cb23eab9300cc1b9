import { ENDPOINTS } from '../../api/endpoints.ts'

/**
 * Faults by name, and when each strikes. `before`: the request is not handled and changes nothing.
 * `after`: the request is handled, and its response is damaged. `rule`: a rule of the service works
 * otherwise. `lie`: a hostile service changes the response. What each does: descriptions.ts.
 */
export const FAULTS = {
  cut: 'before',
  hang: 'before',
  delay: 'before',
  error: 'before',
  answer: 'before',
  html: 'before',
  redirect: 'before',
  'lost-answer': 'after',
  'half-answer': 'after',
  'slow-body': 'after',
  'giant-body': 'after',
  'invalid-json': 'after',
  'keep-confirmed': 'rule',
  'late-key': 'rule',
  'claim-mode': 'rule',
  'claim-kind': 'lie',
  'claim-unprotected': 'lie',
  'claim-fingerprint': 'lie',
  'swap-key': 'lie',
  ghost: 'lie',
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
