import { Component } from './lib/preact.js'
import { copy } from './curl.js'
import { Dialog } from './dialog.js'
import { html } from './html.js'
import { markedMessages } from './marked.js'
import { scenarioOf, seedOf } from './save.js'
import { sceneOf } from './scene.js'

/** @typedef {import('./model.js').Model} Model */
/** @typedef {import('./scene.js').Scene} Scene */
/** @typedef {{ name: string, file: string, write: (scene: Scene) => string }} Form */

/** @type {Form} */
const SCENARIO = { name: 'Scenario', file: 'scenario.json', write: scenarioOf }
/** @type {Form[]} */
const FORMS = [SCENARIO, { name: 'Seed', file: 'seed.json', write: seedOf }]

/**
 * What happened in a chat, or what was marked, as a test.
 * @extends {Component<{ model: Model, chatId: number | null, close: () => void }, { scene: Scene | null, form: Form }>}
 */
export class SaveDialog extends Component {
  state = { scene: /** @type {Scene | null} */ (null), form: SCENARIO }

  componentDidMount() {
    const { model, chatId } = this.props
    void model.attempt(async () => {
      this.setState({ scene: await sceneOf(model, chatId, markedMessages(model)) })
    })
  }

  render() {
    const { model, close } = this.props
    const { scene, form } = this.state
    const { file, write } = form
    const text = scene === null ? '' : write(scene)
    const isEmpty = scene !== null && scene.steps.every(({ id }) => id === undefined)
    return html`<${Dialog} model=${model} title="Save as a test" onClose=${close}>
      <div class="tabs" role="group" aria-label="Form">
        ${FORMS.map(
          (one) =>
            html`<button
              key=${one.name}
              aria-pressed=${one === form}
              onClick=${() => this.setState({ form: one })}
            >
              ${one.name}
            </button>`,
        )}
      </div>
      <p class="note">
        ${isEmpty ? 'Nobody says anything in it: it needs what a person wrote.' : 'It has what people did, and expects what the bot answered: postern sandbox play plays it while the bot runs.'}
      </p>
      <textarea
        class="code"
        readonly
        rows="14"
        aria-label=${file}
        spellcheck=${false}
        value=${text}
      ></textarea>
      <div class="buttons">
        <button onClick=${() => copy(model, file, text)}>Copy</button>
        <a
          class="button primary"
          download=${file}
          href=${`data:text/plain;charset=utf-8,${encodeURIComponent(text)}`}
          >Save ${file}</a
        >
      </div>
    <//>`
  }
}
