/** A consumer's part of the shared queue, as a delivery loop reads it and records what it delivered. */
import type { OwnWebhook } from '../translate/bot-view.ts'
import type { Clock } from '../util/clock.ts'
import type { DeliveryLoopParts } from './delivery-loop.ts'
import type { Consumer, SharedQueue } from './shared-queue.ts'
import type { Delivered } from './update-batch.ts'
import type { PendingUpdate, UpdatePoller } from './update-poller.ts'

type Source = DeliveryLoopParts['poller']
type Recorder = DeliveryLoopParts['registration']

/** Before another try, where the store cannot be read. */
const AGAIN_MS = 1000

export interface ConsumerQueueParts {
  queue: SharedQueue
  poller: Pick<UpdatePoller, 'wake' | 'unconfirmedCount' | 'confirmsEach'>
  consumer: Consumer
  clock: Clock
}

export class ConsumerQueue implements Source {
  readonly #parts: ConsumerQueueParts

  constructor(parts: ConsumerQueueParts) {
    this.#parts = parts
  }

  async next(stop: AbortSignal): Promise<PendingUpdate[]> {
    const { queue, consumer, clock } = this.#parts
    try {
      return await queue.next(consumer, stop)
    } catch {
      await clock.wait(AGAIN_MS, stop)
      return []
    }
  }

  /** The record of the delivery moves the cursor. */
  markDelivered(): void {}

  confirm(): Promise<void> {
    return this.#parts.queue.confirm()
  }

  wake(): void {
    this.#parts.poller.wake()
  }

  get unconfirmedCount(): number {
    return this.#parts.poller.unconfirmedCount
  }

  set confirmsEach(confirmsEach: boolean) {
    this.#parts.poller.confirmsEach = confirmsEach
  }
}

/** A webhook of the settings; its failures are known until the next start. */
export class ConsumerWebhook implements Recorder {
  readonly #queue: SharedQueue
  readonly #name: string
  webhook: OwnWebhook

  constructor(queue: SharedQueue, o: { name: string; url: string; secret: string | null }) {
    const { name, url, secret } = o
    this.#queue = queue
    this.#name = name
    this.webhook = { url, secret, failures: 0, lastError: null, nextAttemptAt: null }
  }

  async recordDelivered(delivered: Delivered): Promise<void> {
    this.webhook = { ...this.webhook, failures: 0, lastError: null, nextAttemptAt: null }
    await this.#queue.record(this.#name, delivered)
  }

  async recordFailure(lastError: string, nextAttemptAt: number): Promise<void> {
    const failures = this.webhook.failures + 1
    this.webhook = { ...this.webhook, failures, lastError, nextAttemptAt }
  }
}
