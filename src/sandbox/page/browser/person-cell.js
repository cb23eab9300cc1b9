/** What a person sees of a message, and what they can do with it. */
import { control } from './api.js'
import { Avatar, Name } from './avatar.js'
import { IconButton } from './controls.js'
import { formatBytes, formatExactTime, formatTime } from './format.js'
import { html } from './html.js'
import { Icon } from './icons.js'
import { distinct } from './inspector.js'
import { pictureKey } from './loading.js'
import { chatAddress } from './route.js'
import { Verdict, Words } from './words.js'

/** @typedef {import('./model.js').Model} Model */
/** @typedef {import('./state.js').StoredMessage} StoredMessage */
/** @typedef {import('./state.js').ShownMessage} ShownMessage */

/** What a phone found out, in words. @type {Record<string, [tone: string, words: string]>} */
const PHONE_VERDICTS = {
  verified: ['good', 'signature verified'],
  bad: ['bad', 'signature is not the sender’s'],
  unsigned: ['doubtful', 'not signed'],
  readable: ['plain', 'readable'],
  unopened: ['bad', 'this phone cannot open it'],
}
/** @param {{ model: Model, stored: StoredMessage, shown: ShownMessage | null, quoted: ShownMessage | null }} props */
export function PersonCell({ model, stored, shown, quoted }) {
  const { person, chat } = model
  if (person === null || chat === null) return null
  if (shown === null) {
    const why = model.isMember
      ? `${person.firstName} was not in this chat yet.`
      : `${person.firstName} is not in this chat.`
    return html`<p class="nothing">${why}</p>`
  }
  const author = model.nameOf(stored.fromId)
  const isOwn = stored.fromId === person.id
  if (stored.kind !== 'user') {
    return html`<p class="event">
      <${Name} text=${author} /> ${stored.kind === 'joined' ? 'joined' : 'left'}
    </p>`
  }
  return html`<div class=${`bubble ${isOwn ? 'own' : ''}`}>
    <p class="meta">
      <${Avatar}
        id=${stored.fromId}
        name=${author}
        icon=${model.isBot(stored.fromId) ? 'bot' : undefined}
      />
      <strong><${Name} text=${author} /></strong>
      ${stored.editedAt !== null && html`<span class="edited">edited</span>`}
      <a
        class="time"
        href=${chatAddress(person.username, chat.id, stored.id)}
        title=${formatExactTime(stored.date)}
        ><time>${formatTime(stored.date)}</time></a
      >
    </p>
    <${Quoted} model=${model} quoted=${quoted} />
    ${shown.media.map(({ id }) => html`<${Media} key=${id} model=${model} mediaId=${id} />`)}
    <${Words} text=${shown.text} />
    <${Buttons} model=${model} stored=${stored} />
    <div class="foot">
      ${verdictsOf(model, shown).map(
        (verdict) =>
          html`<${Verdict}
            key=${verdict}
            verdicts=${PHONE_VERDICTS}
            verdict=${verdict}
            isOwn=${isOwn}
          />`,
      )}
      <${Tools} model=${model} stored=${stored} shown=${shown} />
    </div>
  </div>`
}

/**
 * The phone's verdicts: on the text, or where there is none on each file that it has opened.
 * @param {Model} model @param {ShownMessage} shown
 */
function verdictsOf({ person, state }, { text, verdict, media }) {
  if (text !== '' || verdict !== 'readable') return [verdict]
  const files = media.map(({ id }) => state.pictures.get(pictureKey(person?.id ?? 0, id)))
  return distinct(files.flatMap((file) => (file?.state === 'shown' ? file.verdict : [])))
}

/** @param {{ model: Model, quoted: ShownMessage | null }} props */
function Quoted({ model, quoted }) {
  if (quoted === null) return null
  const { person, chat } = model
  return html`<a
    class="quoted"
    href=${chatAddress(person?.username ?? '', chat?.id ?? 0, quoted.messageId)}
  >
    <strong><${Name} text=${model.nameOf(quoted.fromId)} /></strong>
    <span dir="auto">${quoted.text || 'a message without text'}</span>
  </a>`
}

/** @param {{ model: Model, mediaId: string }} props */
function Media({ model, mediaId }) {
  const key = pictureKey(model.person?.id ?? 0, mediaId)
  const picture = model.state.pictures.get(key)
  if (picture === undefined || picture.state === 'loading') {
    return html`<div class="picture loading" aria-label="Loading a file"></div>`
  }
  if (picture.state === 'failed') {
    return html`<p class="file">
      <${Icon} name="file" />A file that does not open: ${picture.reason}
    </p>`
  }
  if (picture.type === null) {
    return html`<a class="file" href=${picture.url} download="file">
      <${Icon} name="file" />File, ${formatBytes(picture.bytes)}
    </a>`
  }
  return html`<a class="picture" href=${picture.url} download="picture">
    <img
      src=${picture.url}
      alt=${`Picture, ${formatBytes(picture.bytes)}`}
      onError=${() => model.markNoPicture(key)}
    />
  </a>`
}

/** @param {{ model: Model, stored: StoredMessage }} props */
function Buttons({ model, stored }) {
  const { person, chat } = model
  if (stored.markup === null || person === null || chat === null) return null
  const where = { userId: person.id, chatId: chat.id, messageId: stored.id }
  return html`<div class="keyboard">
    ${stored.markup.inlineKeyboard.map(
      (row, index) =>
        html`<div key=${index}>
          ${row.map(({ text, callbackData: data, url }, at) =>
            data === undefined
              ? html`<a
                  class="button"
                  key=${at}
                  href=${safeUrl(url)}
                  rel="noopener noreferrer"
                  target="_blank"
                >
                  <span dir="auto">${text}</span>
                </a>`
              : html`<button
                  key=${at}
                  onClick=${() => model.attempt(() => control.press({ ...where, data }))}
                >
                  <span dir="auto">${text}</span>
                </button>`,
          )}
        </div>`,
    )}
  </div>`
}

/** @param {{ model: Model, stored: StoredMessage, shown: ShownMessage }} props */
function Tools({ model, stored, shown }) {
  const { person, chat } = model
  if (person === null || chat === null) return null
  const where = { userId: person.id, chatId: chat.id, messageId: stored.id }
  const isOwn = stored.fromId === person.id
  const write = (/** @type {Partial<import('./state.js').Draft>} */ draft) => {
    model.setDraft(draft)
    document.getElementById('words')?.focus()
  }
  return html`<div class="tools">
    <${IconButton}
      icon="quote"
      title="Quote (r)"
      label="Quote"
      onClick=${() => write({ replyTo: stored.id, editing: null })}
    />
    ${
      isOwn &&
      html`<${IconButton}
          icon="edit"
          title="Edit"
          label="Edit"
          onClick=${() => write({ editing: stored.id, replyTo: null, text: shown.text, files: [] })}
        />
        <${IconButton}
          icon="remove"
          title="Delete for everybody"
          label="Delete"
          onClick=${() => model.attempt(() => control.deleteMessage(where))}
        />`
    }
  </div>`
}

/** Of a button, which the service lets lead to the web alone; a hostile one may hold anything. @param {string | undefined} url */
function safeUrl(url) {
  return url !== undefined && /^https?:\/\//i.test(url) ? url : undefined
}
