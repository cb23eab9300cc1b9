/** Provokes each reason for not being ready on an idle sidecar, and measures until 503 and back. */
import { setTimeout as pause } from 'node:timers/promises'
import { HEALTH_FAULTS, type HealthFault } from './health-faults.ts'
import { HealthStage } from './health-stage.ts'

/** What `/readyz` may be behind, and what a look of ours may add to a measurement. */
const MOST_MS = 15_000
const SLACK_MS = 500
const GIVEN_UP_MS = 90_000
const STEP_MS = 1700

export interface HealthRunOptions {
  /** How long each fault stands before it is mended. */
  holdMs: number
  /** Only these reasons; all when empty. */
  only: readonly string[]
  print: (line: string) => void
}

/** @returns the exit code: 1 when a reason came or went later than it may */
export async function runHealthFaults({ holdMs, only, print }: HealthRunOptions): Promise<number> {
  const faults = HEALTH_FAULTS.filter(({ code }) => only.length === 0 || only.includes(code))
  await using stage = await HealthStage.begin()
  let late = 0
  print(`${'reason'.padEnd(20)}until 503  until 200  what`)
  for (const [index, fault] of faults.entries()) {
    // somewhere else in the rhythm of its looks each time
    await pause((index * STEP_MS) % MOST_MS)
    const measured = await measure(stage, { fault, holdMs })
    if (measured === null) {
      print(`${fault.code.padEnd(20)}skipped: this machine cannot do it`)
      continue
    }
    const { untilMs, backMs } = measured
    const isLate = Math.max(untilMs, backMs) > MOST_MS + SLACK_MS
    if (isLate) late++
    const times = [untilMs, backMs].map((ms) => inSeconds(ms).padStart(9)).join('  ')
    print(`${fault.code.padEnd(20)}${times}  ${fault.what}${isLate ? ' LATE' : ''}`)
  }
  print(
    late === 0 ? 'each came and went within 15 s' : `${late} came or went later than after 15 s`,
  )
  return late === 0 ? 0 : 1
}

async function measure(
  stage: HealthStage,
  { fault, holdMs }: { fault: HealthFault; holdMs: number },
): Promise<{ untilMs: number; backMs: number } | null> {
  if ((await fault.prepare?.(stage)) === false) return null
  const struckMs = (await fault.strike(stage)) ?? Date.now()
  const untilMs = await since(struckMs, () => names(stage, fault.code))
  await pause(holdMs)
  await fault.mend(stage)
  const mendedMs = Date.now()
  const backMs = await since(mendedMs, async () => (await stage.sidecar.readiness()).status === 200)
  return { untilMs, backMs }
}

async function names(stage: HealthStage, code: string): Promise<boolean> {
  const { status, reasons } = await stage.sidecar.readiness()
  return status === 503 && reasons.includes(code)
}

/** How long after a moment something is so, in ms; Infinity when it is not within a minute and a half. */
async function since(fromMs: number, isSo: () => Promise<boolean>): Promise<number> {
  while (Date.now() - fromMs < GIVEN_UP_MS) {
    if (await isSo()) return Math.max(0, Date.now() - fromMs)
    await pause(50)
  }
  return Infinity
}

const inSeconds = (ms: number): string =>
  ms === Infinity ? 'never' : `${(ms / 1000).toFixed(1)} s`
