/** Every call as one row with its legs: from the bot to its sidecar, and from there to the service. */
import { botOf, parsed } from './bot-view.js'

/**
 * @typedef {import('./model.js').Model} Model
 * @typedef {import('./bot-view.js').Exchange} Exchange
 * @typedef {import('./bot-view.js').Call} Call
 *
 * One leg of a call. `to` says where it can be sent again; null: nowhere.
 * @typedef {{ from: string, over: string, to: 'sidecar' | 'service' | null, n: number, at: number, method: string, path: string, status: number, request: string, answer: string, headers?: readonly string[] | undefined, answerHeaders?: readonly string[] | undefined, ms?: number | undefined }} Leg
 * @typedef {object} Row
 * @property {string} key
 * @property {number} at
 * @property {string} from
 * @property {string} over to whom
 * @property {string} what method and path, without prefix and query
 * @property {string} route the same, without ids
 * @property {number} status
 * @property {number | undefined} ms until the answer
 * @property {string} code of a refusal
 * @property {Leg[]} legs
 * @property {boolean} isIdle a poll that gave nothing, or a question who one is
 * @property {number} times how often in a row
 */

/** How long before its answer a call of the bot may have reached the service, in ms. */
const WITHIN_MS = 60_000

/** @type {{ of: unknown[], rows: Row[] }} */
let last = { of: [], rows: [] }

/** The rows, the newest first. @param {Model} model @returns {Row[]} */
export function rowsOf(model) {
  const { traffic, calls, attachedTo, people, bots } = model.state
  const of = [traffic, calls, attachedTo, people, bots]
  if (of.some((part, index) => part !== last.of[index])) last = { of, rows: build(model) }
  return last.rows
}

/** @param {Model} model */
function build(model) {
  const { traffic, calls } = model.state
  const legs = calls.map((call) => serviceLeg(model, call))
  const pool = new Pool(legs)
  const rows = traffic.map((exchange) => {
    const first = sidecarLeg(model, exchange)
    const second = pool.take(exchange, first)
    return rowOf(`sidecar-${exchange.n}`, second === null ? [first] : [first, second])
  })
  const alone = legs
    .filter((leg) => !pool.isTaken(leg))
    .map((leg) => rowOf(`service-${leg.n}`, [leg]))
  return folded([...alone, ...rows].toReversed().toSorted((one, other) => other.at - one.at))
}

/** The calls to the service, each to be found once for a call to the sidecar. */
class Pool {
  /** @type {Map<string, Leg[]>} by method and path, oldest first */
  #byPath = new Map()
  /** @type {Set<Leg>} */
  #taken = new Set()

  /** @param {Leg[]} legs */
  constructor(legs) {
    for (const leg of legs) {
      if (leg.from !== 'sidecar') continue
      const key = placeOf(leg)
      this.#byPath.set(key, [...(this.#byPath.get(key) ?? []), leg])
    }
  }

  /** @param {Leg} leg */
  isTaken(leg) {
    return this.#taken.has(leg)
  }

  /** The leg behind a call to the sidecar. @param {Exchange} exchange @param {Leg} first */
  take(exchange, first) {
    const isPoll = first.over !== 'sidecar' || placeOf(first).startsWith('GET /updates')
    const key = isPoll ? 'GET /updates' : placeOf(first)
    const found = (this.#byPath.get(key) ?? []).findLast((leg) => {
      if (leg.at > exchange.at || exchange.at - leg.at > WITHIN_MS) return false
      return isPoll ? isSameUpdate(leg, first) : !this.isTaken(leg) && isSameCall(leg, first)
    })
    if (found === undefined) return null
    this.#taken.add(found)
    return found
  }
}

/** @param {Leg} leg */
const placeOf = ({ method, path }) => `${method} ${shortPath(path)}`

/** Whether a call to the service gave what the bot got. @param {Leg} leg @param {Leg} first */
function isSameUpdate(leg, first) {
  const given = updateIds(leg.answer)
  return updateIds(first.over === 'sidecar' ? first.answer : first.request).some((id) =>
    given.includes(id),
  )
}

