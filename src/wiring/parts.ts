import type { MeasuredEngine } from '../pgp/create.ts'
import type { Store } from '../store/store.ts'
import type { Clock } from '../updates/clock.ts'
import type { Link } from './link.ts'

/**
 * Parts of a sidecar that can be handed in, each in place of the usual one. Whoever hands one in
 * disposes of it, after the sidecar.
 */
export interface HandedInParts {
  engine?: MeasuredEngine
  /** An open store; settings on the data directory and its protection are not looked at then. */
  store?: Store
  link?: Link
  /** The time, as deliveries to the webhook know it. */
  clock?: Clock
  /** Finds the addresses of a webhook's host. */
  resolveHost?: (host: string) => Promise<string[]>
}
