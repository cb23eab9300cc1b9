import type { BotExchange } from '../http/exchange.ts'
import type { Metrics } from '../observe/metrics.ts'
import type { MeasuredEngine } from '../openpgp/index.ts'
import type { PostgresServer } from '../replicas/server.ts'
import type { Store } from '../store/store.ts'
import type { Stretcher } from '../store/stretcher.ts'
import type { Clock } from '../util/clock.ts'
import type { Link } from './link.ts'

/**
 * Parts of a sidecar that can be handed in, each in place of the usual one. Whoever hands one in
 * disposes of it, after the sidecar.
 */
export interface HandedInParts {
  engine?: MeasuredEngine
  /** An open store; settings on the data directory and its protection are not looked at then. */
  store?: Store
  /** Where passphrases are stretched for several stores. */
  stretcher?: Stretcher
  /** The database of several bots; null when their stores are in folders. */
  database?: PostgresServer | null
  link?: Link
  /** Where its metrics are, beside those of other bots. */
  metrics?: Metrics
  /** The name of another bot of the process that has a key of this fingerprint. */
  ownerOf?: (fingerprint: string) => string | null
  /** The time, as deliveries to the webhook know it. */
  clock?: Clock
  /** Finds the addresses of a webhook's host. */
  resolveHost?: (host: string) => Promise<string[]>
  /**
   * Called with everything that passes between the bot and the sidecar, words and all. For `demo`
   * and `dev`, which show it.
   */
  onBotExchange?: (exchange: BotExchange) => void
}
