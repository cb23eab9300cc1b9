/** What the service shows of our key, and whether messages may be sealed now. */
import type { Bot } from '../api/bot.ts'
import { Refusal, type OwnCode } from '../errors.ts'
import type { Log } from '../logger.ts'
import type { Keyring } from '../kernel/own-key/keyring.ts'
import { isExpired, type ReadyKey } from '../kernel/own-key/own-key.ts'
import type { SendFence } from '../replicas/send-fence.ts'
import { SendGate } from './send-gate.ts'

/**
 * `published`: `/me` shows it. `unpublished`: not confirmed yet. `conflict`: `/me` shows a key that
 * is not ours. `expired`: `/me` shows ours, whose time is over. `unprotected`: none, although we
 * had published.
 */
export type PublicationState = 'published' | 'unpublished' | 'conflict' | 'expired' | 'unprotected'

/**
 * What `/me` shows against what we hold (DESIGN: Keys). `equal`: the active key. `pending`: the one
 * that waits for its publication. `older`: one that was ours before. `foreign`: one that never was.
 * `none`: none, although we had published. `first`: none, and we never had.
 */
export type RemoteKeyState = 'equal' | 'pending' | 'older' | 'foreign' | 'none' | 'first'

/** How long sends wait for a key that is being published: below what bots wait for an answer. */
const HOLD_MAX_MS = 20_000

/** What a send has entered with. */
export interface Entered {
  /** The key to sign with. */
  signer: ReadyKey
  /** @throws Refusal `postern_store_unwritable` when another sidecar may be replacing it by now */
  requireHeld: () => void
  /** Call it when the message was answered or will not leave. */
  leave: () => void
}

const REFUSED: Record<Exclude<PublicationState, 'published'>, OwnCode> = {
  unpublished: 'postern_key_unpublished',
  conflict: 'postern_key_conflict',
  expired: 'postern_key_expired',
  unprotected: 'postern_bot_unprotected',
}

export interface PublicationStatusParts {
  keyring: Keyring
  log: Log
  /** Where several sidecars have the key. */
  fence?: SendFence | null
  /** Called on every change, with what an operator should read. */
  onChange: (state: PublicationState, detail: string) => void
}

export class PublicationStatus {
  readonly #parts: PublicationStatusParts
  readonly #gate = new SendGate()
  #state: PublicationState
  /** What `/me` last showed; null before the first look. */
  remoteKeyState: RemoteKeyState | null = null

  /** While a key waits for its publication, nothing counts as published. */
  constructor(parts: PublicationStatusParts) {
    const { active, pending } = parts.keyring
    this.#parts = parts
    this.#state = active === undefined || pending !== undefined ? 'unpublished' : 'published'
  }

  get state(): PublicationState {
    return this.#state
  }

  /** @param detail what an operator should read */
  become(state: PublicationState, detail: string): void {
    if (this.#state !== state) this.#parts.log.debug({ state }, 'the bot’s key')
    this.#state = state
    this.#parts.onChange(state, detail)
  }

  /** The service shows the active key. */
  becomeShown(): void {
    const { active } = this.#parts.keyring
    if (active === undefined || !isExpired(active)) this.become('published', 'the key is published')
    else this.become('expired', 'phones seal nothing to it any more')
  }

  /** The time of the published key may be over by now, or, by a clock that was set, not yet. */
  lookAtClock(): void {
    const { active } = this.#parts.keyring
    if (active === undefined) return
    const state = isExpired(active) ? 'expired' : 'published'
    const other = state === 'expired' ? 'published' : 'expired'
    if (this.#state === other) this.becomeShown()
  }

  /** The key to sign with. @throws Refusal naming why nothing can be sealed now */
  requirePublished(): ReadyKey {
    const { active } = this.#parts.keyring
    if (this.#state === 'published' && active !== undefined) {
      if (isExpired(active)) throw new Refusal('postern_key_expired')
      if (this.#parts.keyring.clocks.isBehind()) throw new Refusal('postern_clock_wrong')
      return active
    }
    throw new Refusal(REFUSED[this.#state === 'published' ? 'unpublished' : this.#state])
  }

  /** A send will enter: see `SendFence.expect`. */
  expectSend(): void {
    this.#parts.fence?.expect()
  }

  /**
   * Gives the key to sign with, which stays the published one until `leave` is called. Waits while
   * another is being published.
   * @throws Refusal naming why nothing can be sealed now, after at most `HOLD_MAX_MS`
   */
  async enter(): Promise<Entered> {
    this.requirePublished()
    const leave = await this.#gate.enter()
    const leaves = [leave]
    const leaveAll = (): void => leaves.forEach((one) => one())
    try {
      const pass = await this.#parts.fence?.enter()
      if (pass !== undefined) leaves.push(pass.leave)
      const requireHeld = pass?.requireHeld ?? ((): void => {})
      return { signer: this.requirePublished(), requireHeld, leave: leaveAll }
    } catch (error) {
      leaveAll()
      throw error
    }
  }

  /**
   * Lets sends wait while something is done that may change the key. Past the bound the key counts
   * as unpublished until it is known better, and they are refused.
   * @param work gets a function that resolves when every send under way is through
   */
  async hold<T>(work: (through: (signal: AbortSignal) => Promise<void>) => Promise<T>): Promise<T> {
    this.#gate.close()
    const overrun = setTimeout(() => {
      this.become('unpublished', 'the service has not shown the new key yet')
      this.#gate.open()
    }, HOLD_MAX_MS)
    await using stack = new AsyncDisposableStack()
    try {
      return await work(async (signal) => {
        await this.#gate.empty(signal)
        const { fence } = this.#parts
        if (fence != null) stack.use(await fence.close(signal))
      })
    } finally {
      clearTimeout(overrun)
      this.#gate.open()
    }
  }
}

/** The fingerprint that `/me` claims, in lower case, or null for an open bot. */
export function fingerprintOf(bot: Bot): string | null {
  return bot.fingerprint == null || bot.fingerprint === '' ? null : bot.fingerprint.toLowerCase()
}

const BY_STATE = {
  active: 'equal',
  pending: 'pending',
  retired: 'older',
  destroyed: 'older',
} as const

/** @param shown the fingerprint that `/me` claims, lower case */
export function remoteKeyStateOf(shown: string | null, keyring: Keyring): RemoteKeyState {
  if (shown === null) return keyring.firstPublishedAtMs === null ? 'first' : 'none'
  const own = keyring.find(shown)
  return own === undefined ? 'foreign' : BY_STATE[own.state]
}
