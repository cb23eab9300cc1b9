/** Performs the effects of the life of the bot's key (`life/machine.ts`), and hands back their results. */
import type { Bot } from '../api/bot.ts'
import type { Keyring } from './keyring.ts'
import { requirePublished, type Facts, type ReadyKey } from '../kernel/index.ts'
import type { Log } from '../logger.ts'
import type { OwnKeyAlgorithm } from '../openpgp/index.ts'
import type { KeyTurn, Pass, SendFence } from '../store/postgres/send-fence.ts'
import { raceAbort } from '../util/race-abort.ts'
import { beginLife } from './life/life.ts'
import type { Action, ActionResult, Effect, Errand, KeyEvent, KeyLife } from './life/life.ts'
import { advance } from './life/machine.ts'
import { followRotation, type Rotation } from './rotation.ts'
import { SendGate } from './send-gate.ts'

/** The calls that publication makes; all throw ServiceError and NoResponseError. */
export interface PublicationCalls {
  me(): Promise<Bot>
  /** @param requireAllowed called when it is written; throws to keep it from being sent */
  putKey(
    key: { publicKey: string; fingerprint: string },
    requireAllowed?: () => void,
  ): Promise<void>
}

export interface DriverParts {
  keyring: Keyring
  calls: PublicationCalls
  log: Log
  /** Setting `key.rotateEveryDays`, in ms; null when no rotation is planned. */
  rotateEveryMs: number | null
  /** Where several sidecars have the key. */
  shared?: { turn: KeyTurn; fence: SendFence; fresh: () => Promise<void> } | null
}

const ANNOUNCED = ['state', 'rotation-attempt', 'compare-soon', 'compare-later'] as const

/** Effects that the driver announces to its caller. */
export type Announcement = Extract<Effect, { kind: (typeof ANNOUNCED)[number] }>

/** A send that may leave. */
export interface Entered<T> extends Omit<Pass, 'hasWaited'> {
  /** What the send prepared before it entered. */
  prepared: T
  /** The key to sign with. */
  signer: ReadyKey
}

type Ended = Extract<Effect, { kind: 'ended' }>

/** How long sends wait for a key that is being published: less than the time limits of bots. */
export const HOLD_MAX_MS = 20_000
/** The end of the process keeps these from their begin, and ends them. */
const STOPPABLE: Action['kind'][] = ['get-me', 'put-key', 'pause', 'hold-sends']

/** The caller runs one task at a time. */
export class KeyDriver {
  readonly #parts: DriverParts
  readonly #announce: (announcement: Announcement) => void
  readonly #stop: AbortSignal
  readonly #gate = new SendGate()
  #life: KeyLife
  #rotation: Rotation | null = null
  /** By the last `/me`, for a certificate. */
  #botName = ''
  /** Of the next key, where the operator asked for one; else the setting's. */
  algorithm: OwnKeyAlgorithm | undefined
  #overrun: NodeJS.Timeout | undefined
  /** Ends the wait for sends under way. */
  #dropping = new AbortController()
  /** The fence that is closed while a key is published. */
  #closed: AsyncDisposable | null = null

  /** @param stop aborts when the process ends */
  constructor(
    parts: DriverParts,
    announce: (announcement: Announcement) => void,
    stop: AbortSignal,
  ) {
    this.#parts = parts
    this.#announce = announce
    this.#stop = stop
    this.#life = beginLife(this.#facts(), parts.rotateEveryMs)
    this.apply({ kind: 'key-found', detail: 'it was interrupted, and is taken up again' })
  }

  /** The rotation under way, or the last one since the start. */
  get rotation(): Rotation | null {
    return this.#rotation
  }

  get life(): KeyLife {
    return this.#life
  }

