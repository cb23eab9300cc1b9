import type { Bot } from '../api/bot.ts'
import { NoResponseError, ServiceError } from '../errors.ts'
import type { Log } from '../logger.ts'
import { Listeners } from '../util/listeners.ts'
import { Mutex } from '../util/scheduling.ts'
import type { Keyring } from '../kernel/own-key/keyring.ts'
import type { PublicationCalls } from './publish-key.ts'
import type { KeyTurn } from '../replicas/key-turn.ts'
import type { ReadyKey } from '../kernel/own-key/own-key.ts'
import { codeOf, retryAfterMs } from './publish-retries.ts'
import { ClockOff } from '../kernel/own-key/clocks.ts'
import { Reconciler } from './reconcile.ts'
import { RotationWatch, type Rotation, type RotationOutcome } from './rotation.ts'
import {
  fingerprintOf,
  type RemoteKeyState,
  PublicationStatus,
  type Entered,
  type PublicationState,
} from './publication-status.ts'
import type { SendFence } from '../replicas/send-fence.ts'

export type { Entered, PublicationState } from './publication-status.ts'

export interface PublicationParts {
  keyring: Keyring
  calls: PublicationCalls
  log: Log
  /** Setting `key.rotateEveryDays`, in ms; null when no rotation is planned. */
  rotateEveryMs: number | null
  /** Where several sidecars have the key. */
  shared?: { turn: KeyTurn; fence: SendFence; fresh: () => Promise<void> } | null
}

/** The state of the publication, with what an operator should read. */
export interface PublicationChange {
  state: PublicationState
  detail: string
}

const CHECK_EVERY_MS = 600_000
const RETRY_FIRST_MS = 1000
/** While the key is not the published one: with its spread and an attempt below the 15 s of readiness. */
const RETRY_MAX_MS = 8000
/** A refused token is not tried more often. */
const TOKEN_RETRY_MS = 60_000

/**
 * Keeps the service's view of our key equal to ours, and rotates it (DESIGN: Keys): looks at start,
 * on a timer and when asked, one step at a time.
 */
export class Publication implements AsyncDisposable {
  readonly #log: Log
  readonly #keyring: Keyring
  readonly #status: PublicationStatus
  readonly #rotations = new RotationWatch()
  readonly #reconciler: Reconciler
  readonly #turn: KeyTurn | null
  readonly #fence: SendFence | null
  readonly #changes = new Listeners<PublicationChange>()
  readonly #rotationAttempts = new Listeners<RotationOutcome>()
  readonly #stop = new AbortController()
  readonly #mutex = new Mutex()
  #timer: NodeJS.Timeout | undefined
  #retryMs = RETRY_FIRST_MS
  /** Why the last comparison failed, which is logged once; null when it did not. */
  #failedWith: string | null = null
  /** Whether the last comparison failed because the service did not answer. */
  #isUnanswered = false
  #paused = false
  #isStarted = false
  /** What `/me` showed when we last asked. */
  #shown: string | null | undefined
  #asking = 0

