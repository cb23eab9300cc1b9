/** A call with all its legs side by side, and what one can do with it. */
import { replay } from './api.js'
import { bodyLines, hasLong } from './body-lines.js'
import { copy, curlOf } from './curl.js'
import { formatCount, formatDuration, formatExactTime } from './format.js'
import { html } from './html.js'
import { Icon } from './icons.js'
import { Component } from './lib/preact.js'
import { callAddress } from './route.js'

/** @typedef {import('./model.js').Model} Model */
/** @typedef {import('./calls.js').Row} Row */
/** @typedef {import('./calls.js').Leg} Leg */

/**
 * @extends {Component<{ model: Model, row: Row, isMarked: boolean, onMark: () => void, onBack: () => void }, { isWhole: boolean }>}
 */
export class CallDetail extends Component {
  state = { isWhole: false }

  render() {
    const { model, row, isMarked, onMark, onBack } = this.props
    const { key, what, at, status, code, legs } = row
    const { isWhole } = this.state
    const isCut = legs.some(({ request, answer }) => hasLong(request) || hasLong(answer))
    return html`<section
      class="call-detail"
      aria-labelledby="call-title"
      onKeyDown=${(/** @type {KeyboardEvent} */ { key: pressed }) => pressed === 'Escape' && onBack()}
    >
      <div class="call-head">
        <h2 id="call-title" tabindex="-1">
          <code>${what}</code> ${status === 0 ? 'open' : status} ${code}
        </h2>
        <button class="plain back" onClick=${onBack} aria-label="Back to the calls" title="Escape">
          <${Icon} name="close" />
        </button>
        <p class="note"><time>${formatExactTime(at)}</time></p>
        <div class="actions">
          <button aria-pressed=${isMarked} onClick=${onMark}>
            ${isMarked ? 'Marked' : 'Mark'}
          </button>
          <button
            onClick=${() => copy(model, 'The address of this call', new URL(callAddress(key), location.href).href)}
          >
            Copy link
          </button>
          ${
            isCut &&
            html`<button
              aria-pressed=${isWhole}
              onClick=${() => this.setState({ isWhole: !isWhole })}
            >
              Whole texts
            </button>`
          }
        </div>
      </div>
      <div class=${`legs ${legs.length > 1 ? 'two' : ''}`}>
        ${legs.map((leg) => html`<${LegHead} key=${leg.over} model=${model} leg=${leg} />`)}
        ${['request', 'answer'].map((part) =>
          legs.map(
            (leg, index) =>
              html`<${Body}
                key=${`${part} ${leg.over}`}
                part=${part}
                leg=${leg}
                other=${legs[1 - index] ?? null}
                isWhole=${isWhole}
              />`,
          ),
        )}
      </div>
      ${
        legs.length > 1 &&
        html`<p class="note"><mark>Marked</mark> is what the other side does not have.</p>`
      }
    </section>`
  }
}

/** @param {{ model: Model, leg: Leg }} props */
function LegHead({ model, leg }) {
  const { from, over, to, path, method, status, ms, n } = leg
  const base = baseOf(model, to)
  const isFile = /^\/bot\/v1\/media\b/.test(path)
  const again = () =>
    model.attempt(async () => {
      const answer = to === null ? null : await replay(to, n)
      model.notify(`${method} ${path} was sent again, and answered with ${answer?.status}.`)
    })
  return html`<div class="leg-head">
    <h3><bdi>${from}</bdi> → <bdi>${over}</bdi></h3>
    <p><code>${method} ${path}</code> ${status === 0 ? 'open' : status}</p>
    ${ms !== undefined && html`<p class="note">took ${formatDuration(ms)}</p>`}
    ${
      to !== null &&
      base !== null &&
      html`<div class="actions">
        <button onClick=${() => copy(model, 'The command', curlOf(leg, base))}>Copy as curl</button>
        ${
          !isFile &&
          html`<button onClick=${again}>
            ${to === 'sidecar' ? 'Send again to the sidecar' : 'Send again to the service, as the bot'}
          </button>`
        }
      </div>`
    }
  </div>`
}

/** Where a leg goes. @param {Model} model @param {Leg['to']} to */
function baseOf({ state: { sidecar, world } }, to) {
  if (to === 'sidecar') return sidecar?.botUrl ?? null
  return to === null ? null : (world?.url ?? null)
}

/** @param {{ part: string, leg: Leg, other: Leg | null, isWhole: boolean }} props */
function Body({ part, leg, other, isWhole }) {
  const lines = bodyLines(leg[part], isWhole)
  const there =
    other === null ? null : new Set(bodyLines(other[part], true).map(({ identity }) => identity))
  return html`<div class="body">
    <h4>${part}</h4>
    <${Headers} headers=${part === 'request' ? leg.headers : leg.answerHeaders} />
    ${
      lines.length === 0
        ? html`<p class="nothing">empty</p>`
        : html`<pre tabindex="0" aria-label=${`${part}, ${leg.from} to ${leg.over}`}>
${lines.map(({ text, identity }) =>
              there === null || there.has(identity)
                ? `${text}\n`
                : html`<mark>${text}</mark>${'\n'}`,
            )}</pre>`
    }
  </div>`
}

/** Names of headers whose values are secrets. */
const SECRET = /auth|cookie|secret|token/i

/** Secrets are masked, as a page may be shown to others. @param {{ headers: readonly string[] | undefined }} props */
function Headers({ headers = [] }) {
  const lines = headers.flatMap((name, at) =>
    at % 2 === 1 ? [] : [[name, SECRET.test(name) ? '…' : (headers[at + 1] ?? '')]],
  )
  if (lines.length === 0) return null
  return html`<details class="raw">
    <summary>${formatCount(lines.length, 'header')}</summary>
    <dl class="headers">
      ${lines.map(
        ([name, value], at) =>
          html`<div key=${at}>
            <dt>${name}</dt>
            <dd>${value}</dd>
          </div>`,
      )}
    </dl>
  </details>`
}
