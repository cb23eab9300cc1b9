import { control } from './api.js'
import { Select } from './controls.js'
import { Form, textIn } from './dialog.js'
import { NOTICED } from './fault-kinds.js'
import { FaultField, faultOptions } from './fault-fields.js'
import { formatCount } from './format.js'
import { html } from './html.js'
import { lieName } from './lies.js'
import { Component } from './lib/preact.js'

/** @typedef {import('./model.js').Model} Model */
/** @typedef {import('../../faults/table.ts').FaultName} FaultName */

/** The faults that are set, and those that one can set. @param {{ model: Model }} props */
export function Faults({ model }) {
  const { faults } = model.state
  return html`<section class="panel" aria-labelledby="faults">
    <h2 id="faults">Faults</h2>
    ${
      faults.length === 0
        ? html`<p class="note">The service behaves.</p>`
        : html`<ul class="faults">
            ${faults.map((fault) => html`<${SetFault} key=${fault.id} model=${model} fault=${fault} />`)}
          </ul>`
    }
    <${NewFault} model=${model} />
  </section>`
}

/** @param {{ model: Model, fault: import('./state.js').Fault }} props */
function SetFault({ model, fault }) {
  const { id, name, route, struck, left } = fault
  return html`<li>
    <div>
      <p><strong>${lieName(name)}</strong></p>
      <p class="note">${describe(model, name)}</p>
      <p class="note">
        ${route === undefined ? '' : `${route}, `}${'struck '}
        ${formatCount(struck, 'time')}${left === null ? '' : `, ${left} left`}
      </p>
    </div>
    <button onClick=${() => model.attempt(() => control.clearFaults({ id }))}>End</button>
  </li>`
}

/** The sentence of a fault. @param {Model} model @param {FaultName} name */
const describe = ({ state: { faultKinds } }, name) =>
  faultKinds?.kinds[name].does.replaceAll('`', '') ?? ''

/** @extends {Component<{ model: Model }, { name: FaultName }>} */
class NewFault extends Component {
  state = { name: /** @type {FaultName} */ ('lost-answer') }

  /** @param {FormData} form */
  async #set(form) {
    const { name } = this.state
    const times = Number(form.get('times'))
    const after = Number(form.get('after'))
    const route = textIn(form, 'route')
    const botId = Number(form.get('botId'))
    await control.fault({
      name,
      ...(await faultOptions(form, this.#fields)),
      ...(route === '' ? {} : { route: /** @type {any} */ (route) }),
      ...(botId > 0 ? { botId } : {}),
      ...(times > 0 ? { times } : {}),
      ...(after > 0 ? { after } : {}),
    })
  }

  get #fields() {
    return this.props.model.state.faultKinds?.kinds[this.state.name].options ?? []
  }

  render() {
    const { model } = this.props
    const { name } = this.state
    const { bots, faultKinds } = model.state
    const routes = faultKinds?.routes ?? []
    return html`<${Form}
      label="Set"
      onSend=${(/** @type {FormData} */ form) => model.attempt(() => this.#set(form))}
    >
      <label
        >Fault
        <select
          name="name"
          value=${name}
          aria-describedby="fault-does"
          onChange=${(/** @type {any} */ { currentTarget }) => this.setState({ name: currentTarget.value })}
        >
          ${Object.keys(NOTICED).map((one) => html`<option key=${one} value=${one}>${one}</option>`)}
        </select>
      </label>
      <p class="note" id="fault-does">
        ${describe(model, name)} <strong>Who notices:</strong> ${NOTICED[name]}
      </p>
      ${this.#fields.map((field) => html`<${FaultField} key=${`${name} ${field}`} model=${model} name=${field} />`)}
      <div class="pair">
        <${Select}
          name="route"
          label="Route"
          options=${[['', 'every call'], ...routes.map((one) => [one, one])]}
        />
        <${Select}
          name="botId"
          label="Bot"
          options=${[['', 'every bot'], ...bots.map((one) => [one.id, one.name])]}
        />
        <label>Times <input name="times" type="number" min="1" placeholder="always" /></label>
        <label
          >Calls to let pass first <input name="after" type="number" min="0" placeholder="0"
        /></label>
      </div>
    <//>`
  }
}
