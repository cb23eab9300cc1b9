import { createClockSkew } from './clock-skew.ts'
import { ENDPOINTS } from '../api/endpoints.ts'
import { Listeners } from '../util/listeners.ts'
import { callInTime, type CallLater } from '../util/shared-timers.ts'
import type { Health, ReasonCode } from './health.ts'
import { diskCheck, type Probes } from './probes.ts'

/** Reasons that only a call to the service can end. */
const ASKED_ABOUT = ['starting', 'upstream', 'token', 'identity', 'paused', 'clock'] as const
/** Reasons that only the store can end. */
const STORE = ['store', 'store-unreachable', 'store-rolled-back'] as const
/** The route whose answer reports everything that only a call can report. */
const ME = 'GET /me'
/** After as long without an answer of `/me` the watch calls it; interval of local checks. */
export const LOOK_MS = 10_000
/** The same for a bot at rest: one without traffic for so long. */
export const RESTING_LOOK_MS = 50_000
export const RESTING_AFTER_MS = 3_600_000
/** The first wait while a reason holds; it doubles up to `LOOK_MS`. */
export const FIRST_MS = 1000
/** How long errors of `/me` are ignored after another call worked: less than a check's delay. */
const WORKED_MS = LOOK_MS - FIRST_MS
/** A refused token is not tried more often, so that nobody is locked out by us. */
const TOKEN_MAX_MS = 300_000
/** How long the store counts as failing after a failed write, and how often it is then checked. */
export const STORE_HELD_MS = 4000
export const STORE_LOOK_MS = 2000
/** After so long, a disk that does not answer counts as one that cannot be written. */
const DISK_MS = 4000

const ANSWERS_WHILE_PAUSED: ReadonlySet<string> = new Set(
  ENDPOINTS.filter((endpoint) => 'whilePaused' in endpoint).map(
    ({ method, path }) => `${method} ${path}`,
  ),
)

/**
 * Derives from calls the state of the service: reachable, token valid, not paused, clocks in step.
 * Once started it calls `/me` after `LOOK_MS` without an answer of it (at rest `RESTING_LOOK_MS`),
 * sooner while a reason holds: readiness is never older than that and the time limit of one call.
 */
export class ServiceWatch implements Disposable {
  readonly #health: Health
  readonly #revivals = new Listeners()
  /** Calls back when a call works again after the token was revoked. */
  readonly onRevived = this.#revivals.add
  #probes: Probes | null = null
  readonly #later: CallLater
  #endTimer = (): void => {}
  /** When the timer fires; this and the times below are of `performance.now()`. */
  #dueMs = Infinity
  #isLooking = false
  #waitMs = FIRST_MS
  /** The time of the last answer of `/me`, and of the watch's last call to it. */
  #heardMs = -Infinity
  #askedMs = -Infinity
  /** When the bot last called, or received something; a start counts at first. */
  #trafficMs = performance.now()
  /** When a write last failed. */
  #unwritableMs = -Infinity
  /** When the service last answered anything but an error of its own. */
  #workedMs = -Infinity
  readonly #checkDisk = diskCheck(DISK_MS)
  /** `/me` failed while other calls worked, and has not answered since. */
  #isDoubted = false
  #tokenWaitMs = FIRST_MS
  #tokenDueMs = -Infinity
  #revoked = false
  readonly #skew: ReturnType<typeof createClockSkew>
  #reachable = false

  /** @param time ours, which may be another than the machine's; `later`: timers for a bot at rest */
  constructor(health: Health, time?: { nowMs(): number }, later = callInTime) {
    this.#health = health
    this.#later = later
    this.#skew = createClockSkew(time)
    health.set('starting', '')
  }

  /** As `createClockSkew` has it. */
  get skewMs(): number | null {
    return this.#skew.ms()
  }

  /** Whether the last call was answered. */
  get reachable(): boolean {
    return this.#reachable
  }

  /** Begins checks: at once, and again until it is disposed of. */
  start(probes: Probes): void {
    this.#probes = probes
    this.#schedule(0)
  }

  /** The bot had no traffic for an hour. */
  readonly isAtRest = (): boolean => performance.now() - this.#trafficMs >= RESTING_AFTER_MS

  /** The bot makes calls, or receives something: it is not at rest. @param agoMs when it last did, at a start */
  noteTraffic(agoMs = 0): void {
    this.#trafficMs = performance.now() - Math.max(0, agoMs)
    this.#schedule(LOOK_MS)
  }

  /** The service answered; `route` is method and pattern. */
  answered(o: { route: string; status: number; code?: string }): void {
    const health = this.#health
    this.#reachable = true
    if (o.status >= 500) return this.#failed(o)
    this.#workedMs = performance.now()
    health.clear('starting')
    health.clear('upstream')
    if (o.route === ME && o.status !== 429) {
      this.#heardMs = this.#workedMs
      this.#isDoubted = false
    }
    if (o.code === 'bot_paused') this.paused()
    if (o.status === 401) return
    if (this.#revoked) {
      this.#revoked = false
      this.#revivals.emit()
      this.#schedule(this.#waitMs)
    }
    this.#tokenWaitMs = FIRST_MS
    this.#tokenDueMs = -Infinity
    health.clear('token')
    if (o.status < 300 && !ANSWERS_WHILE_PAUSED.has(o.route)) health.clear('paused')
  }

  /** Records the bot's status in `/me`, which also answers while the bot is paused. */
  sawStatus(status: string | null | undefined): void {
    if (status == null) return
    if (status === 'active') this.#health.clear('paused')
    else this.paused()
  }

  /** `/me` is the bot of our token, or another's. */
  identified(isOurs: boolean): void {
    if (isOurs) return this.#health.clear('identity')
    this.#found('identity')
  }

