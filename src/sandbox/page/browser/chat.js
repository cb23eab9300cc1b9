import { Component } from './lib/preact.js'
import { Name } from './avatar.js'
import { Composer } from './composer.js'
import { control } from './api.js'
import { formatCount } from './format.js'
import { html } from './html.js'
import { Icon } from './icons.js'
import { isLie, lieName } from './lies.js'
import { partsOf, PhantomRow, RefusedRow, Row } from './row.js'

/** @typedef {import('./model.js').Model} Model */
/** @typedef {import('./state.js').Chat} Chat */

/** The parts of the state that the messages are drawn from. @type {(keyof import('./state.js').State)[]} */
// prettier-ignore
const SHOWN_HERE = [
  'open', 'route', 'people', 'bots', 'chats', 'traffic', 'calls', 'attachedTo', 'pictures', 'keyOwners',
]

/** A chat: what a person, the bot and the service see of it, line by line. @param {{ model: Model }} props */
export function ChatView({ model }) {
  const { chat, person } = model
  if (chat === null || person === null) return html`<${NoChat} model=${model} />`
  return html`<section class="chat" aria-labelledby="chat-title">
    <${Head} model=${model} chat=${chat} />
    <${Lies} model=${model} />
    <${ColumnHeads} model=${model} />
    <${Rows} key=${`${person.id} ${chat.id}`} model=${model} state=${model.state} />
    <${Composer} model=${model} />
  </section>`
}

/** @param {{ model: Model }} props */
function NoChat({ model }) {
  const { person } = model
  const { route } = model.state
  if (route.view === 'chat' && route.chatId !== null) {
    return html`<div class="blank">
      <h1>There is no chat ${route.chatId}</h1>
      <p>It may be of a world that was put back, or of another one.</p>
    </div>`
  }
  if (person === null) {
    return html`<div class="blank">
      <h1>Nobody is here yet</h1>
      <p>Add a person and a bot, and let them meet.</p>
      <button class="primary" onClick=${() => model.ask({ kind: 'person' })}>
        <${Icon} name="plus" />New person
      </button>
    </div>`
  }
  return html`<div class="blank">
    <h1>${person.firstName} has no chat yet</h1>
    <p>Open a chat with a bot, or make a group.</p>
    <button class="primary" onClick=${() => model.ask({ kind: 'chat' })}>
      <${Icon} name="plus" />New chat
    </button>
  </div>`
}

/** @param {{ model: Model, chat: Chat }} props */
function Head({ model, chat }) {
  const { person, isMember } = model
  const isRoom = chat.kind !== 'private'
  const isSealed = chat.mode === 'protected'
  const where = { chatId: chat.id, userId: person?.id ?? 0 }
  return html`<div class="chat-head">
    <div class="chat-name">
      <h1 id="chat-title"><${Name} text=${model.titleOf(chat)} /></h1>
      <p>
        <span class=${`badge ${isSealed ? 'sealed' : 'readable'}`}>
          <${Icon} name=${isSealed ? 'lock' : 'open'} />${isSealed ? 'encrypted' : 'readable'}
        </span>
        <button class="members" onClick=${() => model.ask({ kind: 'members', chatId: chat.id })}>
          ${
            isRoom
              ? formatCount(chat.members.length, 'member')
              : html`with <${Name} text=${model.titleOf(chat)} />`
          }
        </button>
      </p>
    </div>
    <div class="chat-actions">
      ${
        isRoom &&
        html`<button
          onClick=${() => model.attempt(() => (isMember ? control.leave(where) : control.join(where)))}
        >
          ${isMember ? 'Leave' : 'Join'}
        </button>`
      }
      <button onClick=${() => model.ask({ kind: 'lies', chatId: chat.id })}>
        <${Icon} name="mask" />Misbehave
      </button>
    </div>
  </div>`
}

/** Says that the service does not behave. @param {{ model: Model }} props */
function Lies({ model }) {
  const { faults } = model.state
  const active = faults.filter(({ left }) => left !== 0)
  if (active.length === 0) return null
  return html`<div class="lies" role="status">
    <${Icon} name="mask" />
    <p>
      ${active.some(({ name }) => isLie(name)) ? 'The service lies: ' : 'The service is at fault: '}
      ${active.map(({ name }) => lieName(name)).join(', ')}
    </p>
    <button onClick=${() => model.attempt(() => control.clearFaults())}>Behave again</button>
  </div>`
}

/** @param {{ model: Model }} props */
function ColumnHeads({ model }) {
  const { person, bot } = model
  return html`<div class="column-heads" aria-hidden="true">
    <div class="head person-head">
      <${Icon} name="person" /><span><${Name} text=${person?.firstName ?? ''} /> sees</span>
    </div>
    <div class="head bot-head">
      <${Icon} name="bot" />
      <span>${bot === null ? 'No bot here' : html`<${Name} text=${bot.name} /> sees`}</span>
      ${bot !== null && html`<${Attached} model=${model} />`}
    </div>
    <div class="head service-head"><${Icon} name="service" /><span>The service sees</span></div>
  </div>`
}

/** @param {{ model: Model }} props */
function Attached({ model }) {
  if (model.isAttached) return html`<span class="attached">through its sidecar</span>`
  return html`<span
    class="attached none"
    title="This page watches a sidecar that runs in the process of the sandbox: postern dev, postern demo."
    >no sidecar attached</span
  >`
}

/**
 * The messages, and what was refused, in the order in which they happened. Stays at its end, where
 * one is there.
 * @extends {Component<{ model: Model, state: import('./state.js').State }, { isAway: boolean }>}
 */
class Rows extends Component {
  state = { isAway: false }
  /** @type {HTMLElement | null} */
  #scroller = null
  /** @type {number | null} Of the message that one was led to. */
  #ledTo = null

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
    this.#lead()
  }

  componentDidUpdate() {
    this.#lead()
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
    const { key, target } = event
    const { model } = this.props
    if (!(target instanceof HTMLElement) || !target.classList.contains('row')) return
    if (key === 'ArrowDown' || key === 'ArrowUp') {
      const next = key === 'ArrowDown' ? target.nextElementSibling : target.previousElementSibling
      if (next instanceof HTMLElement) next.focus()
      event.preventDefault()
    }
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
          onKeyDown=${(/** @type {KeyboardEvent} */ event) => this.#onKey(event)}
        >
          ${open !== null && entriesOf(model).map((entry) => showEntry(model, entry, target))}
        </ol>
      </div>
      ${open !== null && open.stored.length === 0 && html`<${Quiet} model=${model} />`}
      ${
        this.state.isAway &&
        html`<button class="latest" onClick=${() => this.#scroller?.scrollTo({ top: 0 })}>
          <${Icon} name="down" />Latest
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
