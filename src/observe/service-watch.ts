import { ClockSkew } from './clock-skew.ts'
import { ENDPOINTS } from '../api/endpoints.ts'
import { Listeners } from '../util/listeners.ts'
import type { Health, ReasonCode } from './health.ts'
import { DiskCheck, type Probes } from './probes.ts'

/** Reasons that only a call to the service can take back. */
const ASKED_ABOUT = ['starting', 'upstream', 'token', 'identity', 'paused', 'clock'] as const
/** Reasons that only the store can take back. */
const STORE = ['store', 'store-unreachable', 'store-rolled-back'] as const
/** The route whose answer says all that only a call can say. */
const ME = 'GET /me'
/** How long `/me` may stay unheard before it is asked, and how often what needs no call is looked at. */
export const LOOK_MS = 10_000
/** The first wait while a reason stands; it doubles up to `LOOK_MS`. */
export const FIRST_MS = 1000
/** How long errors of `/me` count for nothing after another call worked: less than the wait for a look. */
const WORKED_MS = LOOK_MS - FIRST_MS
/** A refused token is not tried more often, so that nobody is locked out by us. */
const TOKEN_MAX_MS = 300_000
/** How long the store counts as failing after one write has, and how often it is then looked at. */
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
 * Concludes from calls how the service is: reachable, token good, not paused, clocks together. Once
 * started it asks `/me` whenever that was not heard for `LOOK_MS`, sooner while something is wrong: what
 * readiness says is never older than `LOOK_MS` and the time that one call may take.
 */
export class ServiceWatch implements Disposable {
  readonly #health: Health
  readonly #revivals = new Listeners()
  /** Calls back when a call works again after the token was burnt. */
  readonly onRevived = this.#revivals.add
  #probes: Probes | null = null
  #timer: NodeJS.Timeout | undefined
  /** When the timer fires; this and the times below are of `performance.now()`. */
  #dueMs = Infinity
  #isLooking = false
  #waitMs = FIRST_MS
  /** When `/me` last said something, and when the watch last asked it. */
  #heardMs = -Infinity
  #askedMs = -Infinity
  /** When a write last failed. */
  #unwritableMs = -Infinity
  /** When the service last answered anything but an error of its own. */
  #workedMs = -Infinity
  readonly #disk = new DiskCheck(DISK_MS)
  /** `/me` failed while other calls worked, and has not answered since. */
  #isDoubted = false
  #tokenWaitMs = FIRST_MS
  #tokenDueMs = -Infinity
  #revoked = false
  #stopped = false
  readonly #skew: ClockSkew
  #reachable = false

  /** @param time ours, which may be another than the machine's */
  constructor(health: Health, time?: { nowMs(): number }) {
    this.#health = health
    this.#skew = new ClockSkew(time)
    health.set('starting', '')
  }

  /** As `ClockSkew.ms`. */
  get skewMs(): number | null {
    return this.#skew.ms
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

  /** No usable answer came. @param detail who was called and why, for people */
  unreachable(detail: string): void {
    this.#reachable = false
    this.#health.set('upstream', detail)
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

  /** @param machineSkewMs how far this machine's clock is ahead of the service's */
  clock(machineSkewMs: number): void {
    const detail = this.#skew.record(machineSkewMs)
    if (detail === null) return this.#health.clear('clock')
    this.#health.set('clock', detail)
    this.#schedule(this.#waitMs)
  }

  /** Whether our clock shows a time that can be; where the service sends no date, that alone shows. */
  clockIsBehind(isBehind: boolean): void {
    if (isBehind) this.#health.set('clock', 'before the bot’s key was made')
    else if (this.#skew.ms === null) this.#health.clear('clock')
  }

  /** A write has failed or worked. What worked just after a failure may be another table's. */
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
    this.#health.set(now === 'unreachable' ? 'store-unreachable' : 'store-rolled-back', '')
    this.#waitMs = FIRST_MS
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

  /** A service whose `/me` fails is as good as gone, unless something else works. */
  #failed({ route, status }: { route: string; status: number }): void {
    if (route !== ME) return
    if (this.#workedMs + WORKED_MS <= performance.now()) {
      this.#health.set('upstream', `${route}: ${status}`)
      this.#schedule(this.#waitMs)
    } else {
      this.#isDoubted = true
      this.#schedule(this.#doubtMs())
    }
  }

  /** How long until an error of `/me` counts, unless a call works meanwhile. */
  #doubtMs(): number {
    return Math.max(FIRST_MS, this.#workedMs + WORKED_MS - performance.now())
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
    probes.lookAtClock()
    const reached = probes.reachStore().catch(() => undefined)
    await Promise.all([this.#lookLocally(probes), reached, this.#ask(probes)])
    this.#isLooking = false
    this.#schedule(Math.min(this.#nextWaitMs(), Math.max(0, probes.untilNextEndMs())))
  }

  async #lookLocally(probes: Probes): Promise<void> {
    const isEnded = await this.#disk.run(async () => {
      await probes.lookLocally().catch(() => undefined)
      if (this.#holds('store')) await this.#tryStore(probes)
    })
    if (!isEnded) this.writable(false)
  }

  /** A store that hung, and failed at nothing, does not say itself that it works again. */
  async #tryStore(probes: Probes): Promise<void> {
    try {
      await probes.tryStore()
      this.writable(true)
    } catch {
      // the reason stands
    }
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
    if (this.#isDoubted || nowMs - this.#heardMs >= LOOK_MS) return true
    return this.#holds(...ASKED_ABOUT)
  }

  #nextWaitMs(): number {
    const isStoreWrong = this.#holds(...STORE)
    const isWrong = isStoreWrong || this.#holds(...ASKED_ABOUT)
    this.#waitMs = isWrong ? Math.min(this.#waitMs * 2, LOOK_MS) : FIRST_MS
    if (isStoreWrong) return Math.min(this.#waitMs, STORE_LOOK_MS)
    if (isWrong) return this.#waitMs
    if (this.#isDoubted) return this.#doubtMs()
    // the look before may have ended, or a timer fired, just before `/me` was to be asked
    const lastMs = Math.max(this.#heardMs, this.#askedMs)
    return Math.max(0, lastMs + LOOK_MS - performance.now())
  }

  /** Whether any of these reasons holds. */
  #holds(...codes: readonly ReasonCode[]): boolean {
    return codes.some((code) => this.#health.holds(code))
  }
}
