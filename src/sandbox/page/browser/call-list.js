import { Component } from './lib/preact.js'
import { formatDuration, formatExactTime, formatNumber, formatSeconds } from './format.js'
import { html } from './html.js'

/** @typedef {import('./calls.js').Row} Row */
/** @typedef {{ rows: Row[], current: string | null, marked: ReadonlySet<string>, onCurrent: (key: string) => void, onMark: (key: string) => void, onOpen: () => void }} Props */

/** Height of a row in px, as `activity.css` has it. */
const ROW_PX = 40
/** Rows that are drawn beyond the edges. */
const BEYOND = 8

/**
 * The rows, of which only those in sight are drawn. One walks it with the arrow keys, Home, End and
 * the page keys; `m` marks, Enter leads to the bodies.
 * @extends {Component<Props, { top: number, height: number }>}
 */
export class CallList extends Component {
  state = { top: 0, height: 800 }
  /** @type {HTMLElement | null} */
  #box = null
  #resized = new ResizeObserver(() => this.#measure())

  componentDidMount() {
    if (this.#box !== null) this.#resized.observe(this.#box)
    this.#measure()
    this.#show(this.#currentIndex())
  }

  componentWillUnmount() {
    this.#resized.disconnect()
  }

  /** Rows that come above what one reads do not move it. @param {Props} before */
  componentDidUpdate(before) {
    const { rows } = this.props
    const box = this.#box
    if (box === null || rows === before.rows) return
    const first = before.rows[Math.floor(box.scrollTop / ROW_PX)]
    if (box.scrollTop < ROW_PX || first === undefined) return
    const was = before.rows.indexOf(first)
    const is = rows.findIndex(({ key }) => key === first.key)
    if (is !== -1 && is !== was) box.scrollTop += (is - was) * ROW_PX
  }

  #measure() {
    const box = this.#box
    if (box === null) return
    const { scrollTop: top, clientHeight: height } = box
    if (top !== this.state.top || height !== this.state.height) this.setState({ top, height })
  }

  #currentIndex() {
    return this.props.rows.findIndex(({ key }) => key === this.props.current)
  }

  /** Scrolls to a row unless it is in sight. @param {number} index */
  #show(index) {
    const box = this.#box
    if (box === null || index < 0) return
    const top = index * ROW_PX
    if (top < box.scrollTop) box.scrollTop = top
    else if (top + ROW_PX > box.scrollTop + box.clientHeight) {
      box.scrollTop = top + ROW_PX - box.clientHeight
    }
  }

  /** @param {KeyboardEvent} event */
  #onKey(event) {
    const { rows, current, onCurrent, onMark, onOpen } = this.props
    if (event.ctrlKey || event.metaKey || event.altKey) return
    const at = this.#currentIndex()
    const page = Math.max(1, Math.floor(this.state.height / ROW_PX) - 1)
    /** @type {Record<string, number>} */
    const steps = {
      ArrowDown: 1,
      j: 1,
      ArrowUp: -1,
      k: -1,
      PageDown: page,
      PageUp: -page,
      Home: -Infinity,
      End: Infinity,
    }
    const step = steps[event.key]
    if (step !== undefined) {
      const next = Math.min(rows.length - 1, Math.max(0, at + (at === -1 && step < 0 ? 1 : step)))
      const row = rows[next]
      if (row !== undefined) onCurrent(row.key)
      this.#show(next)
    } else if ((event.key === 'm' || event.key === ' ') && current !== null) onMark(current)
    else if (event.key === 'Enter' && current !== null) onOpen()
    else return
    event.preventDefault()
  }

  render() {
    const { rows, current, marked, onCurrent, onMark } = this.props
    const { top, height } = this.state
    const start = Math.max(0, Math.floor(top / ROW_PX) - BEYOND)
    const end = Math.min(rows.length, Math.ceil((top + height) / ROW_PX) + BEYOND)
    const isShown = rows.some(({ key }, index) => key === current && index >= start && index < end)
    return html`<div
      class="calls"
      id="calls"
      role="listbox"
      tabindex="0"
      aria-label="Calls, the newest first"
      aria-activedescendant=${isShown ? `call-${current}` : null}
      ref=${(/** @type {any} */ element) => (this.#box = element ?? this.#box)}
      onScroll=${() => this.#measure()}
      onKeyDown=${(/** @type {KeyboardEvent} */ event) => this.#onKey(event)}
    >
      <div class="calls-all" role="presentation" style=${{ height: `${rows.length * ROW_PX}px` }}>
        ${rows
          .slice(start, end)
          .map(
            (row, index) =>
              html`<${CallLine}
                key=${row.key}
                row=${row}
                index=${start + index}
                count=${rows.length}
                isCurrent=${row.key === current}
                isMarked=${marked.has(row.key)}
                onCurrent=${onCurrent}
                onMark=${onMark}
              />`,
          )}
      </div>
    </div>`
  }
}

/** @param {{ row: Row, index: number, count: number, isCurrent: boolean, isMarked: boolean, onCurrent: (key: string) => void, onMark: (key: string) => void }} props */
function CallLine({ row, index, count, isCurrent, isMarked, onCurrent, onMark }) {
  const { key, at, from, over, what, status, code, ms, times, legs } = row
  return html`<div
    role="option"
    id=${`call-${key}`}
    class="call"
    aria-selected=${isCurrent}
    aria-setsize=${count}
    aria-posinset=${index + 1}
    style=${{ top: `${index * ROW_PX}px` }}
    onClick=${() => onCurrent(key)}
  >
    <span
      class=${`pick ${isMarked ? 'set' : ''}`}
      title="Mark (m)"
      onClick=${(/** @type {Event} */ event) => {
        event.stopPropagation()
        onMark(key)
      }}
      >${isMarked && html`<span class="hidden">marked</span>`}</span
    >
    <time title=${formatExactTime(at)}>${formatSeconds(at)}</time>
    <span class="who"
      ><bdi>${from}</bdi> → <bdi>${over}</bdi>${legs.length > 1 && ' → service'}</span
    >
    <span class="what"
      ><code>${what}</code>${times > 1 && html` <small>${formatNumber(times)} times</small>`}</span
    >
    <span class=${`verdict ${toneOf(status)}`} title=${code}
      >${status === 0 ? 'open' : status} ${code}</span
    >
    <span class="took">${formatDuration(ms)}</span>
  </div>`
}

/** @param {number} status */
function toneOf(status) {
  return status === 0 ? 'open' : status < 400 ? 'good' : 'bad'
}
