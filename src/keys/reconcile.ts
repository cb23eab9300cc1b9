/** Brings what the service shows and what we hold together (DESIGN: Keys), one step at a time. */
import type { Bot } from '../api/bot.ts'
import { OperatorError, Refusal } from '../errors.ts'
import { PublishRetries, codeOf, type PublishRetriesParts } from './publish-retries.ts'
import type { ReadyKey } from '../kernel/own-key/own-key.ts'
import type { Rotation } from './rotation.ts'
import { fingerprintOf, remoteKeyStateOf, type RemoteKeyState } from './publication-status.ts'

export interface ReconcileParts extends PublishRetriesParts {
  /** Setting `key.rotateEveryDays`, in ms; null when no rotation is planned. */
  rotateEveryMs: number | null
  /** Reads what other sidecars made of our keys (`Store.fresh`). */
  fresh?: () => Promise<void>
}

/** What people read when the service shows none of our keys. */
const LOST = {
  foreign: 'the service shows a key that is not ours',
  none: 'the service shows no key for the bot',
} as const

/** The caller runs one step at a time. */
export class Reconciler {
  readonly #parts: ReconcileParts
  readonly #retries: PublishRetries

  constructor(parts: ReconcileParts) {
    this.#parts = parts
    this.#retries = new PublishRetries(parts)
  }

  /**
   * Compares `/me` with the keyring and does what follows. It makes no second key while one waits,
   * replaces no key that is not ours, and restores none that was removed.
   * @returns whether nothing is left to do until the next regular look
   * @throws ServiceError, NoResponseError, Refusal `postern_store_unwritable`, OperatorError
   */
  async compare(): Promise<boolean> {
    const { keyring, status, rotations } = this.#parts
    const { bot, shown, remoteKeyState } = await this.#look()
    if (this.#retries.isLagging(shown)) {
      status.become('unpublished', 'the service took the key and does not show it yet')
      return false
    }
    switch (remoteKeyState) {
      case 'pending':
        return await this.#retries.promote(keyring.pending)
      case 'foreign':
      case 'none':
        this.#reportLost(remoteKeyState, shown)
        rotations.stall(LOST[remoteKeyState])
        return false
      case 'older':
        status.become('unpublished', 'the service shows an older key of ours')
        return await this.#retries.publish(keyring.pending ?? keyring.active, shown)
      case 'equal':
        return await this.#equal(bot, shown)
      case 'first':
        break
    }
    status.become('unpublished', 'the key is being published')
    return await this.#retries.publish(keyring.pending ?? (await this.#make(bot)), shown)
  }

  /**
   * Looks while another sidecar makes a step, and does nothing about what it sees.
   * @returns whether nothing is left to do until the next regular look
   * @throws ServiceError, NoResponseError, Refusal `postern_store_unwritable`
   */
  async look(): Promise<boolean> {
    const { shown, remoteKeyState } = await this.#look()
    if (remoteKeyState === 'foreign' || remoteKeyState === 'none') {
      this.#reportLost(remoteKeyState, shown)
    }
    if (remoteKeyState === 'equal') this.#parts.status.becomeShown()
    return remoteKeyState === 'equal'
  }

