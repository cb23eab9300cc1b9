import { html } from './html.js'
import { Icon } from './icons.js'

const HUES = 8
/** A flag or a letter with its accent is one sign. */
const SEGMENTS = new Intl.Segmenter()

/**
 * A round sign for a person, a bot or a group; the name beside it says who it is.
 * @param {{ id: number, name: string, icon?: 'bot' | 'group' }} props
 */
export function Avatar({ id, name, icon }) {
  const [first] = SEGMENTS.segment(name.trim())
  const initial = first?.segment.toUpperCase() ?? '?'
  return html`<span class=${`avatar hue-${Math.abs(id) % HUES}`} aria-hidden="true">
    ${icon === undefined ? initial : html`<${Icon} name=${icon} />`}
  </span>`
}

/**
 * A name that somebody chose: what is in it stays in it, whatever its direction.
 * @param {{ text: string }} props
 */
export function Name({ text }) {
  return html`<bdi class="name">${text}</bdi>`
}
