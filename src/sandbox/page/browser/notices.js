import { IconButton } from './controls.js'
import { html } from './html.js'

/** @typedef {import('./model.js').Model} Model */

/** What happened, or why something was not done, for a while. @param {{ model: Model }} props */
export function Notices({ model }) {
  return html`<div class="notices" role="status" aria-live="polite" aria-label="Notices">
    ${model.state.notices.map(
      ({ id, tone, text }) =>
        html`<div class=${`notice ${tone}`} key=${id}>
          <p dir="auto">${text}</p>
          <${IconButton} icon="close" label="Dismiss" onClick=${() => model.dismiss(id)} />
        </div>`,
    )}
  </div>`
}
