/** Warnings before the sidecar stops working: approaching dates, and memory or disk running out. */
import type { Log } from '../logger.ts'
import type { Alerts } from './alerts.ts'
import { WARNINGS, type WarningCode, type Warnings } from './warnings.ts'

const DAY_MS = 86_400_000
/** Days before an end, at each of which the warning is repeated. */
const STAGES_DAYS = [1, 7, 30] as const
/** The share of the memory above which the warning begins, and below which it ends. */
const MEMORY = { full: 0.9, relieved: 0.85 }
const DISK_BYTES = { low: 256 * 2 ** 20, relieved: 320 * 2 ** 20 }

/** The checked levels. Dates in ms since the epoch, Infinity for none. */
export interface ResourceLevels {
  keyEndsMs: number
  authorityEndsMs: number
  /** When the first of the old keys stops opening that opened something in the last days. */
  neededKeyEndsMs: number
  /** Null when it is not known. */
  diskFreeBytes: number | null
  /** The used share of the process's memory limit, from 0 to 1; null: checked elsewhere. */
  memoryUsed: number | null
}

/**
 * Warns, logs and alerts when an end approaches, at each further stage, and when it is over.
 * @returns updates the warnings from the current levels
 */
export function expiryWarnings(warnings: Warnings, alerts: Pick<Alerts, 'raise'>, log: Log) {
  const stages = new Map<WarningCode, number>()

  /** @param stage which of several this is; null without a warning */
  function report(code: WarningCode, stage: number | null, detail: string): void {
    const before = stages.get(code) ?? null
    warnings.show(code, stage === null ? null : detail)
    if (stage === before) return
    const { what, hint } = WARNINGS[code]
    if (stage === null) {
      stages.delete(code)
      log.info({ warning: code }, 'a warning is over')
      return alerts.raise({ alert: code, holds: false, what, hint })
    }
    stages.set(code, stage)
    log.warn({ warning: code, detail, hint }, what)
    alerts.raise({ alert: code, holds: true, what: `${what}: ${detail}`, hint })
  }

  function reportDate(code: WarningCode, endsMs: number): void {
    const leftDays = (endsMs - Date.now()) / DAY_MS
    const stage = STAGES_DAYS.find((days) => leftDays <= days) ?? null
    report(code, stage, stage === null ? '' : `on ${new Date(endsMs).toISOString()}`)
  }

  return ({ diskFreeBytes, memoryUsed, ...ends }: ResourceLevels): void => {
    reportDate('key-ending', ends.keyEndsMs)
    reportDate('authority-ending', ends.authorityEndsMs)
    reportDate('needed-key-ending', ends.neededKeyEndsMs)
    const leastBytes = stages.has('disk-filling') ? DISK_BYTES.relieved : DISK_BYTES.low
    if (diskFreeBytes !== null) {
      const detail = `${Math.floor(diskFreeBytes / 2 ** 20)} MiB are free`
      report('disk-filling', diskFreeBytes < leastBytes ? 1 : null, detail)
    }
    const most = stages.has('memory-filling') ? MEMORY.relieved : MEMORY.full
    const used = memoryUsed ?? 0
    report('memory-filling', used > most ? 1 : null, `${Math.floor(used * 100)} % are used`)
  }
}
