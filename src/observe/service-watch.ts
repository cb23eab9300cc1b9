import { ENDPOINTS } from '../api/endpoints.ts'
import { Listeners } from '../util/listeners.ts'
import type { Health, ReasonCode } from './health.ts'

/** Reasons that only a call to the service can take back. */
const ASKED_ABOUT = ['starting', 'upstream', 'token', 'identity', 'paused', 'clock'] as const
/** The route whose answer says all that only a call can say. */
const ME = 'GET /me'
/** How long `/me` may stay unheard before it is asked, and how often what needs no call is looked at. */
const LOOK_MS = 10_000
/** The first wait while a reason stands; it doubles up to `LOOK_MS`. */
const FIRST_MS = 1000
/** A refused token is not tried more often, so that nobody is locked out by us. */
const TOKEN_MAX_MS = 300_000
const SKEW_MAX_MS = 120_000

const ANSWERS_WHILE_PAUSED: ReadonlySet<string> = new Set(
  ENDPOINTS.filter((endpoint) => 'whilePaused' in endpoint).map(
    ({ method, path }) => `${method} ${path}`,
  ),
)

/** What the watch does to find out how things are. */
export interface Probes {
  /** Asks `GET /me` within seconds and takes in what it says; rejects when nothing usable came. */
  askService: () => Promise<unknown>
  /** Writes to the data directory; rejects when it still cannot be written. */
  tryStore: () => Promise<unknown>
  /** Reads the token again from where it came; true when it is another one. */
  reloadToken: () => Promise<boolean>
  /** Looks at what needs no call: expiry dates, the disk. */
  lookLocally: () => Promise<unknown>
  /** How long until something ends whose date is known, in ms; Infinity when nothing does. */
  untilNextEndMs: () => number
}

/**
 * Concludes from calls how the service is: reachable, token good, not paused, clocks together. Once
 * started it asks `/me` whenever that was not heard for `LOOK_MS`, sooner while something is wrong: what
 * readiness says is never older than `LOOK_MS` and the time that one call may take.
 */
export class ServiceWatch implements Disposable {
  readonly #health: Health
  readonly #revivals = new Listeners()
  #probes: Probes | null = null
  #timer: NodeJS.Timeout | undefined
  /** When the timer fires; this and the times below are of `performance.now()`. */
  #dueMs = Infinity
  #isLooking = false
  #waitMs = FIRST_MS
  /** When `/me` was last answered. */
  #heardMs = -Infinity
  #tokenWaitMs = FIRST_MS
  #tokenDueMs = -Infinity
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

  /** Begins to look by itself: at once, and again until it is disposed of. */
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
    if (o.route === ME) this.#heardMs = performance.now()
    if (o.code === 'bot_paused') this.paused()
    if (o.status === 401) return
    if (this.#revoked) this.#revive()
    this.#tokenWaitMs = FIRST_MS
    this.#tokenDueMs = -Infinity
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
    this.#dueMs = Infinity
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

  /** Looks no more until it is started again. */
  stop(): void {
    this.#probes = null
    clearTimeout(this.#timer)
    this.#dueMs = Infinity
  }

  [Symbol.dispose](): void {
    this.#stopped = true
    this.stop()
  }

  #revive(): void {
    this.#revoked = false
    this.#revivals.emit()
    this.#schedule(this.#waitMs)
  }

  /** Looks after so long at the latest. */
  #schedule(waitMs: number): void {
    const probes = this.#probes
    if (probes === null || this.#stopped || this.#revoked || this.#isLooking) return
    const dueMs = performance.now() + waitMs
    if (this.#dueMs <= dueMs) return
    clearTimeout(this.#timer)
    this.#dueMs = dueMs
    this.#timer = setTimeout(() => void this.#look(probes), waitMs)
    this.#timer.unref()
  }

  async #look(probes: Probes): Promise<void> {
    this.#dueMs = Infinity
    this.#isLooking = true
    await probes.lookLocally().catch(() => undefined)
    if (this.#holds('store')) await probes.tryStore().catch(() => undefined)
    if (await this.#isToAsk(probes)) await probes.askService().catch(() => undefined)
    this.#isLooking = false
    this.#schedule(Math.min(this.#nextWaitMs(), Math.max(0, probes.untilNextEndMs())))
  }

  async #isToAsk({ reloadToken }: Probes): Promise<boolean> {
    const nowMs = performance.now()
    if (this.#holds('token')) {
      const isAnother = await reloadToken().catch(() => false)
      if (!isAnother && nowMs < this.#tokenDueMs) return false
      this.#tokenDueMs = nowMs + this.#tokenWaitMs
      this.#tokenWaitMs = Math.min(this.#tokenWaitMs * 2, TOKEN_MAX_MS)
      return true
    }
    return ASKED_ABOUT.some((code) => this.#holds(code)) || nowMs - this.#heardMs >= LOOK_MS
  }

  #nextWaitMs(): number {
    const isWrong = this.#holds('store') || ASKED_ABOUT.some((code) => this.#holds(code))
    this.#waitMs = isWrong ? Math.min(this.#waitMs * 2, LOOK_MS) : FIRST_MS
    if (isWrong) return this.#waitMs
    const silentMs = performance.now() - this.#heardMs
    return silentMs < LOOK_MS ? LOOK_MS - silentMs : LOOK_MS
  }

  #holds(code: ReasonCode): boolean {
    return this.#health.holds(code)
  }
}
