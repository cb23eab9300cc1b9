/** Events that change several metrics at once, or whose labels are derived. Times are in ms. */
import { isOwn } from '../errors.ts'
import type { Metrics } from './metrics.ts'

/** A request of the bot was answered; `route` is a pattern, `status` 0 when it hung up. */
export function recordRequest(
  metrics: Metrics,
  o: { method: string; route: string; status: number; code?: string; client?: string; ms: number },
): void {
  const { method, route, status, code, client, ms } = o
  metrics.count('postern_requests_total', { method, route, status: String(status) })
  metrics.observe('postern_request_duration_seconds', { route }, ms / 1000)
  if (client !== undefined) {
    metrics.count('postern_client_calls_total', { client, status: String(status) })
  }
  if (code !== undefined && isOwn(code)) metrics.count('postern_refusals_total', { code })
}

/** The service answered; `own` when the sidecar asked for itself. */
export function recordUpstreamAnswer(
  metrics: Metrics,
  o: { status: number; ms: number; own: boolean },
): void {
  const owner = o.own ? 'sidecar' : 'bot'
  const status = `${Math.floor(o.status / 100)}xx`
  metrics.count('postern_upstream_calls_total', { owner, status })
  metrics.observe('postern_upstream_duration_seconds', { owner }, o.ms / 1000)
}

/** The service gave no usable answer; `code` is one of `postern_upstream_*`. */
export const recordNoUpstreamAnswer = (metrics: Metrics, code: string): void =>
  metrics.count('postern_upstream_unanswered_total', { code: isOwn(code) ? code : 'other' })

/** A delivery to the bot's webhook ended; `failures` is how many have failed in a row by now. */
export function recordDelivery(metrics: Metrics, outcome: string, ms: number, failures = 0): void {
  metrics.count('postern_webhook_deliveries_total', { outcome })
  metrics.observe('postern_webhook_delivery_duration_seconds', {}, ms / 1000)
  metrics.set('postern_webhook_failures', {}, failures)
}
