/** Buttons and fields of a form that several views have. */
import { html } from './html.js'
import { Icon } from './icons.js'

/** A button that is an icon. @param {{ icon: string, label: string, title?: string, onClick: () => void }} props */
export function IconButton({ icon, label, title, onClick }) {
  return html`<button
    type="button"
    class="plain"
    title=${title}
    aria-label=${label}
    onClick=${onClick}
  >
    <${Icon} name=${icon} />
  </button>`
}

/**
 * A box to check, with the attributes of its input.
 * @param {{ children?: any, onCheck?: (isChecked: boolean) => void, [attribute: string]: any }} props
 */
export function Check({ children, onCheck, ...input }) {
  const onChange = (/** @type {any} */ { currentTarget }) => onCheck?.(currentTarget.checked)
  return html`<label class="check">
    <input type="checkbox" ...${input} onChange=${onChange} />
    <span>${children}</span>
  </label>`
}

/** @param {{ name: string, label: string, options: (string | number)[][] }} props */
export function Select({ name, label, options }) {
  return html`<label
    >${label}
    <select name=${name}>
      ${options.map(
        ([value, words = value]) => html`<option key=${value} value=${value}>${words}</option>`,
      )}
    </select>
  </label>`
}