  constructor(parts: PublicationParts) {
    const { keyring, log } = parts
    this.#log = log
    this.#keyring = keyring
    const { turn = null, fence = null, fresh } = parts.shared ?? {}
    this.#turn = turn
    this.#fence = fence
    fence?.onClosed(() => this.#look())
    this.#status = new PublicationStatus({
      ...parts,
      fence,
      onChange: (state, detail) => this.#changes.emit({ state, detail }),
    })
    this.#reconciler = new Reconciler({
      ...parts,
      ...(fresh === undefined ? {} : { fresh }),
      calls: {
        me: () => this.#me(parts.calls),
        putKey: async (key) => {
          turn?.requireHeld()
          await parts.calls.putKey(key, () => turn?.requireHeld())
        },
      },
      status: this.#status,
      rotations: this.#rotations,
      onRotationAttempt: (outcome) => this.#rotationAttempts.emit(outcome),
      stop: this.#stop.signal,
    })
    this.#takeUp('it was interrupted, and is taken up again')
  }

  /** Calls back each time that the state is found out, whether it is another one or not. */
  onState(listener: (change: PublicationChange) => void): void {
    this.#changes.add(listener)
  }

  /** Calls back when an attempt at a rotation has ended. */
  onRotationAttempt(listener: (outcome: RotationOutcome) => void): void {
    this.#rotationAttempts.add(listener)
  }

  get state(): PublicationState {
    return this.#status.state
  }

  /** What `/me` last showed; null before the first look. */
  get remoteKeyState(): RemoteKeyState | null {
    return this.#status.remoteKeyState
  }

  /** The rotation under way, or the last one since the start. */
  get rotation(): Rotation | null {
    return this.#rotations.latest
  }

  /** @throws Refusal naming why nothing can be sealed now */
  requirePublished(): ReadyKey {
    return this.#status.requirePublished()
  }

  /** A send will enter soon: makes ready for it what needs the database. */
  expectSend(): void {
    this.#status.expectSend()
  }

  /**
   * Gives the key to seal with, which stays the published one until `leave` is called: when the
   * message was answered, or will not leave. Waits, with a bound, while another is published.
   * @throws Refusal naming why nothing can be sealed now
   */
  async enter(): Promise<Entered> {
    return await this.#status.enter()
  }

  /** Compares now and then on a timer, sooner while something is missing. */
  start(): void {
    this.#isStarted = true
    void this.#cycle()
  }

  /** The token was burnt: asks nothing until `suspect` is called. */
  pause(): void {
    this.#paused = true
    clearTimeout(this.#timer)
  }

  /** Something hints that the service's view changed: compare soon. */
  suspect(): void {
    this.#paused = false
    if (this.#stop.signal.aborted) return
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => void this.#cycle(), 0)
  }

  /** Compares at once. A failure shows in `state` only. */
  async compareNow(): Promise<void> {
    await this.#compare()
  }

  /** Uses a `/me` that somebody else asked for; it also shows that the service answers again. */
  observe(bot: Bot): void {
    if (this.#asking > 0) return
    const isOther = this.#shown !== undefined && fingerprintOf(bot) !== this.#shown
    if (isOther || this.#isUnanswered) this.suspect()
  }

  /** Looks at the clock alone: whether the time of the published key is over. */
  lookAtClock(): void {
    this.#status.lookAtClock()
  }

  /**
   * Publishes when the operator asks: the active key again, or a first one.
   * @param options `replace`: also over a key that is not ours
   * @throws ServiceError, NoResponseError, Refusal `postern_key_conflict`
   */
  async publish(options: { replace: boolean }): Promise<ReadyKey> {
    return await this.#step(() => this.#reconciler.publish(options))
  }

  /** Makes the bot's first key and publishes nothing. @throws as `Reconciler.makeFirst` does */
  async makeFirst(): Promise<ReadyKey> {
    return await this.#step(() => this.#reconciler.makeFirst())
  }

  /** Imports a pending key by `take`. A running sidecar publishes it. */
  async adopt<T>(take: () => Promise<T>): Promise<T> {
    const taken = await this.#step(take)
    this.#takeUp('an imported key is on disk')
    if (this.#isStarted) this.suspect()
    return taken
  }

  /**
   * Imports a key that is never published, by `take`, while nothing else happens to our keys.
   * @param take gets the fingerprint of the key that the service shows now; null for none
   * @throws what `take` throws; ServiceError, NoResponseError
   */
  async adoptRetired<T>(take: (shown: string | null) => Promise<T>): Promise<T> {
    return await this.#step(async () => await take(await this.#reconciler.shownNow()))
  }

  /**
   * Begins a rotation, and returns it once the new key is on disk; `rotation` shows its progress.
   * Joins one that is under way, and tries its next step now.
   * @throws as `publish` does; Refusal naming why our key is not the published one
   */
  async rotate(): Promise<Rotation> {
    const askedAtMs = performance.now()
    return (
      this.#join() ??
      (await this.#step(async () => {
        const { latest } = this.#rotations
        if (latest !== null && this.#rotations.endedSince(askedAtMs)) return latest
        if (this.#rotations.current === null) await this.#reconciler.beginRotation()
        const begun = this.#join()
        if (begun === null) throw new Error('a rotation was begun and is not there')
        return begun
      }))
    )
  }

  /**
   * Abandons the rotation under way, while the service cannot know the new key.
   * @throws OperatorError `refused` when none is, or when it is too late
   */
  async abandon(): Promise<Rotation> {
    if (this.#keyring.pending?.offeredAtMs === null) this.#reconciler.drop()
    const abandoned = await this.#step(() => this.#reconciler.abandon())
    this.suspect()
    return abandoned
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort()
    clearTimeout(this.#timer)
    // what is under way ends first
    await this.#mutex.run(() => Promise.resolve())
  }

  /** Takes over what another sidecar made of our keys. */
  followKeys(): void {
    const { active, pending } = this.#keyring
    const { current } = this.#rotations
    if (current !== null && pending?.fingerprint !== current.to) {
      this.#rotations.end(active?.fingerprint === current.to ? 'done' : 'abandoned')
    }
    if (this.#rotations.current === null) this.#takeUp('another sidecar rotates the key')
    if (pending?.offeredAtMs != null) {
      this.#status.become('unpublished', 'another sidecar publishes a key')
    } else if (active !== undefined && this.state === 'unpublished') {
      this.#status.becomeShown()
    }
    this.#look()
  }

  #look(): void {
    if (this.#isStarted && !this.#paused) this.suspect()
  }

  /** One step at a time, among all sidecars of the bot. */
  async #step<T>(step: () => Promise<T>): Promise<T> {
    const turn = this.#turn
    try {
      return await this.#mutex.run(() => (turn === null ? step() : turn.step(step)))
    } finally {
      // sends that could not be let in again are let in by the next comparison
      if (this.#fence?.isRaised === true) this.#look()
    }
  }

  /** A pending key beside an active one is a rotation. */
  #takeUp(detail: string): void {
    const { active, pending } = this.#keyring
    if (active === undefined || pending === undefined) return
    const [from, to] = [active.fingerprint, pending.fingerprint]
    this.#rotations.begin({ from, to, startedAtMs: pending.createdAtMs, detail })
  }

  #join(): Rotation | null {
    if (this.#rotations.current === null) return null
    this.#rotations.hurry()
    this.suspect()
    return this.#rotations.current
  }

  async #cycle(): Promise<void> {
    clearTimeout(this.#timer)
    const settled = await this.#compare()
    if (this.#stop.signal.aborted || this.#paused) return
    const rotationMs = this.#rotations.current === null ? Infinity : this.#rotations.waitMs
    const waitMs = settled ? Math.min(CHECK_EVERY_MS, rotationMs) : this.#retryMs
    this.#retryMs = settled ? RETRY_FIRST_MS : Math.min(this.#retryMs * 2, RETRY_MAX_MS)
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => void this.#cycle(), waitMs * (1 + Math.random() * 0.2))
  }

  /** @returns whether nothing is left to do until the next regular look */
  async #compare(): Promise<boolean> {
    this.#isUnanswered = false
    try {
      const settled = await this.#mutex.run(async () => {
        if (this.#turn === null) return await this.#reconciler.compare()
        const compared = await this.#turn.tryStep(() => this.#reconciler.compare())
        const isDone = compared === null ? await this.#reconciler.look() : compared.result
        // the other may die before it lets sends in again, and this one may have failed to
        return isDone && this.#fence?.isRaised !== true
      })
      this.#failedWith = null
      return settled
    } catch (error) {
      this.#failed(error)
      return false
    }
  }

  #failed(error: unknown): void {
    if (this.#stop.signal.aborted) return
    const detail =
      error instanceof ClockOff ? error.message : `waiting to publish: ${codeOf(error)}`
    const code = codeOf(error)
    // That nobody answered is a reason of its own against readiness, which is logged.
    const isSaid = code === this.#failedWith || error instanceof NoResponseError
    this.#failedWith = code
    this.#isUnanswered = error instanceof NoResponseError
    this.#log[isSaid ? 'debug' : 'warn']({ code }, 'the key could not be compared or published')
    if (this.state === 'unpublished') this.#status.become('unpublished', detail)
    const refusedToken = error instanceof ServiceError && error.status === 401
    const leastMs = refusedToken ? TOKEN_RETRY_MS : retryAfterMs(error)
    this.#retryMs = Math.max(this.#retryMs, leastMs)
  }

  async #me(calls: PublicationCalls): Promise<Bot> {
    this.#asking++
    try {
      const bot = await calls.me()
      this.#shown = fingerprintOf(bot)
      return bot
    } finally {
      this.#asking--
    }
  }
}
