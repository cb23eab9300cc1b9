/** I1 and I6: no update is lost or changes its place, and what a person wrote can be read. */
import type { Evidence } from './checker.ts'
import type { Handled, History, Trouble, Written } from './history.ts'

/** How long after its end an episode may still explain something, in ms. */
const ECHO_MS = 4000

/** Verdicts that a message of a person may get while something is wrong, and what explains them. */
const EXCUSES: { verdict: string; reason?: string; troubles: Trouble[] | 'any' }[] = [
  { verdict: 'signer-unavailable', troubles: 'any' },
  { verdict: 'mode-unknown', troubles: 'any' },
  { verdict: 'locked', reason: 'store-unwritable', troubles: ['full-disk'] },
  { verdict: 'bad-signature', troubles: ['clock'] },
  { verdict: 'replayed', reason: 'older-than-memory', troubles: ['clock'] },
  // what was readable when it was written, and comes out after the group turned
  { verdict: 'plaintext-in-protected', troubles: ['turned'] },
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
  const breaches = [
    ...checkOrder(queue, firsts),
    ...checkPlaces(queue, history),
    ...history.handled.flatMap((one) => checkContent(one, history)),
    ...checkSame(history.handled),
  ]
  return { breaches: [...new Set(breaches)], handled: firsts.length, excused: excused.length }
}

interface Queued {
  updateId: number
  chatId: number
  messageId: number
}

/** Every update that the service ever gave out, by its own transcript. */
function queuedBy({ service }: Evidence): Queued[] {
  const found = new Map<number, Queued>()
  for (const { method, path, answer } of service) {
    if (method !== 'GET' || !path.includes('/updates')) continue
    const parsed = parse(answer)
    for (const { updateId, message } of parsed) {
      found.set(updateId, { updateId, chatId: message?.chat.id ?? 0, messageId: message?.id ?? 0 })
    }
  }
  return [...found.values()].sort((a, b) => a.updateId - b.updateId)
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
  if (written === undefined) return []
  const where = `update ${one.updateId} (${written.poison ?? 'a person’s message'})`
  if (written.poison !== null) {
    return one.text === null || !written.sealed ? [] : [`I6: ${where} was delivered as words`]
  }
  if (READ.has(one.verdict)) {
    return one.text === `/say ${written.canary}` ? [] : [`I1: ${where} has other words`]
  }
  const excuse = EXCUSES.find(
    ({ verdict, reason }) => verdict === one.verdict && (reason ?? one.reason) === one.reason,
  )
  const isReadable = one.verdict === 'plaintext-in-protected' && written.sealed
  const explained =
    excuse !== undefined && !isReadable && isExplained(one.atMs, excuse.troubles, history)
  if (one.verdict === 'plaintext-in-protected' && one.withheld !== `/say ${written.canary}`) {
    return [`I1: ${where} lost its words`]
  }
  return explained ? [] : [`I6: ${where} got ${one.verdict} (${one.reason ?? 'no reason'})`]
}

/** A redelivery never takes words away that were there before, but for trouble of the time. */
function checkSame(handled: readonly Handled[]): string[] {
  return handled
    .filter(({ verdict, reason }) => verdict === 'replayed' && reason === null)
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

function isExplained(atMs: number, troubles: Trouble[] | 'any', { episodes }: History): boolean {
  return episodes.some(
    ({ name, fromMs, toMs }) =>
      (troubles === 'any' || troubles.includes(name)) &&
      fromMs <= atMs &&
      (atMs <= toMs + ECHO_MS || name === 'turned'),
  )
}
