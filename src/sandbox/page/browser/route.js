/** Where one is on the page, as its address says: every place can be linked to. */

/**
 * @typedef {{ view: 'world' } | { view: 'activity', row: string | null } | ChatRoute} Route
 * @typedef {{ view: 'chat', handle: string | null, chatId: number | null, messageId: number | null }} ChatRoute
 */

const ACTIVITY = /^#\/activity(?:\/([a-z]+-\d{1,15}))?$/
const CHAT = /^#\/as\/([^/]+)(?:\/(\d{1,15})(?:\/(\d{1,15}))?)?$/

/**
 * Reads the fragment of an address; whatever is unknown leads to the first chat.
 * @param {string} hash
 * @returns {Route}
 */
export function readRoute(hash) {
  if (hash === '#/world') return { view: 'world' }
  const [isActivity, row = null] = ACTIVITY.exec(hash) ?? []
  if (isActivity !== undefined) return { view: 'activity', row }
  const [, handle, chatId, messageId] = CHAT.exec(hash) ?? []
  return {
    view: 'chat',
    handle: handle === undefined ? null : decoded(handle),
    chatId: chatId === undefined ? null : Number(chatId),
    messageId: messageId === undefined ? null : Number(messageId),
  }
}

/**
 * The address of a chat as somebody sees it, or of a message there.
 * @param {string} handle of the person
 * @param {number} [chatId]
 * @param {number} [messageId]
 */
export function chatAddress(handle, chatId, messageId) {
  const place = [handle, chatId, messageId].filter((part) => part !== undefined)
  return `#/as/${place.map((part) => encodeURIComponent(part ?? '')).join('/')}`
}

/** The address of a call. @param {string} key of its row */
export function callAddress(key) {
  return `#/activity/${key}`
}

/** @param {string} text */
function decoded(text) {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
