import type { Bot } from '../api/bot.ts'
import type { Keyring } from './keyring.ts'
import type { PublicationState, ReadyKey, RemoteKeyState } from '../kernel/index.ts'
import type { OwnKeyAlgorithm } from '../openpgp/index.ts'
import { Listeners } from '../util/listeners.ts'
import { Mutex } from '../util/scheduling.ts'
import { fingerprintOf, KeyDriver } from './driver.ts'
import type { Announcement, DriverParts, Entered } from './driver.ts'
import type { RotationOutcome } from './life/life.ts'
import type { Rotation } from './rotation.ts'

/** The state of the publication, for operators. */
export interface PublicationChange {
  state: PublicationState
  detail: string
}

/**
 * Keeps the service's view of our key equal to ours, and rotates it: performs the
 * effects of `life/machine.ts`, one task at a time, and hands back their results.
 */
export class Publication implements AsyncDisposable {
  /** Traces put a span around these calls, and replace no other method. */
  static readonly traced = ['enter'] as const
  readonly #keyring: Keyring
  readonly #driver: KeyDriver
  readonly #shared: DriverParts['shared']
  readonly #changes = new Listeners<PublicationChange>()
  /** Calls back each time that the state is found out, whether it is another one or not. */
  readonly onState = this.#changes.add
  readonly #rotationAttempts = new Listeners<RotationOutcome>()
  /** Calls back when an attempt at a rotation has ended. */
  readonly onRotationAttempt = this.#rotationAttempts.add
  readonly #stop = new AbortController()
  readonly #mutex = new Mutex()
  #timer: NodeJS.Timeout | undefined
  #isPaused = false
  #isStarted = false

  constructor(parts: DriverParts) {
    this.#shared = parts.shared
    this.#shared?.fence.onClosed(() => this.#compareSoon())
    this.#driver = new KeyDriver(parts, (one) => this.#announce(one), this.#stop.signal)
    this.#keyring = parts.keyring
  }

  get state(): PublicationState {
    return this.#driver.life.publication
  }

  /** The key state in the last `/me`; null before the first comparison. */
  get remoteKeyState(): RemoteKeyState | null {
    return this.#driver.life.remote
  }

  /** The rotation under way, or the last one since the start. */
  get rotation(): Rotation | null {
    return this.#driver.rotation
  }

  /** @throws Refusal naming why nothing can be sealed now */
  requirePublished(): ReadyKey {
    return this.#driver.requirePublished()
  }

  /** A send will enter soon: see `SendFence.expect`. */
  expectSend(): void {
    this.#shared?.fence.expect()
  }

  /** @see KeyDriver.enter */
  async enter<T>(prepare: () => Promise<T>): Promise<Entered<T>> {
    return await this.#driver.enter(prepare)
  }

  /** Compares on a timer, sooner while something is missing. */
  start(): void {
    this.#isStarted = true
    // oxlint-disable-next-line typescript/no-floating-promises -- the state shows a failure
    void this.#compare({ isTimed: true })
  }

