import { CallDetail } from './call-detail.js'
import { CallList } from './call-list.js'
import { rowsOf } from './calls.js'
import { Check } from './controls.js'
import { formatCount } from './format.js'
import { html } from './html.js'
import { Icon } from './icons.js'
import { distinct, found, NO_FILTER, STATUSES } from './inspector.js'
import { callAddress } from './route.js'

/** @typedef {import('./model.js').Model} Model */
/** @typedef {import('./calls.js').Row} Row */

/** Every call, the newest first, and one of them with its bodies. @param {{ model: Model }} props */
export function Activity({ model }) {
  const { route, inspector } = model.state
  const all = rowsOf(model)
  const rows = found(all, inspector)
  const key = route.view === 'activity' ? route.row : null
  // A row may be folded into a newer one, or filtered away: the address leads to it all the same.
  const current = all.find((row) => row.key === key) ?? null
  const { marked } = inspector
  const choose = (/** @type {string} */ chosen) => model.goQuietly(callAddress(chosen))
  const mark = (/** @type {string} */ chosen) => model.toggleMark(chosen)
  const back = () => {
    document.getElementById('calls')?.focus()
    model.goQuietly('#/activity')
  }
  return html`<div class=${`activity ${current === null ? '' : 'has-current'}`}>
    <div class="activity-head">
      <h1>Activity</h1>
      <p class="note" role="status">
        ${formatCount(rows.length, 'call')}${rows.length < all.length && ` of ${all.length}`}
        ${model.state.attachedTo === null && ' · no sidecar runs in the process of this sandbox'}
      </p>
      <${Filters} model=${model} rows=${all} />
    </div>
    <div class="inspector">
      ${
        rows.length === 0
          ? html`<p class="nothing">
              ${all.length === 0 ? 'Nothing yet.' : 'No call is like that.'}
            </p>`
          : html`<${CallList}
              rows=${rows}
              current=${current?.key ?? null}
              marked=${marked}
              onCurrent=${choose}
              onMark=${mark}
              onOpen=${() => document.getElementById('call-title')?.focus()}
            />`
      }
      ${
        current !== null &&
        html`<${CallDetail}
          key=${current.key}
          model=${model}
          row=${current}
          isMarked=${marked.has(current.key)}
          onMark=${() => mark(current.key)}
          onBack=${back}
        />`
      }
    </div>
  </div>`
}

/** @param {{ model: Model, rows: Row[] }} props */
function Filters({ model, rows }) {
  const { inspector, people, bots } = model.state
  const isFiltered = { ...inspector, marked: NO_FILTER.marked }
  const change = (/** @type {Partial<typeof inspector>} */ filter) => model.filter(filter)
  const names = distinct([
    ...bots.map(({ name }) => name),
    ...people.map(({ firstName }) => firstName),
  ])
  /** @type {[name: 'who' | 'route' | 'status', label: string, all: string, options: string[][]][]} */
  const choices = [
    ['who', 'Who', 'Everybody', [...names, 'sidecar'].map((name) => [name])],
    [
      'route',
      'Route',
      'Every route',
      distinct(rows.map(({ route }) => route)).map((name) => [name]),
    ],
    ['status', 'Status', 'Any status', STATUSES],
  ]
  const value = (/** @type {any} */ { currentTarget }) => currentTarget.value
  return html`<form
    class="filters"
    role="search"
    aria-label="Calls"
    onSubmit=${(/** @type {Event} */ event) => event.preventDefault()}
  >
    <input
      type="search"
      id="call-words"
      aria-label="Search in the calls"
      placeholder="Search"
      value=${inspector.words}
      onInput=${(/** @type {any} */ event) => change({ words: value(event) })}
    />
    ${choices.map(
      ([name, label, all, options]) =>
        html`<select
          key=${name}
          aria-label=${label}
          value=${inspector[name]}
          onChange=${(/** @type {any} */ event) => change({ [name]: value(event) })}
        >
          <option value="">${all}</option>
          ${options.map(([id, words = id]) => html`<option key=${id} value=${id}>${words}</option>`)}
        </select>`,
    )}
    <${Check}
      checked=${inspector.hasErrorsOnly}
      onCheck=${(/** @type {boolean} */ hasErrorsOnly) => change({ hasErrorsOnly })}
      >errors only<//
    >
    <${Check}
      checked=${!inspector.hasIdle}
      onCheck=${(/** @type {boolean} */ isChecked) => change({ hasIdle: !isChecked })}
      >without idle polls and <code>/me</code><//
    >
    ${
      JSON.stringify(isFiltered) !== JSON.stringify(NO_FILTER) &&
      html`<button
        type="button"
        onClick=${() => change({ ...NO_FILTER, marked: inspector.marked })}
      >
        Show all
      </button>`
    }
    <button
      type="button"
      onClick=${() => model.ask({ kind: 'save', chatId: null })}
      disabled=${inspector.marked.size === 0}
    >
      <${Icon} name="file" />Save ${inspector.marked.size} marked as a test
    </button>
  </form>`
}
