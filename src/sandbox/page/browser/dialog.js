import { Component } from './lib/preact.js'
import { IconButton } from './controls.js'
import { html } from './html.js'
import { Notices } from './notices.js'

/**
 * A dialog over the page: Escape, the cross and a press beside it close it, and the focus goes back
 * to where it was.
 * @extends {Component<{ model: import('./model.js').Model, title: string, onClose: () => void, children?: any }>}
 */
export class Dialog extends Component {
  /** @type {HTMLDialogElement | null} */
  #element = null

  componentDidMount() {
    this.#element?.showModal()
  }

  componentWillUnmount() {
    // While it is in the document still, so that the browser can give the focus back.
    if (this.#element?.open === true) this.#element.close()
  }

  render() {
    const { model, title, onClose, children } = this.props
    return html`<dialog
      ref=${(/** @type {any} */ element) => (this.#element = element ?? this.#element)}
      aria-labelledby="dialog-title"
      onClose=${onClose}
      onClick=${(/** @type {MouseEvent} */ { target }) => target === this.#element && this.#element?.close()}
    >
      <div class="dialog">
        <div class="dialog-head">
          <h2 id="dialog-title" dir="auto">${title}</h2>
          <${IconButton} icon="close" label="Close" onClick=${() => this.#element?.close()} />
        </div>
        ${children}
      </div>
      <${Notices} model=${model} />
    </dialog>`
  }
}

/**
 * A form whose fields are read by their names when it is sent. Closes by itself once that is done.
 * @param {{ label: string, onSend: (fields: FormData) => Promise<boolean>, onDone?: () => void, children?: any }} props
 */
export function Form({ label, onSend, onDone, children }) {
  /** @param {any} event */
  const onSubmit = async (event) => {
    event.preventDefault()
    if (await onSend(new FormData(event.currentTarget))) onDone?.()
  }
  return html`<form class="fields" onSubmit=${onSubmit}>
    ${children}
    <div class="buttons"><button class="primary">${label}</button></div>
  </form>`
}

/** @param {FormData} fields @param {string} name */
export function textIn(fields, name) {
  const value = fields.get(name)
  return typeof value === 'string' ? value.trim() : ''
}
