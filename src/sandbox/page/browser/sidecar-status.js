import { restart } from './api.js'
import { formatTime } from './format.js'
import { html } from './html.js'

/** @typedef {import('./model.js').Model} Model */

/** Whether the sidecar does its job, why not and since when; in the header. @param {{ model: Model }} props */
export function SidecarStatus({ model }) {
  const { sidecar } = model.state
  if (sidecar === null) return null
  const { ready, reasons, restarts } = sidecar
  return html`<div class=${`sidecar-status ${ready ? '' : 'problem'}`}>
    <p role="status" class="state">
      <span class="light" aria-hidden="true"></span>${ready ? 'Sidecar ready' : 'Sidecar not ready'}
    </p>
    ${reasons.map(
      ({ code, message, hint, sinceMs }) =>
        html`<div class="reason" key=${code}>
          <p><code>${code}</code> since <time>${formatTime(sinceMs)}</time></p>
          <p>${message}</p>
          <p class="note">${hint}</p>
        </div>`,
    )}
    ${
      restarts.length > 0 &&
      html`<div class="actions">
        ${restarts.map(
          (what) =>
            html`<button
              key=${what}
              onClick=${() =>
                model.attempt(async () => {
                  await restart(what)
                  await model.refreshSidecar()
                  model.notify(`The ${what} was started anew.`)
                })}
            >
              Restart ${what}
            </button>`,
        )}
      </div>`
    }
  </div>`
}

/** Which world of the sandbox the page shows, where there are several. @param {{ model: Model }} props */
export function WorldChoice({ model }) {
  const { worlds, world } = model.state
  if (worlds.length < 2) return null
  return html`<label class="world-choice"
    >World
    <select
      value=${world?.path ?? ''}
      onChange=${(/** @type {any} */ { currentTarget }) => location.assign(`${currentTarget.value}/`)}
    >
      ${worlds.map(({ name, path }) => html`<option key=${name} value=${path}>${name}</option>`)}
    </select>
  </label>`
}