  /** @throws Refusal naming why nothing can be sealed now */
  requirePublished(): ReadyKey {
    return requirePublished(this.#life, this.#facts())
  }

  /**
   * Gives the key to seal with, which stays the published one until `leave` is called: when the
   * message was answered, or will not leave. Waits, with a bound, while another is published.
   * @param prepare called before the send enters, so that no publication waits for it, and again after
   *   a wait
   * @throws Refusal naming why nothing can be sealed now; the error of `prepare`
   */
  async enter<T>(prepare: () => Promise<T>): Promise<Entered<T>> {
    for (;;) {
      this.requirePublished()
      const prepared = await prepare()
      using entering = new DisposableStack()
      const gate = await this.#gate.enter()
      entering.defer(gate.leave)
      const fence = await this.#parts.shared?.fence.enter()
      if (fence !== undefined) entering.defer(fence.leave)
      const signer = this.requirePublished()
      if (gate.hasWaited || fence?.hasWaited === true) continue
      const entered = entering.move()
      const { requireHeld = (): void => {} } = fence ?? {}
      return { prepared, signer, requireHeld, leave: () => entered.dispose() }
    }
  }

  /** Does a task. @returns whether nothing is left to do now @throws why it failed */
  async run(errand: Errand, sinceMs = 0): Promise<boolean> {
    let event: KeyEvent = { kind: 'asked', errand, sinceMs }
    for (;;) {
      const next = this.apply(event)
      if (next === null) throw new Error('a task has no next step')
      if (next.kind !== 'ended') event = await this.#perform(next)
      else if ('error' in next) throw next.error
      else return next.isSettled
    }
  }

  /** Applies an event, and announces its effects. @returns the next step of the task, if any */
  apply(event: KeyEvent): Action | Ended | null {
    const facts = this.#facts()
    const { life, effects } = advance(this.#life, event, facts)
    this.#life = life
    let next: Action | Ended | null = null
    for (const effect of effects) {
      if (effect.kind === 'log') this.#parts.log[effect.level](effect.fields, effect.message)
      else if (effect.kind === 'open-gate') this.#gate.open()
      else if (effect.kind === 'drop-hold') this.#dropping.abort()
      else if (isAnnouncement(effect)) this.#announce(effect)
      else if (effect.kind === 'rotation-begun' || effect.kind === 'rotation-step') {
        this.#rotation = followRotation(this.#rotation, effect, facts.nowMs)
      } else next = effect
    }
    return next
  }

  async #perform(action: Action): Promise<ActionResult> {
    const isStopped = (): boolean => this.#stop.aborted && STOPPABLE.includes(action.kind)
    try {
      if (!isStopped()) return (await this.#do(action)) ?? { kind: 'done' }
    } catch (error) {
      if (!isStopped()) return { kind: 'failed', error }
    }
    return { kind: 'stopped', error: this.#stop.reason }
  }

  async #do(action: Action): Promise<ActionResult | void> {
    const { keyring, calls, shared } = this.#parts
    switch (action.kind) {
      case 'get-me': {
        const bot = await calls.me()
        this.#botName = bot.username ?? `bot ${bot.id}`
        return { kind: 'shown', fingerprint: fingerprintOf(bot) }
      }
      case 'refresh-keys':
        return await shared?.fresh()
      case 'make-key':
        return void (await keyring.makePending(this.#botName, this.algorithm))
      case 'record-offered':
        return await keyring.markOffered(
          action.fingerprint,
          action.isOffered ? keyring.time.nowMs() : null,
        )
      case 'put-key':
        return await this.#putKey(action.fingerprint)
      case 'pause':
        return await pause(action.ms, this.#stop)
      case 'promote':
        return await keyring.promote(action.fingerprint)
      case 'discard':
        return await keyring.discard(action.fingerprint)
      case 'hold-sends':
        return await this.#holdSends()
      case 'release-sends':
        return await this.#releaseSends()
    }
  }

  async #putKey(fingerprint: string): Promise<void> {
    const publicKey = this.#parts.keyring.find(fingerprint)?.certificate
    if (publicKey === undefined) throw new Error('no such key')
    const requireTurn = (): void => this.#parts.shared?.turn.requireHeld()
    requireTurn()
    await this.#parts.calls.putKey({ publicKey, fingerprint }, requireTurn)
  }

  /** Past the bound the key counts as unpublished until it is known better, and sends are refused. */
  async #holdSends(): Promise<void> {
    this.#gate.close()
    this.#overrun = setTimeout(() => this.apply({ kind: 'hold-overrun' }), HOLD_MAX_MS)
    this.#dropping = new AbortController()
    const signal = AbortSignal.any([this.#stop, this.#dropping.signal])
    await this.#gate.empty(signal)
    this.#closed = (await this.#parts.shared?.fence.close(signal)) ?? null
  }

  async #releaseSends(): Promise<void> {
    clearTimeout(this.#overrun)
    this.#gate.open()
    const closed = this.#closed
    this.#closed = null
    await closed?.[Symbol.asyncDispose]()
  }

  #facts(): Facts {
    const { all: keys, firstPublishedAtMs, clocks, time } = this.#parts.keyring
    return {
      keys,
      firstPublishedAtMs,
      nowMs: time.nowMs(),
      monotonicMs: time.monotonicMs(),
      isClockBehind: clocks.isBehind(),
    }
  }
}

/** The fingerprint in `/me`, in lower case, or null for a bot without a key. */
export const fingerprintOf = ({ fingerprint }: Pick<Bot, 'fingerprint'>): string | null =>
  fingerprint == null || fingerprint === '' ? null : fingerprint.toLowerCase()

const isAnnouncement = (effect: Effect): effect is Announcement =>
  ANNOUNCED.some((kind) => kind === effect.kind)

/** @throws the signal's reason */
async function pause(ms: number, signal: AbortSignal): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  const timer = setTimeout(resolve, ms)
  await raceAbort(promise, signal).finally(() => clearTimeout(timer))
}
