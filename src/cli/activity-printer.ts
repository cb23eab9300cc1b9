/** Prints the lines of `postern dev`; what comes again and again is counted instead. */
import { formatActivity, type ActivityLine } from './activity-line.ts'
import { terminalWidth } from './terminal.ts'

/** Something to show, before it has its time. */
export type Activity = Omit<ActivityLine, 'atMs'>

/** How long a refusal is not shown again, in ms. */
const REFUSALS_MS = 5000

export class ActivityPrinter {
  readonly #print: (lines: string) => void
  /** What was printed last, and how often it came again since. */
  #last = { activity: '', again: 0 }
  /** The refusal that was printed last, and how often it came again since. */
  #refused = { activity: '', again: 0, untilMs: 0 }

  /** @param print is given lines that fit the terminal */
  constructor(print: (lines: string) => void) {
    this.#print = print
  }

  /** Prints it, unless it is what was printed just before: that is counted. */
  write(activity: Activity): void {
    const said = JSON.stringify(activity)
    if (said === this.#last.activity) {
      this.#last.again += 1
      return
    }
    const { again } = this.#last
    this.#last = { activity: said, again: 0 }
    const atMs = Date.now()
    if (again > 0) this.#out({ atMs, who: '', text: `the same ${again} times more` })
    this.#out({ atMs, ...activity })
  }

  /** The same for a refusal: a bot that tries again and again is told of once in a while. */
  writeRefusal(activity: Activity): void {
    const said = JSON.stringify(activity)
    const { activity: before, again, untilMs } = this.#refused
    const isSame = said === before
    if (isSame && Date.now() < untilMs) {
      this.#refused.again += 1
      return
    }
    const more = isSame && again > 0 ? `\n(and ${again} times since it was shown)` : ''
    this.#refused = { activity: said, again: 0, untilMs: Date.now() + REFUSALS_MS }
    this.write({ ...activity, text: activity.text + more })
  }

  #out(line: ActivityLine): void {
    this.#print(formatActivity(line, terminalWidth()))
  }
}