/** @type {Map<string, number[]>} */
const updatesIn = new Map()

/** @param {string} json @returns {number[]} */
function updateIds(json) {
  const known = updatesIn.get(json)
  if (known !== undefined) return known
  const value = parsed(json)
  const list = Array.isArray(value?.result) ? value.result : [value]
  const ids = list.flatMap((/** @type {any} */ one) => one?.updateId ?? [])
  if (updatesIn.size > 4000) updatesIn.clear()
  updatesIn.set(json, ids)
  return ids
}

/** @param {Leg} leg @param {Leg} first */
function isSameCall(leg, first) {
  if (first.method !== 'POST' || shortPath(first.path) !== '/messages') return true
  const [sent, asked] = [parsed(leg.answer)?.result?.id, parsed(first.answer)?.result?.id]
  if (sent !== undefined || asked !== undefined) return sent === asked
  return parsed(leg.request)?.chatId === parsed(first.request)?.chatId
}

/** @param {Model} model @param {Exchange} exchange @returns {Leg} */
function sidecarLeg(model, { kind, caller, ...exchange }) {
  const bot = model.nameOf(model.state.attachedTo ?? 0)
  return kind === 'call'
    ? { ...exchange, from: caller ?? bot, over: 'sidecar', to: 'sidecar' }
    : { ...exchange, from: 'sidecar', over: bot, to: null, path: '/webhook' }
}

/** @param {Model} model @param {Call} call @returns {Leg} */
function serviceLeg(model, call) {
  const { by, path, body: request, ...rest } = call
  const common = { ...rest, path, request }
  if (by === 'webhook') return { ...common, from: 'service', over: 'webhook', to: null }
  const userId = Number(/^\/phones\/(\d+)/.exec(path)?.[1])
  if (by === 'phone') return { ...common, from: model.nameOf(userId), over: 'service', to: null }
  const botId = botOf(call)
  const name = botId === null ? 'somebody' : model.nameOf(botId)
  const from = botId !== null && botId === model.state.attachedTo ? 'sidecar' : name
  return { ...common, from, over: 'service', to: botId === null ? null : 'service' }
}

/** @param {string} key @param {Leg[]} legs @returns {Row} */
function rowOf(key, legs) {
  const [first] = legs
  if (first === undefined) throw new Error('a row has a leg')
  const { at, from, over, method, path, status, answer, ms } = first
  const place = shortPath(path)
  const what =
    first.over === 'webhook' || (place === '/webhook' && over !== 'sidecar' && over !== 'service')
      ? 'webhook'
      : `${method} ${place}`
  const common = { key, at, from, over, what, status, ms, legs, times: 1 }
  return {
    ...common,
    route: what.replaceAll(/\/(?:\d+|[\w-]{16,})(?=\/|$)/g, '/…'),
    code: status < 400 ? '' : (parsed(answer)?.error?.code ?? ''),
    isIdle: isIdle(what, first),
  }
}

/** @param {string} what @param {Leg} leg */
function isIdle(what, { status, answer }) {
  if (status >= 400) return false
  if (what === 'GET /me') return true
  return what === 'GET /updates' && (status === 0 || updateIds(answer).length === 0)
}

/**
 * The same question again and again as one row: the newest, under the key of the oldest, which stays
 * as more come.
 * @param {Row[]} rows
 */
function folded(rows) {
  /** @type {Row[]} */
  const all = []
  for (const row of rows) {
    const before = all.at(-1)
    if (before !== undefined && isRepeated(before, row)) {
      before.key = row.key
      before.times += 1
    } else {
      all.push(row)
    }
  }
  return all
}

/** @param {Row} one @param {Row} other */
function isRepeated(one, other) {
  if (!one.what.startsWith('GET ') || one.status !== 200 || one.what === 'GET /updates')
    return false
  return ['from', 'over', 'what', 'status'].every((name) => one[name] === other[name])
}

/** Without prefix and query. @param {string} path */
function shortPath(path) {
  return (path.split('?', 1)[0] ?? '').replace(/^\/bot\/v1|^\/phones\/\d+/, '')
}
