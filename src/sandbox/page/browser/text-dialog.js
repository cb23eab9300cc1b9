import { Dialog } from './dialog.js'
import { html } from './html.js'

/**
 * A text to take along by hand, where the browser has no clipboard for this address.
 * @param {{ model: import('./model.js').Model, title: string, text: string, close: () => void }} props
 */
export function TextDialog({ model, title, text, close }) {
  return html`<${Dialog} model=${model} title=${title} onClose=${close}>
    <textarea
      readonly
      rows="8"
      aria-label=${title}
      value=${text}
      onFocus=${(/** @type {any} */ { currentTarget }) => currentTarget.select()}
      autofocus
    ></textarea>
  <//>`
}