  /** The owner has paused the bot. */
  paused(): void {
    this.#found('paused')
  }

  /** Records a call without a usable answer. @param detail the callee and the cause, for people */
  unreachable(detail: string): void {
    this.#reachable = false
    this.#found('upstream', detail)
  }

  unauthorized(): void {
    this.#found('token', this.#revoked ? 'it was revoked' : '')
  }

  /** The bot burnt its token: nothing is asked by ourselves until a call works again. */
  revoked(): void {
    this.#revoked = true
    this.#health.set('token', 'it was revoked')
    this.#endTimer()
    this.#dueMs = Infinity
  }

  /** @param machineSkewMs how far this machine's clock is ahead of the service's */
  clock(machineSkewMs: number): void {
    const detail = this.#skew.record(machineSkewMs)
    if (detail === null) return this.#health.clear('clock')
    this.#found('clock', detail)
  }

  /** Whether our clock shows a time that can be; where the service sends no date, that alone shows. */
  clockIsBehind(isBehind: boolean): void {
    if (isBehind) this.#health.set('clock', 'before the bot’s key was made')
    else if (this.#skew.ms() === null) this.#health.clear('clock')
  }

  /** Records a failed or successful write. A success just after a failure may be of another table. */
  writable(isWritable: boolean): void {
    const nowMs = performance.now()
    if (!isWritable) this.#unwritableMs = nowMs
    const heldMs = this.#unwritableMs + STORE_HELD_MS - nowMs
    if (heldMs <= 0) return this.#health.clear('store')
    if (!isWritable) this.#health.set('store', '')
    this.#schedule(isWritable ? heldMs : this.#waitMs)
  }

  /** How the store's database is now. */
  storeIs(now: 'reachable' | 'unreachable' | 'rolled-back'): void {
    if (now !== 'unreachable') this.#health.clear('store-unreachable')
    if (now !== 'rolled-back') this.#health.clear('store-rolled-back')
    if (now === 'reachable') return
    this.#waitMs = FIRST_MS
    this.#found(now === 'unreachable' ? 'store-unreachable' : 'store-rolled-back')
  }

  /** Ends checks until it is started again. */
  stop(): void {
    this.#probes = null
    this.#endTimer()
    this.#dueMs = Infinity
  }

  [Symbol.dispose](): void {
    this.stop()
  }

  /** A service whose `/me` fails is as good as gone, unless something else works. */
  #failed({ route, status }: { route: string; status: number }): void {
    if (route !== ME) return
    if (this.#workedMs + WORKED_MS <= performance.now()) {
      this.#found('upstream', `${route}: ${status}`)
    } else {
      this.#isDoubted = true
      this.#schedule(this.#doubtMs())
    }
  }

  /** How long until an error of `/me` counts, unless a call works meanwhile. */
  #doubtMs(): number {
    return Math.max(FIRST_MS, this.#workedMs + WORKED_MS - performance.now())
  }

  /** A reason holds: the next check is soon. */
  #found(code: ReasonCode, detail = ''): void {
    this.#health.set(code, detail)
    this.#schedule(this.#waitMs)
  }

  /** How old an answer of `/me` may be while no reason holds. */
  readonly #lookMs = (): number => (this.isAtRest() ? RESTING_LOOK_MS : LOOK_MS)

  /** Schedules the next check within `waitMs`. */
  #schedule(waitMs: number): void {
    const probes = this.#probes
    if (probes === null || this.#revoked || this.#isLooking) return
    const dueMs = performance.now() + waitMs
    if (this.#dueMs <= dueMs) return
    this.#endTimer()
    this.#dueMs = dueMs
    const later = waitMs > LOOK_MS ? this.#later : callInTime
    this.#endTimer = later(waitMs, () => void this.#look(probes))
  }

  async #look(probes: Probes): Promise<void> {
    this.#dueMs = Infinity
    this.#isLooking = true
    probes.lookAtClock()
    const reached = probes.reachStore().catch(() => undefined)
    await Promise.all([this.#lookLocally(probes), reached, this.#ask(probes)])
    this.#isLooking = false
    this.#schedule(Math.min(this.#nextWaitMs(), Math.max(0, probes.untilNextEndMs())))
  }

  async #lookLocally(probes: Probes): Promise<void> {
    const isEnded = await this.#checkDisk(async () => {
      await probes.lookLocally().catch(() => undefined)
      if (!this.#holds('store')) return
      // a store that hung without a failed write does not report its recovery by itself
      const tried = probes.tryStore().then(() => this.writable(true))
      await tried.catch(() => undefined)
    })
    if (!isEnded) this.writable(false)
  }

  async #ask(probes: Probes): Promise<void> {
    if (!(await this.#isToAsk(probes))) return
    this.#askedMs = performance.now()
    await probes.askService().catch(() => undefined)
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
    if (this.#isDoubted || nowMs - this.#heardMs >= this.#lookMs()) return true
    return this.#holds(...ASKED_ABOUT)
  }

  #nextWaitMs(): number {
    const isStoreWrong = this.#holds(...STORE)
    const isWrong = isStoreWrong || this.#holds(...ASKED_ABOUT)
    this.#waitMs = isWrong ? Math.min(this.#waitMs * 2, LOOK_MS) : FIRST_MS
    if (isStoreWrong) return Math.min(this.#waitMs, STORE_LOOK_MS)
    if (isWrong) return this.#waitMs
    if (this.#isDoubted) return this.#doubtMs()
    // the check before may have ended, or a timer fired, just before `/me` was due
    return Math.max(0, Math.max(this.#heardMs, this.#askedMs) + this.#lookMs() - performance.now())
  }

  #holds(...codes: readonly ReasonCode[]): boolean {
    return codes.some((code) => this.#health.holds(code))
  }
}
