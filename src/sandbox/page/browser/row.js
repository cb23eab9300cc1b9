/** A message, or a refused call, with a cell for each who sees something of it. */
import { Component } from './lib/preact.js'
import { BotCell, Seen } from './bot-cell.js'
import { messageKey } from './bot-view.js'
import { formatExactTime, formatTime } from './format.js'
import { html } from './html.js'
import { Icon } from './icons.js'
import { PersonCell } from './person-cell.js'
import { ServiceCell } from './service-cell.js'
import { Raw, Words } from './words.js'

/** @typedef {import('./model.js').Model} Model */
/** @typedef {import('./state.js').StoredMessage} StoredMessage */
/** @typedef {import('./state.js').ShownMessage} ShownMessage */
/** @typedef {import('./bot-view.js').Sighting} Sighting */
/** @typedef {import('./bot-view.js').Press} Press */
/** @typedef {import('./bot-view.js').Sent} Sent */

/**
 * What a row is drawn from. It is drawn anew where one of these is another one.
 * @typedef {object} RowParts
 * @property {StoredMessage} stored
 * @property {ShownMessage | null} shown
 * @property {ShownMessage | null} quoted
 * @property {(Sighting | Press | Sent)[]} entries what the bot got of it and said
 * @property {string} progress of the entries, which only grow and are answered
 * @property {number | undefined} waits the update that waits for the bot
 * @property {unknown[]} around what all rows depend on
 */

/** @param {Model} model @param {StoredMessage} stored @returns {RowParts} */
export function partsOf(model, stored) {
  const { open, people, bots, chats, attachedTo, keyOwners, pictures } = model.state
  const shown = open?.shown?.get(stored.id) ?? null
  const entries = model.botView.byMessage.get(messageKey(open?.chatId ?? 0, stored.id)) ?? []
  const files = stored.media.length > 0 ? [pictures, model.botView] : []
  return {
    stored,
    shown,
    quoted: open?.shown?.get(shown?.replyTo ?? 0) ?? null,
    entries,
    progress: entries
      .map((entry) => `${entry.kind}${'answer' in entry && entry.answer !== null}`)
      .join(),
    waits: open?.waiting.get(stored.id),
    around: [people, bots, chats, attachedTo, keyOwners, ...files],
  }
}

/**
 * A message as each of the three sees it.
 * @extends {Component<{ model: Model, isTarget: boolean } & RowParts>}
 */
export class Row extends Component {
  /** @param {{ isTarget: boolean } & RowParts} next */
  shouldComponentUpdate(next) {
    const { isTarget, stored, shown, quoted, progress, waits, around } = this.props
    const now = [isTarget, stored, shown, quoted, progress, waits, ...around]
    const then = [next.isTarget, next.stored, next.shown, next.quoted, next.progress, next.waits]
    return [...then, ...next.around].some((part, index) => part !== now[index])
  }

  render() {
    const { model, isTarget, stored, shown, quoted, entries, waits } = this.props
    const { bot } = model
    const author = model.nameOf(stored.fromId)
    return html`<li
      id=${`message-${stored.id}`}
      data-message-id=${stored.id}
      class=${`row ${isTarget ? 'target' : ''}`}
      aria-label=${`${author}, ${formatTime(stored.date)}`}
    >
      <${PersonSees} model=${model}>
        <${PersonCell} model=${model} stored=${stored} shown=${shown} quoted=${quoted} />
      <//>
      <${Cell} icon="bot" label=${bot === null ? 'No bot here' : `${bot.name} sees`}>
        <${BotCell} model=${model} stored=${stored} entries=${entries} waits=${waits} />
      <//>
      <${ServiceSees}><${ServiceCell} model=${model} stored=${stored} /><//>
    </li>`
  }
}

/**
 * What the bot got of a message that is not there: it was deleted since, or the service made it up.
 * @param {{ model: Model, sighting: Sighting }} props
 */
export function PhantomRow({ model, sighting }) {
  return html`<li class="row" aria-label="A message that only the bot got">
    <${PersonSees} model=${model}>
      <p class="nothing">Nothing: no such message is in this chat.</p>
    <//>
    <${Cell} icon="bot" label=${`${model.bot?.name ?? 'The bot'} sees`}>
      <${Seen} model=${model} sighting=${sighting} isAgain=${false} />
    <//>
    <${ServiceSees}>
      <p class="nothing">Nothing: it was deleted since, or the service made it up.</p>
    <//>
  </li>`
}

/**
 * A call of the bot that was refused: nobody else sees anything of it.
 * @param {{ model: Model, refused: import('./bot-view.js').Refused }} props
 */
export function RefusedRow({ model, refused }) {
  const { exchange, request, error, at } = refused
  const path = exchange.path.split('?', 1)[0]?.replace(/^\/bot\/v1/, '')
  const isBySidecar = String(error?.code).startsWith('postern_')
  const by = model.isAttached && isBySidecar ? 'the sidecar' : 'the service'
  return html`<li class="row refused" aria-label="Refused call">
    <div class="cell person-cell empty"></div>
    <${Cell} icon="bot" label=${`${model.bot?.name ?? 'The bot'} is refused`}>
      <div class="card problem">
        <p class="meta">
          <code>${exchange.method} ${path}</code>
          <time title=${formatExactTime(at)}>${formatTime(at)}</time>
        </p>
        ${typeof request?.text === 'string' && html`<${Words} text=${request.text} />`}
        <p><span class="verdict bad">${exchange.status} ${error?.code}</span> by ${by}</p>
        <p class="note" dir="auto">${error?.message}</p>
        <${Raw} label="JSON" value=${{ request, error }} />
      </div>
    <//>
    <div class="cell service-cell empty"></div>
  </li>`
}

/** @param {{ icon: 'person' | 'bot' | 'service', label: string, children?: any }} props */
function Cell({ icon, label, children }) {
  return html`<div class=${`cell ${icon}-cell`}>
    <p class="label"><${Icon} name=${icon} /><span dir="auto">${label}</span></p>
    ${children}
  </div>`
}

/** @param {{ model: Model, children?: any }} props */
const PersonSees = ({ model, children }) =>
  html`<${Cell} icon="person" label=${`${model.person?.firstName ?? ''} sees`}>${children}<//>`

/** @param {{ children?: any }} props */
const ServiceSees = ({ children }) =>
  html`<${Cell} icon="service" label="The service sees">${children}<//>`
