/** Which of all that happens alerts the operator, and by which ways. */
import type { Secrets, Settings } from '../config/settings.ts'
import type { Policies, TrustChange } from '../kernel/index.ts'
import { byCommand, byUrl } from './alert-ways.ts'
import type { Alert, AlertWay } from './alerts.ts'
import { REASONS, type ReasonChange, type ReasonCode } from './health.ts'
import { TRUST_ALARMS, type TrustAlarm } from './trust-alarms.ts'

/** Reasons that are part of every start, end by themselves, or were requested. */
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
export function alertWays(
  { alert }: Pick<Settings, 'alert'>,
  { alertUrl }: Pick<Secrets, 'alertUrl'>,
): AlertWay[] {
  const { command } = alert
  return [
    ...(command === undefined ? [] : [byCommand(command)]),
    ...(alertUrl === undefined ? [] : [byUrl(alertUrl)]),
  ]
}

/** The alert for a reason that began or ended; null for ordinary ones. */
export function alertForReason(change: ReasonChange): Alert | null {
  const { code, holds } = change
  if (ORDINARY.has(code)) return null
  const { what, hint } = REASONS[code]
  return { alert: code, holds, what, hint }
}

/** An alert of an alarm on trust. */
export type TrustAlert = Alert & { alert: TrustAlarm }

/**
 * The alert for a change of trust; null where the journal is enough.
 * @param policies which chats are pinned
 */
export function alertForTrustChange(
  change: TrustChange,
  policies: Pick<Policies, 'bot' | 'for'>,
): TrustAlert | null {
  const found = alarmIn(change, policies)
  if (found === null) return null
  const { alarm, detail, ...about } = found
  const { what, hint } = TRUST_ALARMS[alarm]
  const said = detail === undefined ? what : `${what}: ${detail}`
  return { alert: alarm, holds: true, what: said, hint, ...about }
}

/** An alarm, the person or chat concerned, and the detail; without any person's text. */
type FoundAlarm = Pick<Alert, 'userId' | 'chatId'> & { alarm: TrustAlarm; detail?: string }

const ALARM_OF_CHANGE = {
  accept: null,
  'first-use': 'first-use-changed',
  pinned: 'pinned-changed',
} as const

function alarmIn(change: TrustChange, policies: Pick<Policies, 'bot' | 'for'>): FoundAlarm | null {
  if (change.kind === 'key-changed' || change.kind === 'key-withdrawn') {
    const { userId, detail } = change
    if ('isBelieved' in detail) return null
    if (detail.standing === 'verified') return { alarm: 'verified-changed', userId }
    const alarm = ALARM_OF_CHANGE[policies.bot]
    return alarm && { alarm, userId }
  }
  if (change.kind === 'certification-revoked') return { alarm: change.kind, userId: change.userId }
  if (change.kind === 'recipients-changed') {
    // where the whole bot is pinned, the person's own change has raised the alarm
    const { chatId, detail } = change
    const isPinned = policies.for(chatId) === 'pinned' && policies.bot !== 'pinned'
    const [userId] = detail.changed
    if (!isPinned || userId === undefined) return null
    return { alarm: 'pinned-changed', userId, chatId, detail: detail.changed.join(', ') }
  }
  return alarmInLists(change)
}

/** Changes that raise an alarm under every policy. */
function alarmInLists(change: TrustChange): FoundAlarm | null {
  if (change.kind === 'certificate-shared') {
    const { people } = change.detail
    const [userId] = people
    const about = userId !== undefined && { userId }
    return { alarm: 'shared-certificate', ...about, detail: people.join(', ') }
  }
  if (change.kind === 'own-key-listed') {
    const { people, chatId } = change.detail
    const where = chatId === null ? {} : { chatId }
    return { alarm: 'own-key-listed', userId: change.userId, ...where, detail: people.join(', ') }
  }
  if (change.kind === 'list-contradicts') {
    const { chatId, detail } = change
    if (detail.stranger === undefined) return { alarm: 'list-contradicts', chatId }
    return { alarm: 'stranger', userId: detail.stranger, chatId }
  }
  if (change.kind === 'list-shrank' || change.kind === 'kind-tightened') {
    const { from, to } = change.detail
    return { alarm: change.kind, chatId: change.chatId, detail: `from ${from} to ${to}` }
  }
  if (change.kind !== 'stranger') return null
  return { alarm: 'stranger', userId: change.userId, chatId: change.chatId }
}

/** Alert: the table of chats or people is full. */
export const alertForFull = (what: 'chats' | 'people'): Alert => ({
  alert: `too-many-${what}`,
  holds: true,
  what: `no more ${what} can be remembered, and forgetting one would loosen it: new ones are refused`,
  hint: 'see `postern status` for how many are known; a service that invents them is not to be trusted',
})
