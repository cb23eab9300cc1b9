/**
 * Lines about events in chats: time, actor, event. They fit the terminal for any text; repeated
 * lines are counted.
 */
import { stripVTControlCharacters } from 'node:util'
import stringWidth from 'fast-string-width'
import { wrapAnsi } from 'fast-wrap-ansi'
import { counted, stripControls } from '../printable.ts'
import type { InboxEntry, ReceivedAnswer, SeenEvent } from '../sandbox/phone/seen.ts'
import { colourText, terminalWidth } from './terminal.ts'
import type { SandboxNames } from './sandbox-names.ts'

/** Something that happened. */
export interface ActivityLine {
  /** ms since 1970. */
  atMs: number
  /** Who did it, in a word or two. */
  who: string
  /** What; may hold newlines, and anything that somebody wrote. */
  text: string
  /** The assessment of the event, at the end of the line. */
  mark?: ActivityMark | undefined
}

/** A word or two in a colour. */
export interface ActivityMark {
  colour: 'green' | 'yellow' | 'red' | 'dim'
  text: string
}

const WHO_WIDTH = 14
const INDENT = ' '.repeat('00:00:00 '.length + WHO_WIDTH + 1)
/** A narrower terminal wraps by itself. */
const LEAST_TEXT_WIDTH = 16
const MOST_LINES = 40

/**
 * Sets it as lines, each at most `width` wide: the time of day, who, and the text wrapped beside.
 * Of a long text the first 40 lines are shown.
 */
export function formatActivity({ atMs, who, text, mark }: ActivityLine, width: number): string {
  const time = new Date(atMs).toTimeString().slice(0, 8)
  const column = Math.max(LEAST_TEXT_WIDTH, width - INDENT.length)
  const lines = wrapAnsi(harmless(text), column, { hard: true }).split('\n')
  const shown = lines.slice(0, MOST_LINES)
  const more = lines.length - shown.length
  if (more > 0) shown.push(`… and ${counted(more, 'line')} more`)
  if (mark !== undefined) addMark(shown, mark, column)
  return shown
    .map((line, at) => `${at === 0 ? `${time} ${inColumn(who)} ` : INDENT}${line}`.trimEnd())
    .join('\n')
}

/** Puts a mark at the end of the last line where it fits there, else below. */
function addMark(lines: string[], mark: ActivityMark, column: number): void {
  const text = harmless(mark.text)
  const last = lines.at(-1) ?? ''
  const together = last === '' ? text : `${last}  ${text}`
  const coloured = colourText(mark.colour, text)
  if (stringWidth(together) <= column) {
    lines.splice(-1, 1, last === '' ? coloured : `${last}  ${coloured}`)
  } else lines.push(...wrapAnsi(coloured, column, { hard: true }).split('\n'))
}

/** What cannot move the cursor, colour the terminal or turn the direction of reading. */
const harmless = (text: string): string =>
  stripControls(stripVTControlCharacters(text)).replaceAll('\t', '    ')

function inColumn(who: string): string {
  const [line = '', ...rest] = wrapAnsi(harmless(who).replaceAll('\n', ' '), WHO_WIDTH - 1, {
    hard: true,
    trim: false,
  }).split('\n')
  const cut = rest.length === 0 ? line : `${line.trimEnd()}…`
  return cut + ' '.repeat(Math.max(0, WHO_WIDTH - stringWidth(cut)))
}

/** Something to show, before it has its time. */
export type Activity = Omit<ActivityLine, 'atMs'>

/** How long a refusal is not shown again, in ms. */
const REFUSALS_MS = 5000

