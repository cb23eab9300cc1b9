import type { SandboxEvent } from '../events/event.ts'
import { EventLog } from '../events/log.ts'
import type { BotTraffic } from './bot-traffic.ts'

/** What the page follows: what happens in the sandbox, and that the bot and its sidecar spoke. */
export type PageEvent =
  SandboxEvent | { kind: 'traffic'; id: number; at: number; /** Of the exchange. */ n: number }

/** How many events are held for a page that lost its connection. */
const HELD_EVENTS = 2000

/** Both in one log, under ids of its own, so that a page needs one connection. */
export class PageLog extends EventLog<PageEvent> implements Disposable {
  readonly #subscriptions = new DisposableStack()

  /** @param traffic null when no sidecar runs in this process */
  constructor(world: EventLog, traffic: BotTraffic | null) {
    super(HELD_EVENTS)
    let position = world.last
    this.#subscriptions.defer(
      world.onAppend(() => {
        const { events, last } = world.read(position)
        position = last
        for (const { id: _, at, ...body } of events) this.append(at, body)
      }),
    )
    if (traffic === null) return
    this.#subscriptions.defer(
      traffic.onRecord(({ at, n }) => this.append(at, { kind: 'traffic', n })),
    )
  }

  [Symbol.dispose](): void {
    this.#subscriptions.dispose()
  }
}
