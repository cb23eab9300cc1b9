/** The messages of a chat, line by line, in a box that stays at its end. */
import { Component } from './lib/preact.js'
import { formatDay, formatNumber } from './format.js'
import { html } from './html.js'
import { Icon } from './icons.js'
import { makeOneStop, onListKey } from './keys.js'
import { partsOf, PhantomRow, RefusedRow, Row } from './row.js'

/** @typedef {import('./model.js').Model} Model */

/** The parts of the state that the messages are drawn from. @type {(keyof import('./state.js').State)[]} */
// prettier-ignore
const SHOWN_HERE = [
  'open', 'route', 'people', 'bots', 'chats', 'traffic', 'calls', 'attachedTo', 'pictures', 'keyOwners',
]

/**
 * The messages, and what was refused, in the order in which they happened. Stays at its end, where
 * one is there.
 * @extends {Component<{ model: Model, state: import('./state.js').State }, { isAway: boolean }>}
 */
export class Rows extends Component {
  state = { isAway: false }
  /** @type {HTMLElement | null} */
  #scroller = null
  /** @type {HTMLElement | null} */
  #list = null
  /** The row that had the focus last. @type {Element | null} */
  #chosen = null
  /** @type {number | null} Of the message that one was led to. */
  #ledTo = null
  /** Id of the newest message; 0 before the chat is loaded. */
  #newest = 0
  /** Id of the newest message when one was at the end last. */
  #readTo = 0

  /**
   * Not for every letter that is typed below.
   * @param {{ state: import('./state.js').State }} props
   * @param {{ isAway: boolean }} own
   */
  shouldComponentUpdate({ state }, own) {
    const before = this.props.state
    return (
      own.isAway !== this.state.isAway || SHOWN_HERE.some((part) => state[part] !== before[part])
    )
  }

