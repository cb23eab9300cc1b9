/** Which of all that happens alerts the operator, and by which ways. */
import type { Secrets, Settings } from '../config/settings.ts'
import type { TrustChange } from '../keys/journal.ts'
import { byCommand, byUrl } from '../observe/alert-ways.ts'
import type { Alert, AlertWay } from '../observe/alerts.ts'
import { Health, type ReasonChange, type ReasonCode } from '../observe/health.ts'

/** Reasons that come with every start, end by themselves, or were wished for. */
const ORDINARY: ReadonlySet<ReasonCode> = new Set([
  'starting',
  'stopping',
  'upstream',
  'paused',
  'key-unpublished',
  'webhook-at-service',
  'updates-waiting',
])

/** The ways that the settings name (`alert.command`, `alert.url`). */
export function alertWays(settings: Settings, secrets: Secrets): AlertWay[] {
  const { command } = settings.alert
  return [
    ...(command === undefined ? [] : [byCommand(command)]),
    ...(secrets.alertUrl === undefined ? [] : [byUrl(secrets.alertUrl)]),
  ]
}

/** The alert for a reason that came up or went; null for ordinary ones. */
export function alertForReason(change: ReasonChange): Alert | null {
  const { code, holds } = change
  if (ORDINARY.has(code)) return null
  const { what, hint } = Health.describe(code)
  return { alert: code, holds, what, hint }
}

/** The alert for a change of whom we believe; null where the journal is enough. */
export function alertForTrustChange(change: TrustChange): Alert | null {
  if (change.kind === 'certificate-shared') {
    const [userId] = change.detail.people
    return {
      alert: 'shared-certificate',
      holds: true,
      what: `the service lists one certificate for several people: ${change.detail.people.join(', ')}`,
      hint: 'ask them whose it is; `postern trust accept` or `trust verify` names its owner, and the others get nothing under it',
      ...(userId !== undefined && { userId }),
    }
  }
  if (change.kind === 'list-contradicts') {
    return {
      alert: 'list-contradicts',
      holds: true,
      what: `the key list of chat ${change.chatId} says what no honest service can`,
      hint: 'nothing is sealed by it; `postern trust log` says what it was',
    }
  }
  const isChange = change.kind === 'key-changed' || change.kind === 'key-withdrawn'
  if (!isChange || change.detail.standing !== 'verified') return null
  const { userId } = change
  return {
    alert: 'verified-changed',
    holds: true,
    what: 'the service lists another certificate, or none, for a person whom you verified',
    hint: 'ask the person; `postern trust verify` takes a new fingerprint, until then nothing is sealed to them',
    userId,
  }
}

/** The alert for a memory that takes nobody new. */
export function alertForFull(what: 'chats' | 'people'): Alert {
  return {
    alert: `too-many-${what}`,
    holds: true,
    what: `no more ${what} can be remembered, and forgetting one would loosen it: new ones are refused`,
    hint: 'see `postern status` for how many are known; a service that invents them is not to be trusted',
  }
}
