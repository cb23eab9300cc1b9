import { Avatar, Name } from './avatar.js'
import { html } from './html.js'
import { Icon } from './icons.js'
import { onListKey } from './keys.js'
import { ModeSign } from './mode.js'
import { SidecarStatus, WorldChoice } from './sidecar-status.js'

/** @typedef {import('./model.js').Model} Model */
/** @typedef {import('./state.js').Chat} Chat */

/** Who one is, the chats, and the ways to the rest. @param {{ model: Model }} props */
export function Sidebar({ model }) {
  const { chats, isMenuOpen, route } = model.state
  const { person } = model
  const own = chats.filter(({ members }) => person !== null && members.includes(person.id))
  const others = chats.filter((chat) => chat.kind !== 'private' && !own.includes(chat))
  // Of Tab, among the chats; the arrow keys lead to the others.
  const stop = [...own, ...others].find(({ id }) => id === model.chat?.id) ?? own[0] ?? others[0]
  return html`<header class="side">
    <div class="brand">
      <svg class="mark" viewBox="0 0 24 24" aria-hidden="true" focusable="false">
        <path d="M4 21V9a8 8 0 0 1 16 0v12" />
        <path d="M9 21v-7a3 3 0 0 1 6 0v7" />
      </svg>
      <span><strong>Postern</strong> sandbox</span>
      <button
        class="plain menu-button"
        aria-expanded=${isMenuOpen}
        aria-controls="menu"
        onClick=${() => model.set({ isMenuOpen: !isMenuOpen })}
      >
        <${Icon} name=${isMenuOpen ? 'close' : 'menu'} /><span class="hidden">Menu</span>
      </button>
    </div>
    <${SidecarStatus} model=${model} />
    <div class="menu" id="menu">
      <${WorldChoice} model=${model} />
      <section aria-labelledby="you-are">
        <h2 id="you-are">You are</h2>
        <ul class="people" onKeyDown=${onEntryKey}>
          ${model.state.people
            .filter(({ gone }) => !gone)
            .map(
              (one) =>
                html`<li key=${one.id}>
                  <button
                    class="entry"
                    aria-pressed=${one.id === person?.id}
                    tabindex=${one.id === person?.id ? 0 : -1}
                    onClick=${() => model.become(one)}
                    title=${`@${one.username}`}
                  >
                    <${Avatar} id=${one.id} name=${one.firstName} />
                    <${Name} text=${one.firstName} />
                  </button>
                </li>`,
            )}
          <${NewEntry} model=${model} kind="person" />
        </ul>
      </section>
      <nav aria-label="Chats" class="chats" onKeyDown=${onEntryKey}>
        <h2>Chats</h2>
        <ul>
          ${own.map((chat) => html`<${ChatLink} key=${chat.id} model=${model} chat=${chat} isStop=${chat === stop} />`)}
          <${NewEntry} model=${model} kind="chat" />
        </ul>
        ${
          others.length > 0 &&
          html`<h2>Not joined</h2>
            <ul>
              ${others.map((chat) => html`<${ChatLink} key=${chat.id} model=${model} chat=${chat} isStop=${chat === stop} />`)}
            </ul>`
        }
      </nav>
      <nav aria-label="Sandbox" class="sandbox-links">
        ${['World', 'Activity'].map((label) => {
          const view = label.toLowerCase()
          const current = route.view === view ? 'page' : null
          return html`<a class="entry" key=${view} href=${`#/${view}`} aria-current=${current}>
            <${Icon} name=${view} />${label}
          </a>`
        })}
      </nav>
    </div>
  </header>`
}

/** @param {{ model: Model, kind: 'person' | 'chat' }} props */
function NewEntry({ model, kind }) {
  return html`<li>
    <button class="entry quiet" onClick=${() => model.ask({ kind })}>
      <span class="avatar ghost"><${Icon} name="plus" /></span>New ${kind}
    </button>
  </li>`
}

/** @param {KeyboardEvent} event */
const onEntryKey = (event) => onListKey(event, '.entry:not(.quiet)')

/** @param {{ model: Model, chat: Chat, isStop: boolean }} props */
function ChatLink({ model, chat, isStop }) {
  const isOpen = chat.id === model.chat?.id
  const isUnread = model.state.unread.has(chat.id)
  const title = model.titleOf(chat)
  const partner = chat.members.find((id) => id !== model.person?.id) ?? chat.id
  return html`<li>
    <a
      class="entry"
      href=${model.addressOf(chat)}
      aria-current=${isOpen ? 'page' : null}
      tabindex=${isStop ? 0 : -1}
    >
      <${Avatar}
        id=${chat.kind === 'private' ? partner : chat.id}
        name=${title}
        icon=${chat.kind !== 'private' ? 'group' : model.isBot(partner) ? 'bot' : undefined}
      />
      <${Name} text=${title} />
      <${ModeSign} chat=${chat} />
      ${isUnread && html`<span class="dot"><span class="hidden">something new</span></span>`}
    </a>
  </li>`
}
