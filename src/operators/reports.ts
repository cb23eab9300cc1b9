/** Results of a sidecar's operations. Times are ISO 8601 in UTC, unless a name ends in ms. */
import type { Condition } from '../observe/conditions.ts'
import type { HealthReason } from '../observe/health.ts'
import type { Warning } from '../observe/warnings.ts'
import type { Rotation } from '../keys/rotation.ts'
export type { CheckLine } from './doctor/check-line.ts'

/** The answer of `/status`, which `postern status` shows to people. */
export interface StatusReport {
  version: string
  pid: number
  startedAt: string
  ready: boolean
  reasons: HealthReason[]
  /** Conditions to know of that do not affect messages. */
  warnings: Warning[]
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
  /** Updates that wait at the service, as it last reported, and the age of the oldest; null: unknown. */
  updates: { waiting: number | null; oldestSeconds: number | null }
  /** Calls of the sidecar's own. */
  calls: { usedLastMinute: number; limit: number }
}

/** The answer of `/status` of a process that serves several bots. */
export interface BotsReport extends Pick<StatusReport, 'version' | 'pid' | 'startedAt'> {
  /** By the setting `admin.readyWhen`. */
  ready: boolean
  /** Of the process; each bot has its own in its own status. */
  warnings: Warning[]
  /** By name. */
  bots: BotReport[]
}

/** One of several bots. */
export interface BotReport {
  name: string
  ready: boolean
  /** Whether its store is open here; not while it starts, or could not be started. */
  served: boolean
  /** Reasons of `/readyz`, or why it could not be started. */
  reasons: BotReason[]
  /** Null until the service has answered `GET /me` once. */
  bot: { id: number; username: string } | null
}

/** Why a bot is not ready. */
export type BotReason = Condition<string>

/** How a rotation goes. */
export type RotationReport = Omit<Rotation, `${string}AtMs`> &
  Record<'startedAt', string> &
  Record<'endedAt' | 'nextAttemptAt', string | null>

/** The result of `open`; `verdict` is one of `VERDICTS`, or why the message was not opened. */
export interface OpenReport {
  opened: boolean
  text?: string | undefined
  verdict: string
  reason?: string | undefined
  /** Fingerprint of the signer's certificate, when known. */
  signer?: string | undefined
}