  /**
   * Publishes when the operator asks: the pending key, the active key again, or a first one.
   * @param options `replace`: also over a key that is not ours
   * @throws as `compare` does; Refusal `postern_key_conflict`, `postern_key_unpublished`
   */
  async publish(options: { replace: boolean }): Promise<ReadyKey> {
    const { keyring } = this.#parts
    const { bot, shown, remoteKeyState } = await this.#look()
    if (remoteKeyState === 'foreign' && !options.replace) {
      throw new Refusal('postern_key_conflict')
    }
    const key = keyring.pending ?? keyring.active ?? (await this.#make(bot))
    const done =
      shown === key.fingerprint
        ? await this.#retries.promote(key)
        : await this.#retries.publish(key, shown, 'throw')
    if (!done) throw new Refusal('postern_key_unpublished')
    return key
  }

  /**
   * Begins a rotation: the new key is made and on disk; `compare` does the rest.
   * @throws as `compare` does; Refusal naming why our key is not the published one
   */
  async beginRotation(): Promise<void> {
    const { bot, remoteKeyState } = await this.#look()
    if (remoteKeyState === 'foreign') throw new Refusal('postern_key_conflict')
    if (remoteKeyState === 'none') throw new Refusal('postern_bot_unprotected')
    if (remoteKeyState !== 'equal' || this.#parts.keyring.pending !== undefined) {
      throw new Refusal('postern_key_unpublished')
    }
    await this.#begin(bot)
  }

  /**
   * Makes the bot's first key and leaves it unpublished.
   * @throws OperatorError `refused` when there is one already, or the clocks differ; ServiceError,
   *   NoResponseError
   */
  async makeFirst(): Promise<ReadyKey> {
    const { keyring } = this.#parts
    const known = keyring.pending ?? keyring.active
    if (known !== undefined) {
      throw new OperatorError(
        'refused',
        `there is a key already, and it is ${known.state}: ${known.fingerprint}`,
        '`postern key rotate` puts a new one in the place of a published one',
      )
    }
    const { bot } = await this.#look()
    return await this.#make(bot)
  }

  /** Fingerprint of the key that the service shows now; null for none. @throws as `compare` does */
  async shownNow(): Promise<string | null> {
    return (await this.#look()).shown
  }

  /** Ends an attempt that has not published yet. */
  drop(): void {
    this.#retries.drop()
  }

  /**
   * Forgets the key of a rotation, while the service cannot know it.
   * @throws OperatorError `refused`; Refusal `postern_store_unwritable`
   */
  async abandon(): Promise<Rotation> {
    const { keyring, rotations, log, onRotationAttempt } = this.#parts
    this.#retries.dropped()
    const { pending } = keyring
    const { current } = rotations
    if (pending === undefined || current === null) {
      throw new OperatorError(
        'refused',
        'no rotation is under way',
        '`postern key list` shows them',
      )
    }
    if (pending.offeredAtMs !== null) {
      throw new OperatorError(
        'refused',
        'the service may have the new key already: this rotation is finished, not abandoned',
        '`postern key rotate --watch` follows it to its end',
      )
    }
    await keyring.discard(pending.fingerprint)
    onRotationAttempt('abandoned')
    log.info({ fingerprint: pending.fingerprint }, 'the rotation was abandoned')
    return rotations.end('abandoned') ?? current
  }

  #reportLost(state: 'foreign' | 'none', shown: string | null): void {
    const { status } = this.#parts
    if (state === 'foreign') status.become('conflict', `the service lists ${shown}`)
    else status.become('unprotected', LOST.none)
  }

  async #equal(bot: Bot, shown: string | null): Promise<boolean> {
    const { keyring, status, rotations, log } = this.#parts
    if (keyring.pending !== undefined) {
      if (rotations.waitMs === 0) return await this.#retries.publish(keyring.pending, shown)
      status.becomeShown()
      return true
    }
    status.becomeShown()
    if (!this.#isDue()) return true
    try {
      await this.#begin(bot)
    } catch (error) {
      log.warn({ code: codeOf(error) }, 'a planned rotation could not be begun')
      return true
    }
    return await this.#retries.publish(keyring.pending, shown)
  }

  #isDue(): boolean {
    const { keyring, rotateEveryMs } = this.#parts
    const sinceMs = keyring.active?.publishedAtMs ?? Infinity
    return rotateEveryMs !== null && Date.now() - sinceMs >= rotateEveryMs
  }

  async #begin(bot: Bot): Promise<void> {
    const { keyring, rotations, log, onRotationAttempt } = this.#parts
    const from = keyring.active?.fingerprint ?? ''
    const { fingerprint: to, createdAtMs: startedAtMs } = await this.#make(bot).catch(
      (error: unknown) => {
        onRotationAttempt('not-made')
        throw error
      },
    )
    rotations.begin({ from, to, startedAtMs, detail: 'the new key is on disk' })
    log.info({ from, to }, 'rotating the bot’s key')
  }

  async #look(): Promise<{ bot: Bot; shown: string | null; remoteKeyState: RemoteKeyState }> {
    const bot = await this.#parts.calls.me()
    const shown = fingerprintOf(bot)
    // another sidecar may have made and published it since the last look
    await this.#parts.fresh?.()
    const remoteKeyState = remoteKeyStateOf(shown, this.#parts.keyring)
    this.#parts.status.remoteKeyState = remoteKeyState
    return { bot, shown, remoteKeyState }
  }

  async #make(bot: Bot): Promise<ReadyKey> {
    const { keyring, log } = this.#parts
    const key = await keyring.makePending(bot.username ?? `bot ${bot.id}`)
    log.info({ fingerprint: key.fingerprint }, 'made a key for the bot')
    return key
  }
}
