import { control } from './api.js'
import { Name } from './avatar.js'
import { html } from './html.js'
import { Component } from './lib/preact.js'

/** @typedef {import('./model.js').Model} Model */

/**
 * The safety number that a person's phone shows of a bot; anew whenever a key is another one.
 * @extends {Component<{ model: Model, userId: number, botId: number, keys: unknown }, { digits: string, text: string }>}
 */
export class SafetyNumber extends Component {
  state = { digits: '', text: '' }

  componentDidMount() {
    void this.#load()
  }

  /** @param {{ keys: unknown }} before */
  componentDidUpdate(before) {
    if (before.keys !== this.props.keys) void this.#load()
  }

  async #load() {
    const { model, userId, botId } = this.props
    await model.attempt(async () => {
      const number = await control.safetyNumber({ userId, botId })
      this.setState(number ?? { digits: '', text: '' })
    })
  }

  render() {
    const { model, userId, botId } = this.props
    const { digits, text } = this.state
    if (digits === '') return null
    const [person, bot] = [userId, botId].map((id) => html`<${Name} text=${model.nameOf(id)} />`)
    const groups = digits.match(/.{5}/g) ?? []
    return html`<section class="safety-number" aria-label="Safety number">
      <h3>Safety number of ${person} and ${bot}</h3>
      <ol>
        ${groups.map((group, at) => html`<li key=${at}>${group}</li>`)}
      </ol>
      <p class="note">
        Where <code>postern trust show</code> prints the same number, both have each other’s key.
        This is the text of its QR code:
      </p>
      <p class="fingerprint">${text}</p>
    </section>`
  }
}