  componentDidMount() {
    makeOneStop(this.#list, this.#chosen)
    this.#lead()
  }

  componentDidUpdate() {
    makeOneStop(this.#list, this.#chosen)
    this.#lead()
    this.#follow()
  }

  /** @param {FocusEvent} event */
  #onFocus({ target }) {
    const row = target instanceof Element ? target.closest('.row') : null
    if (row === null || row === this.#chosen) return
    this.#chosen = row
    makeOneStop(this.#list, row)
  }

  /** Leads to what one wrote oneself, wherever one was. */
  #follow() {
    const { open } = this.props.model.state
    const newest = open?.stored.at(-1)
    const isNew = newest !== undefined && newest.id > this.#newest
    if (isNew && this.#newest > 0 && newest.fromId === open?.personId) this.#goToEnd()
    if (isNew) this.#newest = newest.id
    if (!this.state.isAway) this.#readTo = this.#newest
  }

  #goToEnd() {
    this.#scroller?.scrollTo({ top: 0 })
  }

  /** Goes to the message that the address names, once. */
  #lead() {
    const { route, open } = this.props.model.state
    const messageId = route.view === 'chat' ? route.messageId : null
    if (messageId === this.#ledTo || open === null) return
    this.#ledTo = messageId
    const row = messageId === null ? null : document.getElementById(`message-${messageId}`)
    row?.scrollIntoView({ block: 'center' })
    row?.focus({ preventScroll: true })
  }

  /** @param {KeyboardEvent} event */
  #onKey(event) {
    const { key, target, ctrlKey, metaKey, altKey } = event
    const { model } = this.props
    if (!(target instanceof HTMLElement) || ctrlKey || metaKey || altKey) return
    onListKey(event, '.row')
    const row = target.closest('.row')
    if (key === 'Escape' && row !== target && row instanceof HTMLElement) row.focus()
    const messageId = Number(target.dataset['messageId'])
    if (key === 'r' && messageId > 0 && model.isMember) {
      model.setDraft({ replyTo: messageId, editing: null })
      document.getElementById('words')?.focus()
      event.preventDefault()
    }
  }

  render() {
    const { model } = this.props
    const { open, route } = model.state
    const target = route.view === 'chat' ? route.messageId : null
    const unread = (open?.stored ?? []).filter(({ id }) => id > this.#readTo).length
    const onScroll = () => {
      const isAway = (this.#scroller?.scrollTop ?? 0) < -200
      if (isAway !== this.state.isAway) this.setState({ isAway })
    }
    return html`<div class="stage">
      <div
        class="scroller"
        ref=${(/** @type {any} */ element) => (this.#scroller = element)}
        onScroll=${onScroll}
      >
        <ol
          class="rows"
          aria-label="Messages"
          ref=${(/** @type {any} */ element) => (this.#list = element)}
          onFocusIn=${(/** @type {FocusEvent} */ event) => this.#onFocus(event)}
          onKeyDown=${(/** @type {KeyboardEvent} */ event) => this.#onKey(event)}
        >
          ${open !== null && showEntries(model, target)}
        </ol>
      </div>
      ${open !== null && open.stored.length === 0 && html`<${Quiet} model=${model} />`}
      ${
        this.state.isAway &&
        html`<button class="latest" onClick=${() => this.#goToEnd()}>
          <${Icon}
            name="down"
          />Latest${unread > 0 && html` <span class="count">${formatNumber(unread)} new</span>`}
        </button>`
      }
      <${Typing} model=${model} />
    </div>`
  }
}

/** @param {{ model: Model }} props */
function Quiet({ model }) {
  const { bot, isMember } = model
  return html`<div class="quiet-chat">
    <p>
      ${
        isMember
          ? `Nothing was said here yet. Write something, and see what becomes of it${bot === null ? '' : ' on its way to the bot'}.`
          : 'Nothing was said here yet.'
      }
    </p>
  </div>`
}

/** @param {{ model: Model }} props */
function Typing({ model }) {
  const typing = model.state.open?.typing ?? []
  if (typing.length === 0) return null
  return html`<p class="typing" role="status">
    <span class="dots" aria-hidden="true"><i></i><i></i><i></i></span>
    ${typing.map((id) => model.nameOf(id)).join(', ')} ${typing.length === 1 ? 'is' : 'are'} typing
  </p>`
}

/**
 * What happened in the chat: messages that are there, what the bot got without there being such a
 * message, and its calls that were refused.
 * @param {Model} model
 * @returns {({ at: number, phantom: import('./bot-view.js').Sighting } | { at: number, stored: import('./state.js').StoredMessage } | { at: number, refused: import('./bot-view.js').Refused })[]}
 */
function entriesOf(model) {
  const { open } = model.state
  const messages = (open?.stored ?? []).map((stored) => ({ at: stored.date, stored }))
  const refusals = model.botView.refused
    .filter(({ chatId, exchange }) => chatId === open?.chatId && exchange.method !== 'GET')
    .map((refused) => ({ at: refused.at, refused }))
  const there = new Set(messages.map(({ stored }) => stored.id))
  const phantoms = [...model.botView.byMessage.values()].flat().flatMap((one) => {
    if (one.kind !== 'message' || one.message.chat?.id !== open?.chatId) return []
    return there.has(one.message.id) ? [] : [{ at: one.at, phantom: one }]
  })
  return [...messages, ...phantoms, ...refusals].sort((one, other) => one.at - other.at)
}

/**
 * Every entry, with a line where a day begins.
 * @param {Model} model
 * @param {number | null} target
 */
function showEntries(model, target) {
  let day = ''
  return entriesOf(model).flatMap((entry) => {
    const before = day
    day = formatDay(entry.at)
    const shown = showEntry(model, entry, target)
    return day === before
      ? [shown]
      : [html`<li class="day" key=${day}><span>${day}</span></li>`, shown]
  })
}

/**
 * @param {Model} model
 * @param {ReturnType<typeof entriesOf>[number]} entry
 * @param {number | null} target
 */
function showEntry(model, entry, target) {
  if ('refused' in entry) {
    const { refused } = entry
    return html`<${RefusedRow} key=${`refused-${refused.n}`} model=${model} refused=${refused} />`
  }
  if ('phantom' in entry) {
    const { phantom } = entry
    return html`<${PhantomRow}
      key=${`phantom-${phantom.updateId}`}
      model=${model}
      sighting=${phantom}
    />`
  }
  const { stored } = entry
  return html`<${Row}
    key=${stored.id}
    model=${model}
    isTarget=${stored.id === target}
    ...${partsOf(model, stored)}
  />`
}
