/** Whether a chat is encrypted, and whether the service says so too. */
import { html } from './html.js'
import { Icon } from './icons.js'

/** @typedef {import('./state.js').Chat} Chat */

/** Whether phones seal in a chat, whatever the service claims. @param {Chat} chat */
export function isSealed({ trueMode }) {
  return trueMode === 'protected'
}

/** @param {Chat} chat */
function describeMode(chat) {
  const words = (/** @type {Chat['mode']} */ mode) =>
    mode === 'protected' ? 'encrypted' : 'readable'
  const { mode, trueMode } = chat
  return mode === trueMode
    ? words(trueMode)
    : `${words(trueMode)}; the service claims ${words(mode)}`
}

/** @param {Chat} chat */
function toneOf(chat) {
  if (chat.mode !== chat.trueMode) return 'problem'
  return isSealed(chat) ? 'sealed' : 'readable'
}

/** The mode in words. @param {{ chat: Chat }} props */
export function ModeBadge({ chat }) {
  return html`<span class=${`badge ${toneOf(chat)}`}>
    <${Icon} name=${isSealed(chat) ? 'lock' : 'open'} />${describeMode(chat)}
  </span>`
}

/** The mode as a sign, in words for those who listen. @param {{ chat: Chat }} props */
export function ModeSign({ chat }) {
  return html`<span class=${`mode ${toneOf(chat)}`} title=${describeMode(chat)}>
    <${Icon} name=${isSealed(chat) ? 'lock' : 'open'} />
    <span class="hidden">${describeMode(chat)}</span>
  </span>`
}
