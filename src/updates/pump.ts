/**
 * Delivers to the bot's webhook: reads the service's queue and POSTs one update at a time, in
 * order. What a 2xx came for is recorded, then confirmed at the service; nothing else ever is.
 */
import { FIXED_LIMITS } from '../api/limits.ts'
import { Refusal } from '../errors.ts'
import { stringify } from '../json.ts'
import { REAL_CLOCK, type Clock } from './clock.ts'
import type { Courier } from './deliver.ts'
import type { Delivered } from './delivered.ts'
import type { Failed } from './delivery-failure.ts'
import type { OwnWebhook, Registration } from './registration.ts'
import type { Due, Source } from './source.ts'

const { webhookBackoffFirstMs, webhookBackoffMaxMs } = FIXED_LIMITS

export interface PumpParts {
  source: Source
  courier: Courier
  registration: Pick<Registration, 'webhook' | 'took' | 'failed'>
  clock: Clock
  /** Told of each delivery; must not throw. */
  delivered: (o: { updateId: number; ms: number; after: number }) => void
  /** Told of each failure, with how many there were in a row and how long is waited. */
  failed: (o: {
    updateId: number
    ms: number
    failure: Failed
    failures: number
    waitMs: number
  }) => void
  /** Told of an error that nobody foresaw. */
  unforeseen: (error: unknown) => void
}

/** The work on one webhook, from its setting to its end. */
export class Pump {
  readonly #parts: PumpParts
  readonly #halt = new AbortController()
  readonly #cut = new AbortController()
  readonly #work: Promise<void>

  /** Begins at once. */
  constructor(parts: PumpParts) {
    this.#parts = parts
    this.#work = this.#run()
  }

  /**
   * Begins no delivery any more, and lets one that is under way end for so long; then it is cut
   * off, and its update stays queued. Tells the service what was delivered, unless told not to.
   * Resolves when all is quiet.
   */
  async stop({ graceMs, confirms = true }: { graceMs: number; confirms?: boolean }): Promise<void> {
    this.#halt.abort()
    await Promise.race([this.#work, REAL_CLOCK.wait(graceMs, this.#cut.signal)])
    this.#cut.abort()
    await this.#work
    if (confirms) await this.#parts.source.confirm()
  }

  /** Something has changed at the service: a wait for it ends. */
  nudge(): void {
    this.#parts.source.nudge()
  }

  /** Updates that the bot took and the service still counts. */
  get ahead(): number {
    return this.#parts.source.ahead
  }

  async #run(): Promise<void> {
    const { source, registration } = this.#parts
    const { signal } = this.#halt
    while (!signal.aborted) {
      for (const due of await source.next(signal)) {
        const { webhook } = registration
        if (signal.aborted || webhook === null) break
        if (!(await this.#deliver(due, webhook))) break
      }
    }
  }

  /** Gives false when the queue is to be read anew before anything else is delivered. */
  async #deliver({ update, delivered }: Due, webhook: OwnWebhook): Promise<boolean> {
    const { courier, clock } = this.#parts
    const { url, secret, failures } = webhook
    const { updateId } = delivered
    const startedMs = clock.moment()
    const signal = this.#cut.signal
    const outcome = await courier.deliver({ url, secret, body: stringify(update), signal })
    const ms = clock.moment() - startedMs
    if (outcome.kind === 'abandoned') return false
    if (outcome.kind !== 'delivered') {
      await this.#backOff({ updateId, ms, failure: outcome, failures: failures + 1 })
      return false
    }
    this.#parts.delivered({ updateId, ms, after: failures })
    return await this.#record(delivered)
  }

  async #record(delivered: Delivered): Promise<boolean> {
    const { source, registration } = this.#parts
    source.took(delivered)
    try {
      await registration.took(delivered)
      source.recording = 'works'
      return true
    } catch (error) {
      if (!(error instanceof Refusal)) this.#parts.unforeseen(error)
      source.recording = 'fails'
      return false
    }
  }

  async #backOff(o: {
    updateId: number
    ms: number
    failure: Failed
    failures: number
  }): Promise<void> {
    const { registration, clock, failed } = this.#parts
    const doubled = webhookBackoffFirstMs * 2 ** (o.failures - 1)
    const waitMs = Math.min(doubled, webhookBackoffMaxMs)
    failed({ ...o, waitMs })
    await registration.failed(o.failure.message, clock.now() + waitMs)
    await clock.wait(waitMs, this.#halt.signal)
  }
}
