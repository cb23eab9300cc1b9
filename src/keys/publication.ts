import type { Bot } from '../api/bot.ts'
import { OperatorError, PosternError, Refusal, ServiceSaid, type OwnCode } from '../errors.ts'
import type { Log } from '../logger.ts'
import type { Keyring, OwnKeyRecord } from './keyring.ts'

/**
 * Where our key stands with the service. `published`: `/me` shows it. `unpublished`: not
 * confirmed yet. `conflict`: `/me` shows a key that is not ours. `unprotected`: none, although we
 * had published.
 */
export type PublicationState = 'published' | 'unpublished' | 'conflict' | 'unprotected'

/** The calls that publication makes; all throw ServiceSaid and Unanswered. */
export interface PublicationCalls {
  me(): Promise<Bot>
  putKey(key: { publicKey: string; fingerprint: string }): Promise<void>
}

export interface PublicationParts {
  keyring: Keyring
  calls: PublicationCalls
  log: Log
  /** Our clock minus the service's, in ms; null while unknown. */
  clockSkewMs(): number | null
  /** Called on every change, with what an operator should read. */
  changed(state: PublicationState, detail: string): void
}

/** No key is made while the clocks differ by more. */
const SKEW_MAX_MS = 120_000
const CHECK_EVERY_MS = 600_000
const RETRY_FIRST_MS = 1000
const RETRY_MAX_MS = 60_000
/** How long `/me` may lag behind an accepted publication before it is made again. */
const LAG_MAX_MS = 300_000
const CONFIRM_AFTER_MS = [0, 250, 500, 1000, 2000]

const REFUSED: Record<Exclude<PublicationState, 'published'>, OwnCode> = {
  unpublished: 'postern_key_unpublished',
  conflict: 'postern_key_conflict',
  unprotected: 'postern_bot_unprotected',
}

/**
 * Keeps the service's view of our key equal to ours (DESIGN: Keys). Never makes a second key while
 * one waits, never publishes over a key that is not ours, never puts back one that was removed.
 */
export class Publication implements AsyncDisposable {
  readonly #parts: PublicationParts
  readonly #stop = new AbortController()
  #state: PublicationState
  #acceptedAtMs = new Map<string, number>()
  #turn: Promise<unknown> = Promise.resolve()
  #timer: NodeJS.Timeout | undefined
  #retryMs = RETRY_FIRST_MS
  #paused = false
  /** What `/me` showed when last compared. */
  #shown: string | null | undefined

  constructor(parts: PublicationParts) {
    this.#parts = parts
    this.#state = parts.keyring.active === undefined ? 'unpublished' : 'published'
  }

  get state(): PublicationState {
    return this.#state
  }

