/** What the service holds of a message: readable words, or packets and whom they are for. */
import { Component } from './lib/preact.js'
import { Name } from './avatar.js'
import { formatBytes, formatCount, formatNumber } from './format.js'
import { html } from './html.js'
import { Icon } from './icons.js'
import { isSealed } from './mode.js'
import { pictureKey } from './loading.js'
import { isAnonymous, packetsOf } from './packets.js'
import { Raw, Words } from './words.js'

/** @typedef {import('./model.js').Model} Model */
/** @typedef {import('./state.js').StoredMessage} StoredMessage */
/** @typedef {import('./packets.js').Packet} Packet */

/** How many packets of a message are listed at first. */
const PACKETS_SHOWN = 50

/** @param {{ model: Model, stored: StoredMessage }} props */
export function ServiceCell({ model, stored }) {
  const { armored, text, kind, media } = stored
  if (kind !== 'user') {
    return html`<p class="nothing">A service notice: <code>${kind}</code></p>`
  }
  return html`<div class="record">
    ${armored !== null && html`<${Armor} model=${model} armored=${armored} />`}
    ${
      armored === null &&
      text !== null &&
      text !== '' &&
      html`<p>
          <span class="verdict plain"><${Icon} name="open" />it can read this</span>
        </p>
        <${Words} text=${text} />`
    }
    ${media.map(({ id }) => html`<${StoredFile} key=${id} model=${model} id=${id} />`)}
    ${
      stored.markup !== null &&
      html`<p class="note">The buttons, which are never encrypted.</p>
        <${Raw} label="markup" value=${stored.markup} />`
    }
  </div>`
}

/** @param {{ model: Model, id: string }} props */
function StoredFile({ model, id }) {
  const { chat } = model
  const isHidden = chat !== null && isSealed(chat)
  const picture = model.state.pictures.get(pictureKey(model.person?.id ?? 0, id))
  const size = picture?.state === 'shown' ? `, ${formatBytes(picture.storedBytes)}` : ''
  return html`<p class="file">
    <${Icon} name=${isHidden ? 'lock' : 'file'} />${isHidden ? 'a sealed file' : 'a file'}${size}
  </p>`
}

/** @param {{ model: Model, armored: string }} props */
function Armor({ model, armored }) {
  const packets = packetsOf(armored)
  return html`<p class="meta">
      <span class="verdict sealed"><${Icon} name="lock" />sealed</span>
      <span>${formatNumber(armored.length)} characters</span>
    </p>
    <${PacketList} model=${model} packets=${packets} />
    <details class="armor">
      <summary>armor</summary>
      <pre tabindex="0">${armored.trim()}</pre>
    </details>`
}

/**
 * The first packets, and all of them when one asks: a hostile message may have thousands.
 * @extends {Component<{ model: Model, packets: Packet[] }, { hasAll: boolean }>}
 */
class PacketList extends Component {
  state = { hasAll: false }

  render() {
    const { model, packets } = this.props
    const shown = this.state.hasAll ? packets : packets.slice(0, PACKETS_SHOWN)
    const left = packets.length - shown.length
    return html`<ul class="packets">
      ${shown.map(
        (packet, index) =>
          html`<li key=${index}>
            <code>${packet.name}</code>
            <span>${aboutPacket(model, packet)}</span>
          </li>`,
      )}
      ${
        left > 0 &&
        html`<li>
          <button onClick=${() => this.setState({ hasAll: true })}>
            ${formatCount(left, 'more packet')}
          </button>
        </li>`
      }
      ${packets.length === 0 && html`<li>No packets: the armor is broken.</li>`}
    </ul>`
  }
}

/** @param {Model} model @param {Packet} packet */
function aboutPacket(model, { keyId, detail, bytes }) {
  if (keyId === null) return formatBytes(bytes)
  if (isAnonymous(keyId)) return 'to somebody unnamed'
  const owner = model.state.keyOwners.get(keyId)
  const algorithm = detail === '' ? '' : `, ${detail}`
  if (owner === undefined) return `to key ${keyId}, nobody’s here${algorithm}`
  return html`to <${Name} text=${model.nameOf(owner)} />${algorithm}`
}
