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

/** A message was sealed to `recipients` people; `skipped` more could not be sealed to. */
export function recordSeal(
  metrics: Metrics,
  o: { recipients: number; skipped: number; ms: number },
): void {
  metrics.count('postern_seals_total', {})
  metrics.observe('postern_seal_recipients', {}, o.recipients)
  metrics.count('postern_seal_skipped_recipients_total', {}, o.skipped)
  metrics.observe('postern_seal_duration_seconds', {}, o.ms / 1000)
}

/** An incoming message was judged; `verdict` is one of DESIGN's. */
export function recordVerdict(metrics: Metrics, o: { verdict: string; ms: number }): void {
  metrics.count('postern_opens_total', { verdict: o.verdict })
  metrics.observe('postern_open_duration_seconds', {}, o.ms / 1000)
}

/** An attachment was fetched; `outcome` is a verdict, `stored`, `service` or a code of ours. */
export function recordMedia(metrics: Metrics, o: { outcome: string; ms: number }): void {
  metrics.count('postern_media_total', { outcome: o.outcome })
  metrics.observe('postern_media_duration_seconds', {}, o.ms / 1000)
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
export function recordNoUpstreamAnswer(metrics: Metrics, code: string): void {
  metrics.count('postern_upstream_unanswered_total', { code: isOwn(code) ? code : 'other' })
}

/** The sidecar spent one of the bot's calls. */
export function recordOwnCalls(
  metrics: Metrics,
  o: { usedLastMinute: number; limit: number },
): void {
  metrics.set('postern_own_calls_last_minute', {}, o.usedLastMinute)
  metrics.set('postern_own_calls_limit', {}, o.limit)
}

/** A delivery to the bot's webhook ended; `failures` is how many have failed in a row by now. */
export function recordDelivery(
  metrics: Metrics,
  o: { outcome: string; ms: number; failures: number },
): void {
  metrics.count('postern_webhook_deliveries_total', { outcome: o.outcome })
  metrics.observe('postern_webhook_delivery_duration_seconds', {}, o.ms / 1000)
  metrics.set('postern_webhook_failures', {}, o.failures)
}
