import { botOf, parsed } from './bot-view.js'
import { formatExactTime, formatJson, formatNumber, formatSeconds } from './format.js'
import { html } from './html.js'

/** @typedef {import('./model.js').Model} Model */
/** @typedef {{ key: string, at: number, from: string, to: string, what: string, status: number, code: string, request: string, answer: string }} Line */

/** @typedef {{ key: string, line: Line, times: number }} Entry */

/** How many entries are shown. */
const SHOWN = 300

/** Every call, the newest first. @param {{ model: Model }} props */
export function Activity({ model }) {
  const entries = folded(linesOf(model))
  return html`<div class="activity">
    <h1>Activity</h1>
    <p class="note">
      ${
        model.state.attachedTo === null
          ? 'What bots, phones and the service said to each other. No sidecar runs in the process of this sandbox.'
          : 'What the bot, its sidecar, phones and the service said to each other.'
      }
    </p>
    <ol class="calls">
      ${entries
        .slice(0, SHOWN)
        .map(
          ({ key, line, times }) => html`<${CallLine} key=${key} line=${line} times=${times} />`,
        )}
    </ol>
    ${entries.length === 0 && html`<p class="nothing">Nothing yet.</p>`}
  </div>`
}

/** @param {{ line: Line, times: number }} props */
function CallLine({ line, times }) {
  const { at, from, to, what, status, code, request, answer } = line
  const tone = status === 0 ? 'open' : status < 400 ? 'good' : 'bad'
  return html`<li>
    <details>
      <summary>
        <time title=${formatExactTime(at)}>${formatSeconds(at)}</time>
        <span class="who"><bdi>${from}</bdi> → <bdi>${to}</bdi></span>
        <span class="what"
          ><code>${what}</code
          >${times > 1 && html` <small>${formatNumber(times)} times</small>`}</span
        >
        <span class=${`verdict ${tone}`}>${status === 0 ? 'open' : status} ${code}</span>
      </summary>
      ${
        request !== '' &&
        html`<h3>request</h3>
          <pre tabindex="0">${pretty(request)}</pre>`
      }
      ${
        answer !== '' &&
        html`<h3>answer</h3>
          <pre tabindex="0">${pretty(answer)}</pre>`
      }
    </details>
  </li>`
}

/**
 * The same question again and again, such as whether the service is there, as one entry: the newest
 * line, under the key of the oldest, which stays as more come.
 * @param {Line[]} lines the newest first @returns {Entry[]}
 */
function folded(lines) {
  /** @type {Entry[]} */
  const entries = []
  for (const line of lines) {
    const last = entries.at(-1)
    if (last !== undefined && isRepeated(last.line, line)) {
      last.key = line.key
      last.times += 1
    } else {
      entries.push({ key: line.key, line, times: 1 })
    }
  }
  return entries
}

/** @param {Line} one @param {Line} other */
function isRepeated(one, other) {
  if (!one.what.startsWith('GET ') || one.status !== 200) return false
  return ['from', 'to', 'what', 'status'].every((name) => one[name] === other[name])
}

/** @param {Model} model @returns {Line[]} */
function linesOf(model) {
  const { traffic, calls, attachedTo } = model.state
  const bot = attachedTo === null ? '' : model.nameOf(attachedTo)
  const withSidecar = traffic.map((one) => {
    const isCall = one.kind === 'call'
    return {
      key: `sidecar-${one.n}`,
      at: one.at,
      from: isCall ? bot : 'sidecar',
      to: isCall ? 'sidecar' : bot,
      what: isCall ? `${one.method} ${withoutPrefix(one.path)}` : 'webhook',
      status: one.status,
      code: codeIn(one.answer),
      request: one.request,
      answer: one.answer,
    }
  })
  const withService = calls.map((call) => {
    const { n, at, by, method, path, status, body, answer } = call
    const userId = Number(/^\/phones\/(\d+)/.exec(path)?.[1])
    const botId = botOf(call)
    const name = botId === null ? 'somebody' : model.nameOf(botId)
    const caller = by === 'phone' ? model.nameOf(userId) : botId === attachedTo ? 'sidecar' : name
    return {
      key: `service-${n}`,
      at,
      from: by === 'webhook' ? 'service' : caller,
      to: by === 'webhook' ? 'webhook' : 'service',
      what: `${method} ${withoutPrefix(path)}`,
      status,
      code: codeIn(answer),
      request: body,
      answer,
    }
  })
  return [...withSidecar, ...withService]
    .filter((line) => !isIdlePoll(line))
    .map((line, index) => ({ line, index }))
    .sort((one, other) => other.line.at - one.line.at || other.index - one.index)
    .map(({ line }) => line)
}

/** A poll that waits, or that gave nothing. @param {Line} line */
function isIdlePoll({ what, answer, status }) {
  if (!/^GET \/updates\b/.test(what)) return false
  return status === 0 || parsed(answer)?.result?.length === 0
}

/** @param {string} path */
function withoutPrefix(path) {
  return path.replace(/^\/bot\/v1|^\/phones\/\d+/, '')
}

/** @param {string} answer */
function codeIn(answer) {
  return parsed(answer)?.error?.code ?? ''
}

/** @param {string} text */
function pretty(text) {
  const value = parsed(text)
  return value === null ? text : formatJson(value)
}
