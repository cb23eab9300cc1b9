/** Which messages the marked calls are about. */
import { messageKey, parsed } from './bot-view.js'
import { rowsOf } from './calls.js'

/** @param {import('./model.js').Model} model @returns {ReadonlySet<string>} keys of messages */
export function markedMessages(model) {
  const { marked } = model.state.inspector
  const rows = rowsOf(model).filter(({ key }) => marked.has(key))
  return new Set(rows.flatMap(({ legs }) => legs.flatMap((leg) => messagesOf(leg))))
}

/** @param {import('./calls.js').Leg} leg */
function messagesOf({ path, request, answer }) {
  const [asked, answered] = [parsed(request), parsed(answer)]
  const { result } = answered ?? {}
  const updates = Array.isArray(result) ? result : [asked]
  const inUpdates = updates.flatMap((/** @type {any} */ update) => {
    const pressed = Object.values(update ?? {}).find((value) => value?.message?.chat !== undefined)
    const message = update?.message ?? pressed?.message
    return message?.chat === undefined ? [] : [messageKey(message.chat.id, message.id)]
  })
  const sent = result?.id ?? result?.messageId ?? Number(/\/messages\/(\d+)/.exec(path)?.[1])
  const isSent =
    /\/messages\b/.test(path) && Number.isInteger(sent) && Number.isInteger(asked?.chatId)
  return isSent ? [...inUpdates, messageKey(asked.chatId, sent)] : inUpdates
}
