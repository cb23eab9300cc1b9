/** What a bot saw and said, by message, out of what it exchanged with its sidecar or the service. */

/**
 * @typedef {import('../bot-traffic.ts').RecordedExchange} Exchange
 * @typedef {{ n: number, at: number, by: string, method: string, path: string, headers: readonly string[], body: string, status: number, answer: string, answerHeaders?: readonly string[] | undefined, ms?: number | undefined }} Call
 *
 * A Message as the bot got it.
 * @typedef {{ kind: 'message', updateId: number, at: number, how: string, message: any, update: any }} Sighting
 * A press of a button as the bot got it, with the bot's answer.
 * @typedef {{ kind: 'press', updateId: number, at: number, how: string, data: string, from: any, update: any, answer: any }} Press
 * What the bot sent, and how that was answered.
 * @typedef {{ kind: 'sent' | 'edited', at: number, request: any, answer: any }} Sent
 * A call that was refused.
 * @typedef {{ kind: 'refused', n: number, at: number, chatId: number | null, exchange: Exchange, request: any, error: any }} Refused
 *
 * @typedef {{ byMessage: Map<string, (Sighting | Press | Sent)[]>, refused: Refused[], media: Map<string, Exchange> }} BotView
 */

const API = /^\/bot\/v1(\/[^?]*)/
const TOKEN = /^bearer \w+_(\d+)\./i

/**
 * @param {number} chatId
 * @param {number} messageId
 */
export function messageKey(chatId, messageId) {
  return `${chatId}:${messageId}`
}

/**
 * Sorts what a bot exchanged by the messages that it is about.
 * @param {Exchange[]} exchanges oldest first
 * @returns {BotView}
 */
export function viewOf(exchanges) {
  /** @type {BotView} */
  const view = { byMessage: new Map(), refused: [], media: new Map() }
  /** @type {Map<string, any>} */
  const answers = new Map()
  for (const exchange of exchanges) {
    if (exchange.kind === 'delivery') {
      if (isTaken(exchange)) noteUpdate(view, parsed(exchange.request), { exchange, answers })
      continue
    }
    const path = API.exec(exchange.path)?.[1] ?? exchange.path.split('?', 1)[0] ?? ''
    if (path.startsWith('/media/')) view.media.set(path.slice('/media/'.length), exchange)
    noteCall(view, path, { exchange, answers })
  }
  return view
}

/**
 * @param {BotView} view
 * @param {string} path below the API's prefix
 * @param {{ exchange: Exchange, answers: Map<string, any> }} context
 */
function noteCall(view, path, { exchange, answers }) {
  const { method, at, n } = exchange
  const request = parsed(exchange.request)
  const answer = parsed(exchange.answer)
  if (answer?.ok === false) {
    const chatId = Number.isInteger(request?.chatId) ? request.chatId : chatIn(path)
    view.refused.push({ kind: 'refused', n, at, chatId, exchange, request, error: answer.error })
    return
  }
  if (!isTaken(exchange)) return
  if (method === 'GET' && path === '/updates' && Array.isArray(answer?.result)) {
    for (const update of answer.result) noteUpdate(view, update, { exchange, answers })
  }
  if (method === 'POST' && path === '/messages' && Number.isInteger(answer?.result?.id)) {
    note(view, messageKey(request?.chatId, answer.result.id), { kind: 'sent', at, request, answer })
  }
  const edited = /^\/messages\/(\d+)$/.exec(path)?.[1]
  if (method === 'PATCH' && edited !== undefined) {
    note(view, messageKey(request?.chatId, Number(edited)), { kind: 'edited', at, request, answer })
  }
  const answered = /^\/callbacks\/([^/]+)\/answer$/.exec(path)?.[1]
  if (answered !== undefined) answers.get(answered)?.(request ?? {})
}

/**
 * @param {BotView} view
 * @param {any} update
 * @param {{ exchange: Exchange, answers: Map<string, any> }} context
 */
function noteUpdate(view, update, { exchange: { at, kind }, answers }) {
  const how = kind === 'delivery' ? 'webhook' : 'poll'
  const { updateId, message } = update ?? {}
  if (message?.chat !== undefined) {
    const key = messageKey(message.chat?.id, message.id)
    const before = view.byMessage.get(key) ?? []
    // A poll without a confirmation gives the same update again.
    const isKnown = before.some((one) => one.kind === 'message' && one.updateId === updateId)
    if (!isKnown) note(view, key, { kind: 'message', updateId, at, how, message, update })
    return
  }
  const press = Object.values(update ?? {}).find((value) => value?.message?.chat !== undefined)
  if (press === undefined) return
  const { id, data, from, message: pressed } = press
  const key = messageKey(pressed.chat.id, pressed.id)
  /** @type {Press} */
  const noted = { kind: 'press', updateId, at, how, data, from, update, answer: null }
  answers.set(id, (/** @type {any} */ answer) => (noted.answer = answer))
  note(view, key, noted)
}

/**
 * @param {BotView} view
 * @param {string} key
 * @param {Sighting | Press | Sent} entry
 */
function note(view, key, entry) {
  view.byMessage.set(key, [...(view.byMessage.get(key) ?? []), entry])
}

/**
 * The calls of a bot to the service, in the form of exchanges, for a bot whose sidecar is elsewhere
 * or that has none.
 * @param {Call[]} calls
 * @param {{ id: number, webhook: string | null }} bot
 * @returns {Exchange[]}
 */
export function exchangesWithService(calls, { id, webhook }) {
  return calls.flatMap((call) => {
    /** @type {Exchange[]} */
    const none = []
    const { n, at, by, method, path, body, status, answer } = call
    if (by === 'webhook' && webhook !== null) {
      return [{ n, at, kind: 'delivery', method, path: '', request: body, status, answer: '' }]
    }
    if (by !== 'api' || botOf(call) !== id) return none
    return [{ n, at, kind: 'call', method, path, request: body, status, answer }]
  })
}

/** @param {Call} call */
export function botOf({ headers }) {
  const at = headers.findIndex((name, index) => index % 2 === 0 && /^authorization$/i.test(name))
  const id = at === -1 ? undefined : TOKEN.exec(headers[at + 1] ?? '')?.[1]
  return id === undefined ? null : Number(id)
}

/** @param {Exchange} exchange */
function isTaken({ status }) {
  return status >= 200 && status < 300
}

/** @param {string} path */
function chatIn(path) {
  const id = /^\/chats\/(\d+)/.exec(path)?.[1]
  return id === undefined ? null : Number(id)
}

/**
 * @param {string} json
 * @returns {any}
 */
export function parsed(json) {
  try {
    return JSON.parse(json)
  } catch {
    return null
  }
}
