/** What a phone of a running sandbox shows, as lines. */
import type { ReceivedAnswer, SeenEvent } from '../sandbox/phone/seen.ts'
import { formatActivity, type Activity, type ActivityMark } from './activity.ts'
import type { SandboxNames } from './sandbox-names.ts'
import { terminalWidth } from './terminal.ts'

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

/** One thing that a phone showed, as lines for the terminal. */
export function formatSeen(seen: SeenEvent, names: SandboxNames): string {
  return formatActivity({ atMs: seen.at, ...describe(seen, names) }, terminalWidth())
}

/** The bot's answer to a press in a few words. @param plain for one that shows nothing */
export function describeAnswer(
  { text, alert, url }: Pick<ReceivedAnswer, 'text' | 'alert' | 'url'>,
  plain: string,
): string {
  return `${text ?? (url === null ? plain : `opens ${url}`)}${alert ? ' (alert)' : ''}`
}

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
  return { who, text: `${chat}: ${seen.text}${edited}`, mark: VERDICT_MARKS[seen.verdict] }
}