/** @param print is given lines that fit the terminal */
export function activityPrinter(print: (lines: string) => void) {
  /** The activity printed last, and the number of its repetitions since. */
  let last = { activity: '', again: 0 }
  /** The refusal printed last, and the number of its repetitions since. */
  let refused = { activity: '', again: 0, untilMs: 0 }
  const out = (activity: Activity): void =>
    print(formatActivity({ atMs: Date.now(), ...activity }, terminalWidth()))
  /** Prints an activity; counts one that equals the last. */
  const write = (activity: Activity): void => {
    const said = JSON.stringify(activity)
    if (said === last.activity) return void last.again++
    const { again } = last
    last = { activity: said, again: 0 }
    if (again > 0) out({ who: '', text: `the same ${counted(again, 'time')} more` })
    out(activity)
  }
  /** The same for a refusal: those of a bot that retries are printed once in a while. */
  const writeRefusal = (activity: Activity): void => {
    const said = JSON.stringify(activity)
    const { again, untilMs } = refused
    const isSame = said === refused.activity
    if (isSame && Date.now() < untilMs) return void refused.again++
    const more = isSame && again > 0 ? `\n(and ${counted(again, 'time')} since it was shown)` : ''
    refused = { activity: said, again: 0, untilMs: Date.now() + REFUSALS_MS }
    write({ ...activity, text: activity.text + more })
  }
  return { write, writeRefusal }
}

/** As `after` of `inbox`: gives nothing of before, and the number to continue after. */
export const NEWEST = Number.MAX_SAFE_INTEGER

/** What a phone made of a message's signature. */
export const VERDICT_MARKS = {
  verified: { colour: 'green', text: '✓ verified' },
  readable: { colour: 'dim', text: '(readable)' },
  unsigned: { colour: 'yellow', text: '✗ unsigned' },
  bad: { colour: 'red', text: '✗ bad signature' },
  unopened: { colour: 'red', text: '✗ cannot be opened' },
} as const satisfies Record<string, ActivityMark>

/** The mark of a message. None where it has no text: its files are sealed, or not, by themselves. */
export const markOf = (o: Pick<InboxEntry, 'text' | 'verdict'>): ActivityMark | undefined =>
  o.verdict === 'readable' && o.text === '' ? undefined : VERDICT_MARKS[o.verdict]

/** One thing that a phone showed, as lines for the terminal. */
export const formatSeen = (seen: SeenEvent, names: SandboxNames): string =>
  formatActivity({ atMs: seen.at, ...describe(seen, names) }, terminalWidth())

/** The bot's answer to a press in a few words. @param plain for one that shows nothing */
export const describeAnswer = (
  { text, alert, url }: Pick<ReceivedAnswer, 'text' | 'alert' | 'url'>,
  plain: string,
): string => `${text ?? (url === null ? plain : `opens ${url}`)}${alert ? ' (alert)' : ''}`

/** A message in one line: its parts that are not empty, then its buttons. */
export function withButtons(parts: string[], buttons: readonly { text?: unknown }[] = []): string {
  const shown = buttons.map(({ text }) => `[${String(text)}]`)
  return [...parts, ...shown].filter((part) => part !== '').join(' ')
}

function describe(seen: SeenEvent, names: SandboxNames): Activity {
  if (seen.kind === 'key') {
    const who = names.accountName(seen.userId)
    return { who, text: seen.fingerprint === null ? 'has no key any more' : 'has another key' }
  }
  const chat = names.chatName(seen.chatId)
  if (seen.kind === 'answer') {
    return { who: 'answer', text: `${chat}: ${describeAnswer(seen, 'took the press')}` }
  }
  if (seen.kind === 'deleted')
    return { who: '', text: `${chat}: message ${seen.messageId} is gone` }
  if (seen.kind === 'typing') {
    const text = `${chat}: ${seen.typing ? 'is typing …' : 'stopped typing'}`
    return { who: names.accountName(seen.userId), text }
  }
  const who = names.accountName(seen.fromId)
  if (seen.kind === 'joined' || seen.kind === 'left') return { who, text: `${chat}: ${seen.kind}` }
  const edited = seen.kind === 'edited' ? ` (message ${seen.messageId} edited)` : ''
  const text = `${chat}: ${seen.text || `message ${seen.messageId}`}${edited}`
  return { who, text, mark: markOf(seen) }
}
