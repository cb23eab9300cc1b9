import { render } from './lib/preact.js'
import { Activity } from './activity.js'
import { ChatView } from './chat.js'
import { Dialogs } from './dialogs.js'
import { html } from './html.js'
import { onPageKey } from './keys.js'
import { Model } from './model.js'
import { Notices } from './notices.js'
import { Sidebar } from './sidebar.js'
import { World } from './world.js'

const root = /** @type {HTMLElement} */ (document.getElementById('app'))
const shared = new Model(() => show())
shared.start()
addEventListener('keydown', (event) => onPageKey(shared, event))
show()

function show() {
  document.title = titleOf(shared)
  render(html`<${App} model=${shared} />`, root)
}

/** @param {{ model: Model }} props */
function App({ model }) {
  const { isMenuOpen, isLoaded } = model.state
  return html`
    <a class="skip" href="#main" onClick=${skip}>Skip to the content</a>
    ${model.isMember && html`<a class="skip" href="#words" onClick=${skip}>Skip to the field</a>`}
    <div class=${`page ${isMenuOpen ? 'menu-open' : ''}`}>
      <${Sidebar} model=${model} />
      <main id="main" class="main" tabindex="-1">
        ${isLoaded ? html`<${View} model=${model} />` : html`<${Loading} model=${model} />`}
      </main>
    </div>
    <${Connection} model=${model} />
    ${model.state.dialog === null && html`<${Notices} model=${model} />`}
    <${Dialogs} model=${model} />
    <div class="hidden" role="status" aria-live="polite">${model.state.announcement}</div>
  `
}

/** @param {{ model: Model }} props */
function View({ model }) {
  const { view } = model.state.route
  if (view === 'world') return html`<${World} model=${model} />`
  if (view === 'activity') return html`<${Activity} model=${model} />`
  return html`<${ChatView} model=${model} />`
}

/** @param {{ model: Model }} props */
function Loading({ model }) {
  const isLost = model.state.connection === 'lost'
  return html`<div class="blank">
    <h1>${isLost ? 'The sandbox does not answer' : 'Postern sandbox'}</h1>
    <p>${isLost ? 'Start it again; this page goes on by itself.' : 'Loading …'}</p>
  </div>`
}

/** @param {{ model: Model }} props */
function Connection({ model }) {
  const { connection, isLoaded } = model.state
  if (connection !== 'lost' || !isLoaded) return null
  return html`<p class="connection" role="status">
    The sandbox does not answer. This page goes on by itself once it does.
  </p>`
}

/** The fragment of the address says where one is, so it is left alone. @param {any} event */
function skip(event) {
  event.preventDefault()
  document.querySelector(event.currentTarget.getAttribute('href'))?.focus()
}

/** @param {Model} model */
function titleOf(model) {
  const { route, unread } = model.state
  const { chat } = model
  const here = route.view === 'world' ? 'World' : route.view === 'activity' ? 'Activity' : null
  const place = here ?? (chat === null ? 'Sandbox' : model.titleOf(chat))
  return `${unread.size > 0 ? `(${unread.size}) ` : ''}${place} · Postern sandbox`
}
