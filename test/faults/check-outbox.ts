/**
 * I14 to I16: what was given to the outbox ends in one state, which is what the service has; it
 * leaves in its order; and under a rule it leaves by a person's word alone.
 */
import { ASKS } from './approver.ts'
import type { Evidence } from './checker.ts'
import { unless, type History, type Later, type Word } from './history.ts'

type Row = NonNullable<Evidence['outbox']>[number]

/** A call with all that is known of it. */
interface Call {
  later: Later
  /** Its entry at the end; undefined: there is none. */
  row: Row | undefined
  /** What phones show of it. */
  shown: Evidence['phones'][number]
}

/** How far clocks of hosts are apart, at most, and how much a phone may be behind, ms. */
const CLOCKS_MS = 7000
const ENDS = new Set(['sent', 'refused', 'held'])

export function checkOutbox(history: History, evidence: Evidence): string[] {
  const { outbox, phones } = evidence
  // without an answer of the sidecar nothing is known; that is a breach of its own
  if (history.later.length === 0 || outbox === null) return []
  const shown = phones.flat().filter(({ text }) => !text.startsWith(ASKS))
  const rows = new Map(outbox.map((row) => [row.id, row]))
  const calls = history.later.map((later) => ({
    later,
    row: rows.get(later.id ?? ''),
    shown: shown.filter(({ text }) => text.includes(later.canary)),
  }))
  return [
    ...calls.flatMap((call) => checkState(call, history, evidence)),
    ...calls.flatMap((call) => checkWord(call, history)),
    ...checkCallOrder(calls),
    ...phones.flatMap((phone) => checkEditOrder(calls, phone)),
  ]
}

function checkState(call: Call, history: History, { hasNews }: Evidence): string[] {
  const { later, row, shown } = call
  const { id, givenAtMs, seen, deliverAtMs, edits } = later
  const messages = new Set(shown.map((one) => one.messageId))
  const isMoved = movedIn(later, history)
  if (row === undefined) {
    // after a jump of a clock, what was settled long ago is shown no more
    return givenAtMs === null || isMoved ? [] : [`I14: ${id} was given, and is not in the outbox`]
  }
  const { state, code, messageId, mayBeSent } = row
  const wanted = state !== 'sent' ? [] : [edits ?? messageId]
  // a moved clock ended its time while the answer to its call was lost
  const mayBeMade = mayBeSent && code === 'postern_outbox_expired' && messages.size === 1
  const isSame = messages.size === wanted.length && wanted.every((one) => messages.has(one ?? 0))
  const end = seen.findIndex((one) => ENDS.has(one.state))
  const after =
    end === -1
      ? undefined
      : [...seen.slice(end), { state }].find((one) => one.state !== seen[end]?.state)
  const earliestMs = Math.min(...shown.flatMap(({ at = 0 }) => (at === 0 ? [] : [at])))
  const isEarly = deliverAtMs !== null && earliestMs < deliverAtMs - CLOCKS_MS && !isMoved
  const isNews = (one: Later['seen'][number]): boolean => one.isNews === true && one.state === state
  const isTold = !hasNews || !ENDS.has(state) || seen.some(isNews)
  const isExplained = state !== 'refused' || isExpected(code, later, history)
  return [
    ...unless(ENDS.has(state), `I14: ${id} is ${state} still`),
    ...unless(
      isSame || mayBeMade || !ENDS.has(state),
      `I14: ${id} is ${state} (${code}), and the service has ${messages.size} of it`,
    ),
    ...(after === undefined ? [] : [`I14: ${id} was ${seen[end]?.state}, and then ${after.state}`]),
    ...unless(!isEarly, `I14: ${id} left before its time`),
    ...unless(isTold, `I14: the bot was not told that ${id} is ${state}`),
    ...unless(isExplained, `I14: ${id} was refused with ${code}`),
  ]
}

/** A clock was far off while a call waited. @param untilMs when this began at last */
function movedIn({ askedAtMs }: Later, history: History, untilMs = Infinity): boolean {
  const clocks = history.episodes.filter(({ name }) => name === 'clock')
  const isMoved = clocks.some(({ fromMs, toMs }) => toMs > askedAtMs && fromMs < untilMs)
  return history.hasFarClocks && isMoved
}

