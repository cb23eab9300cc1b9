/** I1 and I6: no update is lost or changes its place, and what a person wrote can be read. */
import type { Evidence } from './checker.ts'
import type { Handled, History, Trouble, Written } from './history.ts'

/** How long after its end an episode may still explain something, in ms. */
const ECHO_MS = 4000

/** What keeps the service from answering; no trouble of our own explains a verdict. */
const OF_SERVICE: readonly Trouble[] = [
  'no-certificates',
  'service-killed',
  'down',
  'connections-cut',
  'latency',
  'slices',
  'half-open',
  'service-black-holed',
  'cut-answers',
  'lost-sends',
  'spoilt-answers',
  'refusals',
  'errors',
  'late-answers',
  'claims-open',
  'claims-no-key',
  'claims-other-key',
  'late-key',
]
const TURNED: readonly Trouble[] = ['turned', 'allowed']
/** Of what is sealed in a chat that an operator and the service call readable: the armor as text. */
const READABLE = 'readable-chat'

/**
 * Verdicts that a message of a person may get while something is wrong, and what explains them;
 * `inAllowed`: in a chat that an operator let be readable, about whose mode the service lies then.
 */
const EXCUSES: {
  verdict: string
  reason?: string
  troubles: readonly Trouble[]
  inAllowed?: true
}[] = [
  { verdict: 'signer-unavailable', troubles: OF_SERVICE },
  {
    verdict: 'signer-unavailable',
    reason: 'audience-unavailable',
    troubles: ['allowed'],
    inAllowed: true,
  },
  { verdict: 'mode-unknown', troubles: OF_SERVICE },
  // what was readable when it was written, and comes out after the group turned
  { verdict: 'plaintext-in-protected', troubles: TURNED },
  { verdict: 'unsigned', reason: READABLE, troubles: ['allowed'], inAllowed: true },
]

/** Verdicts with which the words are there. */
const READ = new Set([null, 'verified', 'before-key'])

export function checkUpdates(
  history: History,
  evidence: Evidence,
): { breaches: string[]; handled: number; excused: number } {
  const queue = queuedBy(evidence)
  const firsts = firstSights(history.handled)
  const excused = history.handled.filter((one) => !READ.has(one.verdict) && isGenuine(one, history))
  const confirmed = history.handled.filter(isConfirmedBefore)
  const breaches = [
    ...checkOrder(queue, firsts),
    ...checkPlaces(queue, history),
    ...history.handled
      .filter((one) => !confirmed.includes(one))
      .flatMap((one) => checkContent(one, history)),
    ...confirmed.flatMap((one) => checkConfirmed(one, history)),
    ...checkSame(history),
  ]
  return { breaches: [...new Set(breaches)], handled: firsts.length, excused: excused.length }
}

interface Queued {
  updateId: number
  chatId: number
  messageId: number
}

/** Every update that the service ever gave out, by its own transcript. */
export function queuedBy(evidence: Evidence): Queued[] {
  const all = pollsIn(evidence).flatMap(({ updates }) => updates)
  const found = new Map(all.map((one) => [one.updateId, one]))
  return [...found.values()]
    .map(({ updateId, message: { id = 0, chat = { id: 0 } } = {} }) => {
      return { updateId, chatId: chat.id, messageId: id }
    })
    .sort((a, b) => a.updateId - b.updateId)
}

const pollsIn = ({ service }: Evidence) =>
  service
    .filter(({ method, path }) => method === 'GET' && path.includes('/updates'))
    .map(({ at, answer }) => ({ at, updates: parse(answer) }))

/** The same history, with the time since which each verdict can have been made. */
export function withReadings(history: History, evidence: Evidence): History {
  const polls = pollsIn(evidence)
  const handled = history.handled.map((one) => {
    const isIt = ({ updateId }: { updateId: number }): boolean => updateId === one.updateId
    const read = polls.findLast(({ at, updates }) => at <= one.atMs && updates.some(isIt))
    const writtenAtMs = findWritten(one, history)?.atMs ?? 0
    return { ...one, readAtMs: Math.max(read?.at ?? one.atMs, writtenAtMs) }
  })
  return { ...history, handled }
}

function parse(
  answer: string,
): { updateId: number; message?: { id: number; chat: { id: number } } }[] {
  try {
    const { result } = JSON.parse(answer) as { result?: [] }
    return result ?? []
  } catch {
    return []
  }
}

/** The first time that the bot took in each update. */
function firstSights(handled: readonly Handled[]): Handled[] {
  const seen = new Set<number>()
  return handled.filter(({ updateId }) => !seen.has(updateId) && seen.add(updateId))
}

