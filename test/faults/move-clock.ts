/**
 * Loaded into the sidecar's process before anything else: its wall clock follows a file that holds
 * an offset in ms. Timers and the monotonic clock stay as they are, as when an administrator or
 * NTP steps the clock.
 */
import { readFileSync, watch } from 'node:fs'

const file = process.env['FAULTS_CLOCK_FILE'] ?? ''
const RealDate = Date
let offsetMs = 0

class MovedDate extends RealDate {
  constructor(...given: [] | ConstructorParameters<typeof Date>) {
    if (given.length === 0) super(RealDate.now() + offsetMs)
    else super(...given)
  }

  static override now(): number {
    return RealDate.now() + offsetMs
  }
}

function look(): void {
  offsetMs = Number(readFileSync(file, 'utf8')) || 0
}

look()
watch(file, { persistent: false }, look)
globalThis.Date = MovedDate as DateConstructor
