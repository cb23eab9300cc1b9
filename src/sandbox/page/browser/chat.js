import { Name } from './avatar.js'
import { Composer } from './composer.js'
import { control } from './api.js'
import { formatCount } from './format.js'
import { html } from './html.js'
import { Icon } from './icons.js'
import { isLie, lieName } from './lies.js'
import { ModeBadge } from './mode.js'
import { Rows } from './rows.js'

/** @typedef {import('./model.js').Model} Model */
/** @typedef {import('./state.js').Chat} Chat */

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
  const [kind, title, advice] =
    person === null
      ? ['person', 'Nobody is here yet', 'Add a person and a bot, and let them meet.']
      : ['chat', `${person.firstName} has no chat yet`, 'Open a chat with a bot, or make a group.']
  return html`<div class="blank">
    <h1>${title}</h1>
    <p>${advice}</p>
    <button class="primary" onClick=${() => model.ask({ kind })}>
      <${Icon} name="plus" />New ${kind}
    </button>
  </div>`
}

/** @param {{ model: Model, chat: Chat }} props */
function Head({ model, chat }) {
  const { person, isMember } = model
  const isRoom = chat.kind !== 'private'
  const where = { chatId: chat.id, userId: person?.id ?? 0 }
  return html`<div class="chat-head">
    <div class="chat-name">
      <h1 id="chat-title"><${Name} text=${model.titleOf(chat)} /></h1>
      <p>
        <${ModeBadge} chat=${chat} />
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
      <button onClick=${() => model.ask({ kind: 'save', chatId: chat.id })}>
        <${Icon} name="file" />Save as a test
      </button>
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
