/** I9 to I12: what was confirmed was had, once, and is the same whichever sidecar gives it. */
import { explains, hasWords, isByMode, isExcused } from './check-updates.ts'
import type { Handled, History, Written } from './history.ts'

export function checkDeliveries(history: History): string[] {
  const byUpdate = Map.groupBy(history.handled, ({ updateId }) => updateId)
  return [
    ...checkHad(history, byUpdate),
    ...[...byUpdate.values()].flatMap((all) => checkAlike(all, history)),
    ...history.handled.flatMap(checkOnce),
    ...checkCopies(history),
    ...checkFiles(history),
  ]
}

type ByUpdate = ReadonlyMap<number, readonly Handled[]>

/** I9: whatever could be opened was had before it was confirmed. */
function checkHad(history: History, byUpdate: ByUpdate): string[] {
  const written = byPlace(history.written)
  return [...byUpdate].flatMap(([updateId, all]) => {
    const [{ chatId, messageId } = { chatId: 0, messageId: 0 }] = all
    const one = written.get(placeOf({ chatId, messageId }))
    if (one === undefined || one.poison !== null) return []
    if (updateId >= history.confirmedBelow) return []
    const isHad = all.some((each) => hasWords(each, one.canary))
    if (isHad || all.some((each) => isExcused(each, history))) return []
    const verdicts = [...new Set(all.map(describe))].join(', ')
    return [`I9: update ${updateId} was confirmed, and the bot never got its words (${verdicts})`]
  })
}

/** I10: two deliveries of an update have one verdict, whichever sidecars gave them. */
function checkAlike(all: readonly Handled[], history: History): string[] {
  const lasting = all.filter(
    (one) => one.reason !== CONFIRMED && !explains(one, history) && !isByMode(one),
  )
  const verdicts = new Set(lasting.map(({ verdict }) => verdict))
  if (verdicts.size <= 1) return []
  const seen = [
    ...new Set(lasting.map((one) => `${describe(one)} at ${one.sidecar ?? 'one of them'}`)),
  ]
  const what = verdicts.has('replayed') ? 'is replayed for one sidecar alone' : 'has two verdicts'
  return [`I10: update ${all[0]?.updateId} ${what}: ${seen.join(', ')}`]
}

/** I11: what was confirmed comes with its words no more. */
function checkOnce(one: Handled): string[] {
  const { updateId, confirmedBelow, text, sidecar, verdict } = one
  // what a person wrote into an open chat is passed on, and not judged
  if (text === null || verdict === null || isByMode(one) || updateId >= confirmedBelow) return []
  return [
    `I11: update ${updateId} came with its words again after ${confirmedBelow} was confirmed (from ${sidecar ?? 'one of them'})`,
  ]
}

/** I11: of a message and its copies one comes with words, and always the same one. */
function checkCopies({ handled, written }: History): string[] {
  const groups = Map.groupBy(
    written.filter(({ sealed }) => sealed),
    ({ canary, copyOf }) => copyOf ?? canary,
  )
  return [...groups].flatMap(([canary, group]) => {
    if (canary === '' || group.length === 1) return []
    const places = new Set(group.map(placeOf))
    const withWords = handled.filter(
      (one) => places.has(placeOf(one)) && one.text !== null && !isByMode(one),
    )
    const ids = [...new Set(withWords.map(({ updateId }) => updateId))]
    if (ids.length <= 1) return []
    return [`I11: the same sealed words came with the updates ${ids.join(' and ')}`]
  })
}

/** A new packet of tag 1, public-key encrypted session key (RFC 9580, 4.2.1 and 5.1). */
const SESSION_KEY_PACKET = 0xc1

/** I12: a file has the bytes that the person sent, sealed ones where its words came sealed as text. */
function checkFiles({ fetched, handled, written }: History): string[] {
  const sent = byPlace(written)
  const asText = new Set(handled.filter(isByMode).map(placeOf))
  return fetched.flatMap(({ chatId, messageId, bytes }) => {
    const file = sent.get(placeOf({ chatId, messageId }))?.file
    if (file === undefined || file.equals(bytes)) return []
    const isSealed = bytes[0] === SESSION_KEY_PACKET
    if (isSealed && asText.has(placeOf({ chatId, messageId }))) return []
    return [`I12: the file of message ${messageId} of chat ${chatId} has other bytes`]
  })
}

/** Reason of a verdict on what the bot confirmed and is given again. */
const CONFIRMED = 'confirmed-before'

const describe = ({ verdict, reason }: Handled): string =>
  reason === null ? (verdict ?? 'no verdict') : `${verdict} ${reason}`

const placeOf = ({ chatId, messageId }: { chatId: number; messageId: number }): string =>
  `${chatId}:${messageId}`

const byPlace = (written: readonly Written[]): ReadonlyMap<string, Written> =>
  new Map(written.map((one) => [placeOf(one), one]))
