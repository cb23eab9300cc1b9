/** The page's calls to its own listener, and nothing else. */

/** @typedef {import('../../control/table.ts').Control} Control */
/** @typedef {import('../page-log.ts').PageEvent} PageEvent */
/**
 * @typedef {object} Sidecar
 * @property {string} botUrl of the bot's door
 * @property {boolean} ready
 * @property {{ code: string, message: string, hint: string, sinceMs: number }[]} reasons
 * @property {import('../sidecar.ts').Restartable[]} restarts what can be started anew
 */
/** @typedef {import('../bot-traffic.ts').RecordedExchange} RecordedExchange */

/** @type {PageEvent['kind'][]} */
// prettier-ignore
const EVENTS = [
  'call', 'message', 'edited', 'deleted', 'typing', 'answer', 'key', 'queued', 'delivered',
  'failed', 'notice', 'clock', 'restored', 'fault', 'step', 'traffic',
]

/** An operation was refused; the message is for the person. */
export class RefusedError extends Error {}

/**
 * The operations of the control.
 * @type {Control}
 */
export const control = new Proxy(/** @type {Control} */ ({}), {
  get:
    (_target, name) =>
    (input = {}) =>
      post(`control/${String(name)}`, input),
})

/**
 * @param {string} path
 * @param {object} input
 */
async function post(path, input) {
  const response = await fetch(path, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(input),
  })
  return await resultOf(response)
}

/**
 * What passed between the bot and its sidecar.
 * @param {number} after number of the last exchange that is known
 * @returns {Promise<{ attachedTo: number | null, sinceMs: number, last: number, exchanges: RecordedExchange[] }>}
 */
export async function fetchTraffic(after) {
  return await resultOf(await fetch(`traffic?after=${after}`))
}

/**
 * The sidecar in the sandbox's process; null where none is there.
 * @returns {Promise<Sidecar | null>}
 */
export async function fetchSidecar() {
  return await resultOf(await fetch('sidecar'))
}

/**
 * The faults that one can set, by name, and the routes of their calls.
 * @returns {Promise<{ kinds: typeof import('../../faults/table.ts').FAULTS, routes: string[] }>}
 */
export async function fetchFaultKinds() {
  return await resultOf(await fetch('fault-kinds'))
}

/** Starts something anew; gives when it runs. @param {import('../sidecar.ts').Restartable} what */
export async function restart(what) {
  await post('restart', { what })
}

/**
 * Sends a recorded call again.
 * @param {'sidecar' | 'service'} to
 * @param {number} n
 * @returns {Promise<{ status: number }>}
 */
export async function replay(to, n) {
  return await post('replay', { to, n })
}

/**
 * Follows what happens, again and again where the connection breaks.
 * @param {{ onEvent: (event: PageEvent) => void, onMissed: () => void, onOpen: () => void, onLost: () => void }} on
 */
export function followEvents({ onEvent, onMissed, onOpen, onLost }) {
  const source = new EventSource('events')
  source.addEventListener('open', onOpen)
  source.addEventListener('error', () => {
    onLost()
    // Refused for good, such as by a sandbox that is just starting: the browser does not try again.
    if (source.readyState === EventSource.CLOSED) {
      setTimeout(() => followEvents({ onEvent, onMissed, onOpen, onLost }), 2000)
    }
  })
  source.addEventListener('missed', onMissed)
  for (const kind of EVENTS) {
    source.addEventListener(kind, ({ data }) => onEvent(JSON.parse(data)))
  }
}

/** @param {Response} response */
async function resultOf(response) {
  const envelope = await response.json()
  if (!envelope.ok) throw new RefusedError(envelope.error.message)
  return envelope.result
}
