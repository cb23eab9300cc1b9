import { onTestFinished } from 'vitest'
import { REAL_CLOCK, type Clock } from '../../src/util/clock.ts'
import type { DeliveryOutcome } from '../../src/updates/delivery-outcome.ts'
import { WebhookClient, type Delivery } from '../../src/updates/webhook-client.ts'

export interface DelivererOptions {
  /** What stands for DNS; a host that is not there has no address. */
  hosts?: Record<string, string[]>
  resolve?: (host: string) => Promise<string[]>
  clock?: Clock
}

/** A client that ends with the test, and how it delivers once. */
export function deliveringClient(o: DelivererOptions = {}) {
  const { hosts = {}, clock = REAL_CLOCK } = o
  const { resolve = (host) => Promise.resolve(hosts[host] ?? []) } = o
  const client = new WebhookClient({ allowHosts: null, clock, resolve })
  onTestFinished(() => client[Symbol.dispose]())
  const { signal } = new AbortController()
  const usual = { secret: null, body: '{}', signal, mayLeave: () => true }
  const deliver = (url: string, more: Partial<Delivery> = {}): Promise<DeliveryOutcome> =>
    client.deliver({ url, ...usual, ...more })
  return { client, deliver }
}

/** Delivers once, by a client of its own. */
export const deliverer = (o: DelivererOptions = {}) => deliveringClient(o).deliver