function checkOrder(queue: Queued[], firsts: Handled[]): string[] {
  const breaches: string[] = []
  for (const [index, { updateId, chatId, messageId }] of queue.entries()) {
    const first = firsts[index]
    if (first?.updateId !== updateId) {
      breaches.push(`I1: update ${updateId} was due, ${first?.updateId ?? 'nothing'} was handled`)
      break
    }
    if (first.chatId !== chatId || first.messageId !== messageId) {
      breaches.push(`I1: update ${updateId} carries another message than the service's`)
    }
  }
  if (firsts.length > queue.length) breaches.push('I1: updates were handled that nobody sent')
  return breaches
}

/** Everything that people wrote to the bot was queued, chat by chat in the order of writing. */
function checkPlaces(queue: Queued[], { written }: History): string[] {
  const queued = new Set(queue.map(({ chatId, messageId }) => `${chatId}:${messageId}`))
  return written
    .filter(({ chatId, messageId }) => !queued.has(`${chatId}:${messageId}`))
    .map(({ chatId, messageId }) => `I1: message ${messageId} of chat ${chatId} never came out`)
}

function checkContent(one: Handled, history: History): string[] {
  const written = findWritten(one, history)
  if (written === undefined || written.copyOf !== undefined) return []
  const where = `update ${one.updateId} (${written.poison ?? 'a person’s message'})`
  if (written.poison !== null) {
    return one.text === null || !written.sealed ? [] : [`I6: ${where} was delivered as words`]
  }
  if (READ.has(one.verdict)) {
    return one.text === `/say ${written.canary}` ? [] : [`I1: ${where} has other words`]
  }
  if (one.verdict === 'plaintext-in-protected' && one.withheld !== `/say ${written.canary}`) {
    return [`I1: ${where} lost its words`]
  }
  return isExcused(one, history)
    ? []
    : [`I6: ${where} got ${one.verdict} (${one.reason ?? 'no reason'})`]
}

/** Whether a trouble of the time explains a verdict without words. */
export function isExcused(one: Handled, history: History): boolean {
  const isReadable =
    one.verdict === 'plaintext-in-protected' && findWritten(one, history)?.sealed === true
  return !isReadable && explains(one, history)
}

/** Whether a verdict may be another one later: a trouble of the service's or of the chat's explains it. */
export function explains(one: Handled, history: History): boolean {
  const isAllowed = history.allowances.some(({ chatId }) => chatId === one.chatId)
  return EXCUSES.some(
    ({ verdict, reason = one.reason, troubles, inAllowed = isAllowed }) =>
      verdict === one.verdict &&
      reason === one.reason &&
      inAllowed === isAllowed &&
      isExplained(one, troubles, history),
  )
}

/** Whether a verdict is that of a chat's mode when it was given. */
export const isByMode = ({ verdict, reason }: Handled): boolean =>
  verdict === 'plaintext-in-protected' || reason === READABLE

/** Whether the bot can read what was said, as text or as what was withheld. */
export const hasWords = ({ text, withheld }: Handled, canary: string): boolean =>
  [text, withheld].includes(`/say ${canary}`)

const isConfirmedBefore = ({ verdict, reason }: Handled): boolean =>
  verdict === 'replayed' && reason === 'confirmed-before'

/** What was handed out again comes without words when it had come with them. */
function checkConfirmed(one: Handled, history: History): string[] {
  const written = findWritten(one, history)
  if (written === undefined || written.poison !== null) return []
  const isHad = history.handled.some(
    (other) => other.updateId === one.updateId && hasWords(other, written.canary),
  )
  return isHad || one.updateId < one.confirmedBelow
    ? []
    : [`I6: update ${one.updateId} counts as confirmed and was not`]
}

/** A redelivery never takes words away that were there before, but for trouble of the time. */
function checkSame(history: History): string[] {
  return history.handled
    .filter(({ verdict, reason }) => verdict === 'replayed' && reason === null)
    .filter((one) => isGenuine(one, history))
    .map(({ updateId }) => `I1: update ${updateId} counted as replayed when it came again`)
}

function isGenuine(one: Handled, history: History): boolean {
  return findWritten(one, history)?.poison === null
}

function findWritten(one: Handled, { written }: History): Written | undefined {
  return written.find(
    ({ chatId, messageId }) => chatId === one.chatId && messageId === one.messageId,
  )
}

function isExplained(
  { atMs, readAtMs = atMs, verdict }: Handled,
  troubles: readonly Trouble[],
  { episodes }: History,
): boolean {
  // a chat that turned stays protected
  const lasts = verdict === 'plaintext-in-protected'
  return episodes.some(
    ({ name, fromMs, toMs }) =>
      troubles.includes(name) && fromMs <= atMs && (lasts || readAtMs <= toMs + ECHO_MS),
  )
}
