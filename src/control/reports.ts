/** What operations tell of a sidecar. Times are ISO 8601 in UTC, unless a name says ms. */
import type { Rotation } from '../keys/rotation.ts'
import type { CheckLine } from '../doctor/check-line.ts'
import type { HealthReason } from '../observe/health.ts'

/** How a rotation goes. */
export interface RotationReport extends Pick<
  Rotation,
  'from' | 'to' | 'phase' | 'attempts' | 'detail'
> {
  startedAt: string
  endedAt: string | null
  nextAttemptAt: string | null
}

/** What `/status` says, and `postern status` shows to people. */
export interface StatusReport {
  version: string
  pid: number
  startedAt: string
  ready: boolean
  reasons: HealthReason[]
  /** Null until the service has answered `GET /me` once. */
  bot: { id: number; username: string; mode: string; fingerprint: string | null } | null
  /** The key that signs; null when there is none. */
  key: { fingerprint: string; state: string; publishedAt: string | null } | null
  /** The rotation under way, or the last one since the start. */
  rotation: RotationReport | null
  upstream: { url: string; reachable: boolean }
  chats: { known: number; latched: number; refused: number }
  /** The bot's own, to which the sidecar delivers; null when none is set. */
  webhook: {
    origin: string
    failures: number
    lastError: string | null
    nextAttemptAt: string | null
  } | null
  /** How many updates wait at the service, as it last said, and how long the oldest; null: unknown. */
  updates: { waiting: number | null; oldestSeconds: number | null }
  /** Calls of the sidecar's own. */
  calls: { usedLastMinute: number; limit: number }
}

/** A line of `postern check`. */
export type { CheckLine }

/** What became of an armored message; `verdict` is one of DESIGN's, or why it was not opened. */
export interface OpenReport {
  opened: boolean
  text?: string | undefined
  verdict: string
  reason?: string | undefined
  /** Fingerprint of whoever signed, when that is known. */
  signer?: string | undefined
}
