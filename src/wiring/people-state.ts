/** Everything that is known of other people: certificates, whose they are, whom we trust. */
import { Certificates } from '../keys/certificates.ts'
import { Directory, type DirectoryCalls } from '../keys/directory.ts'
import { Journal } from '../keys/journal.ts'
import { KnownKeys } from '../keys/known-keys.ts'
import { KeyListHistory } from '../keys/key-list-history.ts'
import { People } from '../keys/people.ts'
import type { TrustPolicy } from '../keys/policies.ts'
import { Trust } from '../keys/trust.ts'
import type { Log } from '../logger.ts'
import type { Alerts } from '../observe/alerts.ts'
import type { Metrics } from '../observe/metrics.ts'
import type { Engine } from '../pgp/engine.ts'
import type { Store } from '../store/store.ts'
import { alertOfFull, alertOfTrust } from './alerting.ts'

export interface PeopleState {
  people: People
  journal: Journal
  keyListHistory: KeyListHistory
  trust: Trust
  directory: Directory
  knownKeys: KnownKeys
}

/** Loads what the store has of other people. */
export async function loadPeopleState(o: {
  store: Store
  engine: Engine
  calls: DirectoryCalls
  /** Setting `trust.policy`. */
  policy: TrustPolicy
  metrics: Metrics
  alerts: Alerts
  log: Log
}): Promise<PeopleState> {
  const { store, engine, calls, policy, metrics, alerts, log } = o
  const journal = new Journal(store, (change) => {
    metrics.count('postern_trust_changes_total', { kind: change.kind })
    const alert = alertOfTrust(change)
    if (alert !== null) alerts.raise(alert)
    const { kind, detail, ...where } = change
    log.warn({ change: kind, ...where, ...summaryOf(detail) }, 'trust: something changed')
  })
  const people = await People.load(store)
  const certificates = await Certificates.load(engine, store)
  const onFull = (): void => tellFull('people', { alerts, log })
  const trust = await Trust.load({ store, journal, people, policy, onFull })
  const keyListHistory = new KeyListHistory(store, journal)
  const knownKeys = new KnownKeys(store)
  const known = { certificates, trust, journal, keyListHistory, knownKeys }
  const directory = new Directory({ calls, ...known })
  return { people, journal, keyListHistory, trust, directory, knownKeys }
}

const FULL_EVERY_MS = 60_000
const toldFullMs = new WeakMap<Alerts, number>()

/** Tells, once a minute at most, that nothing new can be remembered. */
export function tellFull(
  what: 'chats' | 'people',
  { alerts, log }: { alerts: Alerts; log: Log },
): void {
  alerts.raise(alertOfFull(what))
  const nowMs = performance.now()
  if (nowMs - (toldFullMs.get(alerts) ?? -Infinity) < FULL_EVERY_MS) return
  toldFullMs.set(alerts, nowMs)
  log.error({ what }, 'no more can be remembered: new ones are refused')
}

/** Lists of people by their length: a log line names no hundred of them. */
function summaryOf(detail: object): Record<string, unknown> {
  const entries = Object.entries(detail).map(([name, value]: [string, unknown]) => [
    name,
    Array.isArray(value) ? value.length : value,
  ])
  return Object.fromEntries(entries) as Record<string, unknown>
}