/** Codes of refusals for which nothing need have gone wrong, or the service called a chat open. */
function isExpected(code: string | null, later: Later, history: History): boolean {
  if (code === 'postern_outbox_expired') return movedIn(later, history)
  const claimed = history.claims.filter(({ toMs }) => toMs > later.askedAtMs)
  const isClaimed = claimed.some(({ chatId }) => chatId === later.chatId)
  if (code === 'postern_downgrade_refused') return isClaimed
  if (code === 'postern_approver_unreachable') return claimed.some((one) => one.isApprovers)
  const { decisions } = wordsOn(later, history)
  // an edit where somebody is being asked: it could be of the request
  if (code === 'postern_request_fixed') return later.edits !== null
  if (code === 'postern_approval_refused') return decisions.has(false)
  if (code === 'postern_approval_late') return decisions.has(null) || movedIn(later, history)
  return false
}

/** What may have been decided by the words on a call: the first one that counts; null: nothing. */
export function wordsOn(later: Later, history: History) {
  const { asked, words, handled } = history
  const { canary } = later
  const requests = asked.filter((one) => one.canary === canary)
  const given = words.filter(
    ({ code, quotes, isLate }) =>
      !isLate && requests.some((one) => one.code === code && one.messageId === quotes),
  )
  const written = given.filter(({ messageId }) => messageId !== null)
  const verdictsOf = ({ chatId, messageId }: Word) =>
    handled.filter((one) => one.messageId === messageId && one.chatId === chatId)
  const isSure = (word: Word): boolean => {
    const all = verdictsOf(word)
    return (
      all.length > 0 &&
      all.every(({ verdict, reason }) => verdict === 'verified' && reason === null)
    )
  }
  const [first] = written.toSorted((a, b) => (a.messageId ?? 0) - (b.messageId ?? 0))
  // by a clock that was far off until it was heard, a word is late, or before its request
  const heardMs = Math.max(...given.flatMap(verdictsOf).map(({ atMs }) => atMs))
  const isMoved = movedIn(later, history, heardMs)
  const isClear = given.length === written.length && given.every(isSure) && !isMoved
  const possible = given.map(({ isApproved }) => isApproved)
  const decisions = new Set<boolean | null>(
    first !== undefined && isClear ? [first.isApproved] : [...possible, null],
  )
  return { requests, given, decisions }
}

function checkWord({ later, row, shown }: Call, history: History): string[] {
  if (!later.needsWord) return []
  const { id } = later
  const { requests, given, decisions } = wordsOn(later, history)
  const firstMs = Math.min(...given.flatMap((one) => (one.isApproved ? [one.askedAtMs] : [])))
  const leftMs = Math.min(...shown.flatMap(({ at = 0 }) => (at === 0 ? [] : [at])))
  return [
    ...unless(requests.length <= 1, `I16: a word on ${id} was asked for ${requests.length} times`),
    ...unless(
      shown.length === 0 || (decisions.has(true) && leftMs >= firstMs),
      `I16: ${id} left without a person’s word`,
    ),
    ...unless(
      row?.state !== 'asked' || decisions.has(null),
      `I16: a word on ${id} was given, and did not count`,
    ),
  ]
}

/** Those of a chat whose order is known leave in it. */
function checkCallOrder(calls: readonly Call[]): string[] {
  const plain = calls.filter(
    ({ later }) => later.edits === null && later.deliverAtMs === null && !later.needsWord,
  )
  return plain.flatMap((one) => {
    const [mine] = one.shown
    const overtaken = plain.find(({ later, shown: [other] }) => {
      const isFirst = one.later.givenAtMs !== null && one.later.givenAtMs < later.askedAtMs
      return (
        isFirst &&
        later.chatId === one.later.chatId &&
        mine &&
        other &&
        other.messageId < mine.messageId
      )
    })
    if (overtaken === undefined) return []
    return [`I15: ${one.later.id} left after ${overtaken.later.id}, which was given later`]
  })
}

/** No edit comes again, or for the first time, after one that was given later. */
function checkEditOrder(calls: readonly Call[], phone: Evidence['phones'][number]): string[] {
  const edits = calls.filter(({ later }) => later.edits !== null)
  const texts = phone.flatMap(({ edited, text }) =>
    edits.filter(({ later }) => edited && text.includes(later.canary)),
  )
  return texts.flatMap(({ later }, at) => {
    const isLate = texts.slice(0, at).some(({ later: other }) => {
      const isFirst = later.givenAtMs !== null && later.givenAtMs < other.askedAtMs
      return (
        isFirst && other.edits === later.edits && other.chatId === later.chatId && !later.needsWord
      )
    })
    return isLate ? [`I15: edit ${later.id} was made after one that was given later`] : []
  })
}
