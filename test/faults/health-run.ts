/** Provokes each reason for not being ready on an idle sidecar, and measures until 503 and back. */
import { setTimeout as pause } from 'node:timers/promises'
import { Random } from '../support/faults-random.ts'
import { HEALTH_FAULTS, type HealthFault } from './health-faults.ts'
import { HealthStage } from './health-stage.ts'

/** What `/readyz` may be behind, and what a look of ours may add to a measurement. */
const MOST_MS = 15_000
const SLACK_MS = 500
const GIVEN_UP_MS = 90_000

export interface HealthRunOptions {
  /** The longest that a fault stands before it is mended; by chance no longer than a second. */
  holdMs: number
  /** Only these reasons; all when empty. */
  only: readonly string[]
  /** How often each is provoked, each time at another moment. */
  times: number
  /** How many sidecars are measured side by side, each with a service of its own. */
  atOnce: number
  /** Of the moments. */
  seed: number
  print: (line: string) => void
}

/** What was measured of one fault, over all rounds. */
interface Row {
  fault: HealthFault
  untilMs: number[]
  backMs: number[]
  isSkipped: boolean
}

/** @returns the exit code: 1 when a reason came or went later than it may */
export async function runHealthFaults(o: HealthRunOptions): Promise<number> {
  const { only, times, atOnce, print } = o
  const faults = HEALTH_FAULTS.filter(({ code }) => only.length === 0 || only.includes(code))
  const rows = faults.map((fault): Row => ({ fault, untilMs: [], backMs: [], isSkipped: false }))
  let begun = 0
  const rounds = async (): Promise<void> => {
    while (begun < times) await round(rows, { ...o, random: new Random(o.seed + begun++) })
  }
  await Promise.all(Array.from({ length: Math.min(atOnce, times) }, rounds))
  print(`${'reason'.padEnd(20)}times  until 503 (median, worst)  until 200  late  what`)
  for (const row of rows) print(lineOf(row))
  const late = rows.reduce((sum, row) => sum + lateOf(row), 0)
  print(
    late === 0 ? 'each came and went within 15 s' : `${late} came or went later than after 15 s`,
  )
  return late === 0 ? 0 : 1
}

/** Each fault once, on a new sidecar. */
async function round(
  rows: readonly Row[],
  { holdMs, print, random }: HealthRunOptions & { random: Random },
): Promise<void> {
  await using stage = await HealthStage.begin()
  for (const row of rows) {
    // somewhere in the rhythm of its looks
    await pause(random.between(0, MOST_MS))
    const { fault } = row
    const heldMs = random.between(Math.min(1000, holdMs), holdMs)
    const measured = await measure(stage, { fault, holdMs: heldMs }).catch((error: unknown) => {
      print(`${fault.code} was not measured: ${String(error)}`)
      return null
    })
    if (measured === null) {
      row.isSkipped = true
      continue
    }
    row.untilMs.push(measured.untilMs)
    row.backMs.push(measured.backMs)
    if (!isLate(measured.untilMs) && !isLate(measured.backMs)) continue
    const behind = [measured.untilMs, measured.backMs].map(inSeconds).join(', then ')
    print(`LATE ${fault.code}: ${behind} (${fault.cause}; last named: ${measured.last})`)
  }
}

const isLate = (ms: number): boolean => ms > MOST_MS + SLACK_MS
const lateOf = ({ untilMs, backMs }: Row): number =>
  untilMs.filter((ms, n) => isLate(ms) || isLate(backMs[n] ?? 0)).length

function lineOf(row: Row): string {
  const { fault, untilMs, backMs, isSkipped } = row
  const code = fault.code.padEnd(20)
  if (isSkipped && untilMs.length === 0) return `${code}skipped: this machine cannot do it`
  const show = (all: readonly number[]): string =>
    [all.toSorted((a, b) => a - b)[all.length >> 1] ?? NaN, Math.max(...all)]
      .map((ms) => inSeconds(ms).padStart(7))
      .join(' ')
  return `${code}${String(untilMs.length).padStart(5)}  ${show(untilMs)}  ${show(backMs)}  ${lateOf(row)}  ${fault.cause}`
}

async function measure(
  stage: HealthStage,
  { fault, holdMs }: { fault: HealthFault; holdMs: number },
): Promise<{ untilMs: number; backMs: number; last: string } | null> {
  if ((await fault.prepare?.(stage)) === false) return null
  const struckMs = (await fault.strike(stage)) ?? Date.now()
  const untilMs = await since(struckMs, () => names(stage, fault.code))
  await pause(holdMs)
  await fault.mend(stage)
  const mendedMs = Date.now()
  let last = ''
  const backMs = await since(mendedMs, async () => {
    const { status, reasons } = await stage.sidecar.readiness()
    if (status !== 200) last = reasons.join(' ')
    return status === 200
  })
  return { untilMs, backMs, last }
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
