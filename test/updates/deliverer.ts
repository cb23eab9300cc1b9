import { onTestFinished } from 'vitest'
import { REAL_CLOCK, type Clock } from '../../src/util/clock.ts'
import type { DeliveryOutcome } from '../../src/updates/delivery-outcome.ts'
import { WebhookClient, type Delivery } from '../../src/updates/webhook-client.ts'

/** Delivers once, by a client of its own that ends with the test. */
export function deliverer(o: { hosts?: Record<string, string[]>; clock?: Clock } = {}) {
  const { hosts = {}, clock = REAL_CLOCK } = o
  const resolve = (host: string) => Promise.resolve(hosts[host] ?? [])
  const made = new WebhookClient({ allowHosts: null, clock, resolve })
  onTestFinished(() => made[Symbol.dispose]())
  return (url: string, more: Partial<Delivery> = {}): Promise<DeliveryOutcome> =>
    made.deliver({
      url,
      secret: null,
      body: '{}',
      signal: new AbortController().signal,
      mayLeave: () => true,
      ...more,
    })
}
