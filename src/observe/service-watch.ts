import { ENDPOINTS } from '../api/endpoints.ts'
import { Listeners } from '../util/listeners.ts'
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

/** What the watch does to find out whether something is right again. */
export interface Probes {
  /** Asks `GET /me` and takes in what it says; rejects when nothing usable came. */
  askService: () => Promise<unknown>
  /** Writes to the data directory; rejects when it still cannot be written. */
  tryStore: () => Promise<unknown>
}

/**
 * Concludes from calls how the service is: reachable, token good, not paused, clocks together. Once
 * started it asks again by itself while something is wrong, so that readiness turns back without the bot.
 */
export class ServiceWatch implements Disposable {
  readonly #health: Health
  readonly #revivals = new Listeners()
  #probes: Probes | null = null
  #timer: NodeJS.Timeout | undefined
  #waitMs = FIRST_MS
  #revoked = false
  #stopped = false
  #skewMs: number | null = null
  #reachable = false

  constructor(health: Health) {
    this.#health = health
    health.set('starting', '')
  }

  /** Calls back when a call works again after the token was burnt. */
  onRevived(listener: () => void): void {
    this.#revivals.add(listener)
  }

  /** Our clock minus the service's, in ms; null before its first answer. */
  get skewMs(): number | null {
    return this.#skewMs
  }

  /** Whether the last call was answered. */
  get reachable(): boolean {
    return this.#reachable
  }

  /** Begins to look by itself: at once, and again while something is wrong. */
  start(probes: Probes): void {
    this.#probes = probes
    this.#schedule(0)
  }

  /** The service answered; `route` is method and pattern. */
  answered(o: { route: string; status: number; code?: string }): void {
    const health = this.#health
    this.#reachable = true
    health.clear('starting')
    health.clear('upstream')
    if (o.code === 'bot_paused') this.paused()
    if (o.status === 401) return
    if (this.#revoked) this.#revivals.emit()
    this.#revoked = false
    health.clear('token')
    if (o.status < 300 && !ANSWERS_WHILE_PAUSED.has(o.route)) health.clear('paused')
  }

  /** `/me` says whether the bot is paused, even while it is. */
  sawStatus(status: string | null | undefined): void {
    if (status == null) return
    if (status === 'active') this.#health.clear('paused')
    else this.paused()
  }

  /** `/me` is the bot of our token, or another's. */
  identified(isOurs: boolean): void {
    if (isOurs) return this.#health.clear('identity')
    this.#health.set('identity', '')
    this.#schedule(this.#waitMs)
  }

  /** The owner has paused the bot. */
  paused(): void {
    this.#health.set('paused', '')
    this.#schedule(this.#waitMs)
  }

  unreachable(code: string): void {
    this.#reachable = false
    this.#health.set('upstream', code)
    this.#schedule(this.#waitMs)
  }

  unauthorized(): void {
    this.#health.set('token', this.#revoked ? 'it was revoked' : '')
    this.#schedule(this.#waitMs)
  }

  /** The bot burnt its token: nothing is asked by ourselves until a call works again. */
  revoked(): void {
    this.#revoked = true
    this.#health.set('token', 'it was revoked')
    clearTimeout(this.#timer)
    this.#timer = undefined
  }

  clock(skewMs: number): void {
    this.#skewMs = skewMs
    const health = this.#health
    if (Math.abs(skewMs) <= SKEW_MAX_MS) return health.clear('clock')
    health.set('clock', `${Math.round(Math.abs(skewMs) / 1000)} s`)
    this.#schedule(this.#waitMs)
  }

  /** The data directory can be written, or cannot. */
  writable(isWritable: boolean): void {
    if (isWritable) return this.#health.clear('store')
    this.#health.set('store', '')
    this.#schedule(this.#waitMs)
  }

  [Symbol.dispose](): void {
    this.#stopped = true
    clearTimeout(this.#timer)
  }

  #schedule(waitMs: number): void {
    if (this.#stopped || this.#revoked || this.#timer !== undefined) return
    const probes = this.#probes
    if (probes === null) return
    this.#timer = setTimeout(() => void this.#look(probes), waitMs)
    this.#timer.unref()
  }

  async #look({ askService, tryStore }: Probes): Promise<void> {
    const codes = new Set(this.#health.reasons().map(({ code }) => code))
    if (codes.has('store')) await tryStore().catch(() => undefined)
    if (ASKED_ABOUT.some((code) => codes.has(code))) await askService().catch(() => undefined)
    this.#timer = undefined
    const left = this.#health.reasons().map(({ code }) => code)
    const waiting = left.some((code) => code === 'store' || isAskedAbout(code))
    const max = left.includes('token') ? TOKEN_MAX_MS : MAX_MS
    this.#waitMs = waiting ? Math.min(this.#waitMs * 2, max) : FIRST_MS
    if (waiting) this.#schedule(this.#waitMs)
  }
}

function isAskedAbout(code: string): boolean {
  return ASKED_ABOUT.some((asked) => asked === code)
}
