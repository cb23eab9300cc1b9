import { ENDPOINTS } from '../api/endpoints.ts'
import type { Health } from './health.ts'

/** Reasons that only a call to the service can take back. */
const ASKED_ABOUT = ['starting', 'upstream', 'token', 'identity', 'paused', 'clock'] as const
const FIRST_MS = 1000
const MAX_MS = 60_000
/** A refused token is not tried more often, so that nobody is locked out by us. */
const TOKEN_MAX_MS = 300_000
const SKEW_MAX_MS = 120_000

const ANSWERS_WHILE_PAUSED: ReadonlySet<string> = new Set(
  ENDPOINTS.filter((endpoint) => 'whilePaused' in endpoint).map(
    ({ method, path }) => `${method} ${path}`,
  ),
)

export interface ServiceWatchParts {
  health: Health
  /** Asks `GET /me` and takes in what it says; rejects when nothing usable came. */
  ask: () => Promise<unknown>
  /** Called when a call works again after the token was burnt. */
  revived: () => void
  /** Called now and then while the data directory could not be written; a write that works. */
  tryStore: () => Promise<unknown>
}

/**
 * What the calls tell of the service: reachable, token good, not paused, clocks together. While
 * something is wrong it asks again by itself, so that readiness turns back without the bot.
 */
export class ServiceWatch implements Disposable {
  readonly #parts: ServiceWatchParts
  #timer: NodeJS.Timeout | undefined
  #waitMs = FIRST_MS
  #revoked = false
  #stopped = false
  #skewMs: number | null = null
  #reachable = false

  constructor(parts: ServiceWatchParts) {
    this.#parts = parts
    parts.health.set('starting', '')
  }

  /** Our clock minus the service's, in ms; null before its first answer. */
  get skewMs(): number | null {
    return this.#skewMs
  }

  /** Whether the last call was answered. */
  get reachable(): boolean {
    return this.#reachable
  }

  /** Begins to look by itself. */
  start(): void {
    this.#schedule(0)
  }

  /** The service answered; `route` is method and pattern. */
  answered(o: { route: string; status: number; code?: string }): void {
    const { health } = this.#parts
    this.#reachable = true
    health.clear('starting')
    health.clear('upstream')
    if (o.code === 'bot_paused') this.paused()
    if (o.status === 401) return
    if (this.#revoked) this.#parts.revived()
    this.#revoked = false
    health.clear('token')
    if (o.status < 300 && !ANSWERS_WHILE_PAUSED.has(o.route)) health.clear('paused')
  }

  /** `/me` says whether the bot is paused, even while it is. */
  sawStatus(status: string | null | undefined): void {
    if (status == null) return
    if (status === 'active') this.#parts.health.clear('paused')
    else this.paused()
  }

  /** `/me` is the bot of our token, or another's. */
  identified(isOurs: boolean): void {
    if (isOurs) return this.#parts.health.clear('identity')
    this.#parts.health.set('identity', '')
    this.#schedule(this.#waitMs)
  }

  /** The owner has paused the bot. */
  paused(): void {
    this.#parts.health.set('paused', '')
    this.#schedule(this.#waitMs)
  }

  unreachable(code: string): void {
    this.#reachable = false
    this.#parts.health.set('upstream', code)
    this.#schedule(this.#waitMs)
  }

  unauthorized(): void {
    this.#parts.health.set('token', this.#revoked ? 'it was revoked' : '')
    this.#schedule(this.#waitMs)
  }

  /** The bot burnt its token: nothing is asked by ourselves until a call works again. */
  revoked(): void {
    this.#revoked = true
    this.#parts.health.set('token', 'it was revoked')
    clearTimeout(this.#timer)
    this.#timer = undefined
  }

  clock(skewMs: number): void {
    this.#skewMs = skewMs
    const { health } = this.#parts
    if (Math.abs(skewMs) <= SKEW_MAX_MS) return health.clear('clock')
    health.set('clock', `${Math.round(Math.abs(skewMs) / 1000)} s`)
    this.#schedule(this.#waitMs)
  }

  /** The data directory can be written, or cannot. */
  writable(isWritable: boolean): void {
    if (isWritable) return this.#parts.health.clear('store')
    this.#parts.health.set('store', '')
    this.#schedule(this.#waitMs)
  }

  [Symbol.dispose](): void {
    this.#stopped = true
    clearTimeout(this.#timer)
  }

  #schedule(waitMs: number): void {
    if (this.#stopped || this.#revoked || this.#timer !== undefined) return
    this.#timer = setTimeout(() => void this.#look(), waitMs)
    this.#timer.unref()
  }

  async #look(): Promise<void> {
    const { ask, tryStore } = this.#parts
    const codes = new Set(this.#parts.health.reasons().map(({ code }) => code))
    if (codes.has('store')) await tryStore().catch(() => undefined)
    if (ASKED_ABOUT.some((code) => codes.has(code))) await ask().catch(() => undefined)
    this.#timer = undefined
    const left = this.#parts.health.reasons().map(({ code }) => code)
    const waiting = left.some((code) => code === 'store' || isAskedAbout(code))
    const max = left.includes('token') ? TOKEN_MAX_MS : MAX_MS
    this.#waitMs = waiting ? Math.min(this.#waitMs * 2, max) : FIRST_MS
    if (waiting) this.#schedule(this.#waitMs)
  }
}

function isAskedAbout(code: string): boolean {
  return ASKED_ABOUT.some((asked) => asked === code)
}