  /** The token was burnt: asks nothing until `suspect` is called. */
  pause(): void {
    this.#isPaused = true
    clearTimeout(this.#timer)
  }

  /** Something hints that the service's view changed: compares soon. */
  suspect(): void {
    this.#isPaused = false
    this.#compareIn(0)
  }

  /** Compares at once. A failure shows in `state` only. */
  async compareNow(): Promise<void> {
    await this.#compare({ isTimed: false })
  }

  /** Uses a `/me` that somebody else asked for; it also shows that the service answers again. */
  observe(bot: Bot): void {
    this.#driver.apply({ kind: 'bot-observed', fingerprint: fingerprintOf(bot) })
  }

  /** Compares the time of the published key with the clock alone. */
  lookAtClock(): void {
    this.#driver.apply({ kind: 'clock-passed' })
  }

  /** Follows changes of our keys by another sidecar. */
  followKeys(): void {
    this.#driver.apply({ kind: 'keys-changed' })
    this.#compareSoon()
  }

  /**
   * Publishes when the operator asks: the pending key, the active key again, or a first one.
   * @param options `replace`: also over a key that is not ours
   * @throws ServiceError, NoResponseError, OperatorError; Refusal `postern_key_conflict`,
   *   `postern_key_unpublished`, `postern_store_unwritable`
   */
  async publish({ replace }: { replace: boolean }): Promise<ReadyKey> {
    await this.#step(() => this.#driver.run(replace ? 'replace' : 'publish'))
    return this.#newest()
  }

  /** Makes the bot's first key and publishes nothing. @throws as `publish` does */
  async makeFirst(): Promise<ReadyKey> {
    await this.#step(() => this.#driver.run('make-first'))
    return this.#newest()
  }

  /** Imports a pending key by `take`. A running sidecar publishes it. */
  async adopt<T>(take: () => Promise<T>): Promise<T> {
    const taken = await this.#step(take)
    this.#driver.apply({ kind: 'key-found', detail: 'an imported key is on disk' })
    if (this.#isStarted) this.suspect()
    return taken
  }

  /**
   * Imports a key that is never published, by `take`, exclusively among changes of our keys.
   * @param take receives the fingerprint of the key that the service shows now; null for none
   * @throws the error of `take`; ServiceError, NoResponseError
   */
  async adoptRetired<T>(take: (shown: string | null) => Promise<T>): Promise<T> {
    return await this.#step(async () => {
      await this.#driver.run('report')
      return await take(this.#driver.life.shown ?? null)
    })
  }

  /**
   * Begins a rotation, and returns it once the new key is on disk; `rotation` shows its progress.
   * Joins one that is under way, and tries its next step now.
   * @param algorithm of the new key, instead of the setting's
   * @throws as `publish` does; Refusal naming why our key is not the published one
   */
  async rotate(algorithm?: OwnKeyAlgorithm): Promise<Rotation> {
    const sinceMs = performance.now()
    if (this.#driver.life.rotation.current === null) {
      await this.#step(async () => {
        this.#driver.algorithm = algorithm
        await this.#driver
          .run('rotate', sinceMs)
          .finally(() => (this.#driver.algorithm = undefined))
      })
    }
    this.#driver.apply({ kind: 'rotation-joined' })
    return this.#latestRotation()
  }

  /**
   * Abandons the rotation under way, while the service cannot know the new key.
   * @throws OperatorError `refused` when none is, or when it is too late
   */
  async abandon(): Promise<Rotation> {
    this.#driver.apply({ kind: 'dropping', isOn: true })
    try {
      await this.#step(() => this.#driver.run('abandon'))
    } finally {
      this.#driver.apply({ kind: 'dropping', isOn: false })
    }
    this.suspect()
    return this.#latestRotation()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort()
    clearTimeout(this.#timer)
    // the task under way ends first
    await this.#mutex.run(() => Promise.resolve())
  }

  /** One task at a time, among all sidecars of the bot. */
  async #step<T>(step: () => Promise<T>): Promise<T> {
    try {
      return await this.#mutex.run(() => this.#shared?.turn.step(step) ?? step())
    } finally {
      // the next comparison lowers a fence that stayed raised, and judges the key state anew
      const isUnjudged = this.state === 'published' && this.remoteKeyState !== 'equal'
      if (isUnjudged || this.#shared?.fence.isRaised === true) this.#compareSoon()
    }
  }

  async #compare({ isTimed }: { isTimed: boolean }): Promise<void> {
    if (isTimed) clearTimeout(this.#timer)
    const event = await this.#mutex
      .run(() => this.#compareInTurn())
      .then(
        (isSettled) => ({ kind: 'compared', isSettled, isTimed }) as const,
        (error: unknown) => ({ kind: 'compare-failed', error, isTimed }) as const,
      )
    if (!this.#stop.signal.aborted) this.#driver.apply(event)
  }

  async #compareInTurn(): Promise<boolean> {
    if (!this.#shared) return await this.#driver.run('compare')
    const { turn, fence } = this.#shared
    const compared = await turn.tryStep(() => this.#driver.run('compare'))
    const isSettled = compared === null ? await this.#driver.run('observe') : compared.result
    // the other may die before it opens the fence, and this one may have failed to
    return isSettled && !fence.isRaised
  }

  #announce(announcement: Announcement): void {
    switch (announcement.kind) {
      case 'state':
        return this.#changes.emit({ state: announcement.state, detail: announcement.detail })
      case 'rotation-attempt':
        return this.#rotationAttempts.emit(announcement.outcome)
      case 'compare-soon':
        return this.suspect()
      case 'compare-later':
        if (!this.#isPaused) this.#compareIn(announcement.ms * (1 + Math.random() * 0.2))
    }
  }

  /** Compares, where the sidecar has started and its token is good. */
  #compareSoon(): void {
    if (this.#isStarted && !this.#isPaused) this.suspect()
  }

  #compareIn(ms: number): void {
    clearTimeout(this.#timer)
    if (this.#stop.signal.aborted) return
    this.#timer = setTimeout(() => void this.#compare({ isTimed: true }), ms)
  }

  /** The key that a task has made or published. */
  #newest(): ReadyKey {
    const key = this.#keyring.pending ?? this.#keyring.active
    if (key === undefined) throw new Error('a key was made and is not there')
    return key
  }

  #latestRotation(): Rotation {
    if (this.rotation === null) throw new Error('a rotation was begun and is not there')
    return this.rotation
  }
}
