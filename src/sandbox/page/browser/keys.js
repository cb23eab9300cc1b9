/** Keys of the whole page, and lists that are one stop of Tab. */

/** @typedef {import('./model.js').Model} Model */

/** Where a letter is text, or chooses an option. */
const TYPED_INTO = 'input:not([type="checkbox"]), textarea, select, [contenteditable]'
/** What a key leads to. @type {Record<string, string>} */
const FIELDS = { '/': '#words, .filters [type="search"]', i: '#words' }
const CONTROLS = 'a[href], button, summary, pre'

/** What had the focus before the field where one writes. @type {EventTarget | null} */
let before = null

/**
 * `/` or `i` leads to the field where one writes, or searches. Not with a modifier, in a dialog, or
 * where one types.
 * @param {Model} model
 * @param {KeyboardEvent} event
 */
export function onPageKey(model, event) {
  const { key, target, ctrlKey, metaKey, altKey, defaultPrevented } = event
  if (defaultPrevented || ctrlKey || metaKey || altKey || model.state.dialog !== null) return
  if (target instanceof Element && target.closest(TYPED_INTO) !== null) return
  const field = document.querySelector(FIELDS[key] ?? ':not(*)')
  if (!(field instanceof HTMLElement) || !field.checkVisibility()) return
  event.preventDefault()
  field.focus()
}

/** @param {FocusEvent} event of the field where one writes */
export function onFieldFocus({ relatedTarget }) {
  before = relatedTarget
}

/** Leaves that field for what had the focus before, or for the newest message. */
export function leaveField() {
  const isThere = before instanceof HTMLElement && before.isConnected
  const newest = document.querySelector('.rows > .row:last-child')
  const to = isThere ? before : (newest ?? document.getElementById('main'))
  if (to instanceof HTMLElement) to.focus()
}

/** How many entries a key leads on in a list. @type {Record<string, number>} */
const STEPS = { ArrowDown: 1, ArrowUp: -1, Home: -Infinity, End: Infinity }

/**
 * Moves the focus in a list by the arrow keys, Home and End.
 * @param {KeyboardEvent} event
 * @param {string} selector of the entries in the list that listens
 */
export function onListKey(event, selector) {
  const { key, target, currentTarget, ctrlKey, metaKey, altKey, shiftKey } = event
  const step = STEPS[key]
  if (step === undefined || ctrlKey || metaKey || altKey || shiftKey) return
  if (!(currentTarget instanceof Element) || !(target instanceof Element)) return
  const entries = [...currentTarget.querySelectorAll(selector)]
  const at = entries.indexOf(target)
  if (at === -1) return
  const next = entries[Math.min(entries.length - 1, Math.max(0, at + step))]
  if (next instanceof HTMLElement) next.focus()
  event.preventDefault()
}

/**
 * Makes one row, with its controls, the only stop of Tab among the rows.
 * @param {Element | null} list
 * @param {Element | null} chosen the row; the last one where it is not there any more
 */
export function makeOneStop(list, chosen) {
  const rows = [...(list?.querySelectorAll('.row') ?? [])]
  const stop = chosen !== null && rows.includes(chosen) ? chosen : rows.at(-1)
  for (const row of rows) {
    for (const one of [row, ...row.querySelectorAll(CONTROLS)]) {
      if (one instanceof HTMLElement) one.tabIndex = row === stop ? 0 : -1
    }
  }
}