  /** @throws Refusal naming why nothing can be sealed now */
  requirePublished(): OwnKeyRecord {
    const { active } = this.#parts.keyring
    if (this.#state === 'published' && active !== undefined) return active
    throw new Refusal(REFUSED[this.#state === 'published' ? 'unpublished' : this.#state])
  }

  /** Compares now and then on a timer, sooner while something is missing. */
  start(): void {
    void this.#cycle()
  }

  /** The token was burnt: nothing is asked until `suspect` says that a call works again. */
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

  /** Compares at once; failures are told by the state alone. */
  async compareNow(): Promise<void> {
    await this.#inTurn(() => this.#compare()).catch((error: unknown) => this.#failed(error))
  }

  /** Takes in a `/me` that was asked for anyway. */
  observe(bot: Bot): void {
    if (this.#shown !== undefined && fingerprintOf(bot) !== this.#shown) this.suspect()
  }

  /**
   * Publishes by the operator's word: the active key again, or a first one.
   * @param options `replace`: also over a key that is not ours
   * @throws ServiceSaid, Unanswered, Refusal `postern_key_conflict`
   */
  async publish(options: { replace: boolean }): Promise<OwnKeyRecord> {
    return await this.#inTurn(async () => {
      const bot = await this.#parts.calls.me()
      const shown = fingerprintOf(bot)
      const foreign = shown !== null && this.#parts.keyring.find(shown) === undefined
      if (foreign && !options.replace) throw new Refusal('postern_key_conflict')
      const { active } = this.#parts.keyring
      if (active !== undefined && shown === active.fingerprint) {
        this.#become('published', 'the key is published')
        return active
      }
      const key = this.#parts.keyring.pending ?? active ?? (await this.#make(bot))
      this.#acceptedAtMs.delete(key.fingerprint)
      await this.#put(key)
      this.#become('unpublished', 'the key is being published')
      if (!(await this.#confirm(key))) throw new Refusal('postern_key_unpublished')
      return key
    })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort()
    clearTimeout(this.#timer)
    await this.#turn.catch(() => undefined)
  }

  async #cycle(): Promise<void> {
    clearTimeout(this.#timer)
    const settled = await this.#inTurn(() => this.#compare()).catch((error: unknown) => {
      this.#failed(error)
      return false
    })
    if (this.#stop.signal.aborted || this.#paused) return
    const waitMs = settled ? CHECK_EVERY_MS : this.#retryMs
    this.#retryMs = settled ? RETRY_FIRST_MS : Math.min(this.#retryMs * 2, RETRY_MAX_MS)
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => void this.#cycle(), waitMs * (0.8 + Math.random() * 0.4))
  }

  /** Gives whether nothing is left to do until the next regular look. */
  async #compare(): Promise<boolean> {
    const { keyring, calls } = this.#parts
    const bot = await calls.me()
    const shown = fingerprintOf(bot)
    this.#shown = shown
    const { active, pending } = keyring
    if (shown !== null && shown === pending?.fingerprint) {
      await this.#promote(pending)
      return true
    }
    if (shown !== null && shown === active?.fingerprint && pending === undefined) {
      this.#become('published', 'the key is published')
      return true
    }
    if (shown !== null && keyring.find(shown) === undefined) {
      if (!this.#isLagging()) this.#become('conflict', `the service lists ${shown}`)
      return false
    }
    if (shown === null && active !== undefined && pending === undefined) {
      if (!this.#isLagging()) {
        this.#become('unprotected', 'the service shows no key for the bot')
      }
      return false
    }
    const key = pending ?? active ?? (await this.#make(bot))
    if (this.#state !== 'published') this.#become('unpublished', 'the key is being published')
    await this.#put(key)
    return await this.#confirm(key)
  }

  /** A publication was accepted a while ago, and `/me` may not show it yet. */
  #isLagging(): boolean {
    const { active, pending } = this.#parts.keyring
    const key = pending ?? active
    return this.#state === 'unpublished' && key !== undefined && this.#isRecent(key)
  }

  async #make(bot: Bot): Promise<OwnKeyRecord> {
    const skewMs = this.#parts.clockSkewMs()
    if (skewMs !== null && Math.abs(skewMs) > SKEW_MAX_MS) {
      throw new ClockOff(
        `our clock is ${Math.round(Math.abs(skewMs) / 1000)} s ${skewMs > 0 ? 'ahead of' : 'behind'} the service’s: no key is made`,
      )
    }
    const key = await this.#parts.keyring.makePending(bot.username ?? `bot ${bot.id}`)
    this.#parts.log.info({ fingerprint: key.fingerprint }, 'made a key for the bot')
    return key
  }

  async #put(key: OwnKeyRecord): Promise<void> {
    if (this.#isRecent(key)) return
    const { calls, log } = this.#parts
    log.info(
      { fingerprint: key.fingerprint },
      'publishing the bot’s key: its private chats become encrypted for good',
    )
    await calls.putKey({ publicKey: key.certificate, fingerprint: key.fingerprint })
    this.#acceptedAtMs.set(key.fingerprint, performance.now())
  }

  async #confirm(key: OwnKeyRecord): Promise<boolean> {
    for (const waitMs of CONFIRM_AFTER_MS) {
      await pause(waitMs, this.#stop.signal)
      if (fingerprintOf(await this.#parts.calls.me()) === key.fingerprint) {
        await this.#promote(key)
        return true
      }
    }
    return false
  }

  async #promote(key: OwnKeyRecord): Promise<void> {
    this.#shown = key.fingerprint
    if (key.state !== 'active') await this.#parts.keyring.promote(key.fingerprint)
    this.#become('published', 'the key is published')
  }

  #isRecent(key: OwnKeyRecord): boolean {
    const acceptedAtMs = this.#acceptedAtMs.get(key.fingerprint)
    return acceptedAtMs !== undefined && performance.now() - acceptedAtMs < LAG_MAX_MS
  }

  #failed(error: unknown): void {
    if (this.#stop.signal.aborted) return
    const code = error instanceof PosternError ? error.code : 'failed'
    const detail = error instanceof ClockOff ? error.message : `waiting to publish: ${code}`
    this.#parts.log.warn({ code }, 'the key could not be compared or published')
    if (this.#state === 'unpublished') this.#become('unpublished', detail)
    if (error instanceof ServiceSaid) {
      const waitMs = error.status === 401 ? RETRY_MAX_MS : (error.retryAfterSeconds ?? 0) * 1000
      this.#retryMs = Math.max(this.#retryMs, waitMs)
    }
  }

  #become(state: PublicationState, detail: string): void {
    if (this.#state !== state) this.#parts.log.info({ state }, 'the bot’s key')
    this.#state = state
    this.#parts.changed(state, detail)
  }

  #inTurn<T>(task: () => Promise<T>): Promise<T> {
    const next = this.#turn.then(task, task)
    this.#turn = next.catch(() => undefined)
    return next
  }
}

/** No key is made while the clocks are too far apart. */
class ClockOff extends OperatorError {
  constructor(message: string) {
    super('refused', message, 'set this machine’s clock (NTP)')
  }
}

/** The fingerprint that `/me` claims, in lower case, or null for an open bot. */
export function fingerprintOf(bot: Bot): string | null {
  return bot.fingerprint == null || bot.fingerprint === '' ? null : bot.fingerprint.toLowerCase()
}

async function pause(ms: number, signal: AbortSignal): Promise<void> {
  if (signal.aborted) throw new Error('stopping')
  if (ms === 0) return
  await new Promise<void>((resolve, reject) => {
    const timer = setTimeout(resolve, ms)
    signal.addEventListener('abort', () => {
      clearTimeout(timer)
      reject(new Error('stopping'))
    })
  })
}
