/** Publishes a key: holds sends, sends the key to the service, and reports the result. */
import { PosternError, ServiceError } from '../errors.ts'
import type { Log } from '../logger.ts'
import type { Keyring } from '../kernel/own-key/keyring.ts'
import { publishKey, type PublicationCalls } from './publish-key.ts'
import type { ReadyKey } from '../kernel/own-key/own-key.ts'
import type { RotationOutcome, RotationWatch } from './rotation.ts'
import type { PublicationStatus } from './publication-status.ts'

export interface PublishRetriesParts {
  keyring: Keyring
  status: PublicationStatus
  rotations: RotationWatch
  calls: PublicationCalls
  log: Log
  /** Called for each attempt at a rotation. */
  onRotationAttempt: (outcome: RotationOutcome) => void
  /** Aborts when the process ends. */
  stop: AbortSignal
}

/** How long `/me` may lag behind an accepted publication before it is made again. */
const LAG_MAX_MS = 300_000

/** What people read of an attempt that failed. */
const FAILED = {
  refused: 'the service refused it',
  unanswered: 'the service may have taken it',
} as const

export class PublishRetries {
  readonly #parts: PublishRetriesParts
  #dropping = new AbortController()
  /**
   * What the service showed before it accepted the last publication, while it does not show that.
   */
  #taken: { before: string | null; atMs: number } | null = null

  constructor(parts: PublishRetriesParts) {
    this.#parts = parts
  }

  /** Whether the service accepted a publication recently, and `/me` may not show it yet. */
  isLagging(shown: string | null): boolean {
    const taken = this.#taken
    if (taken === null) return false
    if (shown === taken.before && performance.now() - taken.atMs < LAG_MAX_MS) return true
    this.#taken = null
    return false
  }

  /** Ends an attempt that still waits for sends, and every later one until `dropped`. */
  drop(): void {
    this.#dropping.abort()
  }

  /** Attempts count again, after `drop`. */
  dropped(): void {
    this.#dropping = new AbortController()
  }

  /**
   * Publishes a key while sends wait.
   * @param before what `/me` shows now
   * @param failures `throw`: also where the key before it goes on being the published one
   * @returns whether nothing is left to do now
   * @throws why the key was not published, unless an older key of ours still is
   */
  async publish(
    key: ReadyKey | undefined,
    before: string | null,
    failures?: 'throw',
  ): Promise<boolean> {
    if (key === undefined) return false
    const { status, rotations, stop } = this.#parts
    return await status.hold(async (through) => {
      rotations.enter('holding', 'sends under way are waited for')
      try {
        await through(AbortSignal.any([stop, this.#dropping.signal]))
      } catch (error) {
        if (this.#dropping.signal.aborted) return true
        throw error
      }
      return await this.#attempt(key, before, failures)
    })
  }

  /**
   * The service shows a key: makes it the active one. @throws Refusal `postern_store_unwritable`
   */
  async promote(key: ReadyKey | undefined): Promise<true> {
    if (key !== undefined && key.state !== 'active') {
      await this.#parts.keyring.promote(key.fingerprint)
    }
    return this.#published()
  }

  async #attempt(key: ReadyKey, before: string | null, failures?: 'throw'): Promise<boolean> {
    const { keyring, calls, rotations, status, stop, log } = this.#parts
    const { fingerprint } = key
    const consequence =
      keyring.firstPublishedAtMs === null ? ': its private chats become encrypted for good' : ''
    log.info({ fingerprint }, `publishing the bot’s key${consequence}`)
    const phase = (name: 'publishing' | 'confirming'): void =>
      rotations.enter(name, name === 'publishing' ? 'PUT /key' : 'GET /me must show it')
    const outcome = await publishKey(key, before, { keyring, calls, phase, signal: stop }).catch(
      (error: unknown) => {
        const isMarked = keyring.find(fingerprint)?.offeredAtMs != null
        if (isMarked) status.become('unpublished', codeOf(error))
        rotations.wait({ detail: codeOf(error) })
        throw error
      },
    )
    this.#taken = null
    if (outcome.kind === 'confirmed') return this.#published()
    this.#report(outcome.kind)
    if (outcome.kind === 'unconfirmed') {
      this.#taken = { before, atMs: performance.now() }
      status.become('unpublished', 'the service took the key and does not show it yet')
      rotations.enter('confirming', 'the service took the key and does not show it yet')
      return false
    }
    const { kind, error, shown } = outcome
    rotations.wait({
      detail: `${FAILED[kind]}: ${codeOf(error)}`,
      atLeastMs: retryAfterMs(error),
    })
    log.warn({ fingerprint, code: codeOf(error) }, 'the key could not be published')
    const isOldShown = shown != null && shown === keyring.active?.fingerprint
    if (isOldShown) status.becomeShown()
    else status.become('unpublished', `waiting to publish: ${codeOf(error)}`)
    if (isOldShown && failures === undefined) return true
    throw error
  }

  #published(): true {
    this.#taken = null
    const { rotations, status, log } = this.#parts
    this.#report('done')
    const done = rotations.end('done')
    if (done !== null) log.info({ from: done.from, to: done.to }, 'the bot’s key is rotated')
    status.remoteKeyState = 'equal'
    status.becomeShown()
    return true
  }

  #report(outcome: RotationOutcome): void {
    if (this.#parts.rotations.current !== null) this.#parts.onRotationAttempt(outcome)
  }
}

/** The code of an error for log and status; others have none. */
export function codeOf(error: unknown): string {
  return error instanceof PosternError ? error.code : 'failed'
}

/** How long the service asks to wait, in ms. */
export function retryAfterMs(error: unknown): number {
  return error instanceof ServiceError ? (error.retryAfterSeconds ?? 0) * 1000 : 0
}
