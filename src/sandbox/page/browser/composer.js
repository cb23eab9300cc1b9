import { Name } from './avatar.js'
import { control } from './api.js'
import { IconButton } from './controls.js'
import { formatBytes } from './format.js'
import { html } from './html.js'
import { Icon } from './icons.js'
import { leaveField, onFieldFocus } from './keys.js'

/** @typedef {import('./model.js').Model} Model */

/** Where one writes. @param {{ model: Model }} props */
export function Composer({ model }) {
  const { person, chat, draft, isMember } = model
  if (person === null || chat === null) return null
  if (!isMember) return html`<${NotHere} model=${model} />`
  const placeholder =
    chat.kind === 'private' || model.bot === null
      ? `Write as ${person.firstName}`
      : `Write as ${person.firstName}; @${model.bot.username} and /commands reach the bot`
  const files = (/** @type {FileList | null | undefined} */ list) => {
    if (list !== null && list !== undefined && list.length > 0) {
      model.setDraft({ files: [...draft.files, ...list], editing: null })
    }
  }
  /** @param {KeyboardEvent} event */
  const onKey = (event) => {
    if (event.key === 'Enter' && !event.shiftKey && !event.isComposing) {
      event.preventDefault()
      void model.send()
    }
    if (event.key === 'Escape' && !event.isComposing) {
      event.preventDefault()
      if (draft.replyTo !== null || draft.editing !== null || draft.files.length > 0) cancel(model)
      else leaveField()
    }
  }
  return html`<form
    class="composer"
    onSubmit=${(/** @type {Event} */ event) => {
      event.preventDefault()
      void model.send()
    }}
    onDragOver=${(/** @type {Event} */ event) => event.preventDefault()}
    onDrop=${(/** @type {DragEvent} */ event) => {
      event.preventDefault()
      files(event.dataTransfer?.files)
    }}
  >
    <${Quote} model=${model} />
    ${
      draft.files.length > 0 &&
      html`<ul class="files" aria-label="Files to send">
        ${draft.files.map(
          (file, index) =>
            html`<li key=${index}>
              <${Icon} name="file" /><span dir="auto">${file.name}</span> ${formatBytes(file.size)}
              <${IconButton}
                icon="close"
                label=${`Remove ${file.name}`}
                onClick=${() => model.setDraft({ files: draft.files.filter((one) => one !== file) })}
              />
            </li>`,
        )}
      </ul>`
    }
    <div class="write">
      <label class="attach" title="Attach a file">
        <${Icon} name="attach" /><span class="hidden">Attach a file</span>
        <input
          type="file"
          multiple
          onChange=${(/** @type {any} */ { currentTarget }) => {
            files(currentTarget.files)
            currentTarget.value = ''
          }}
        />
      </label>
      <textarea
        id="words"
        rows="1"
        dir="auto"
        aria-label=${`Write as ${person.firstName}`}
        aria-keyshortcuts="/ i"
        title="/ or i leads here, Escape back"
        placeholder=${placeholder}
        value=${draft.text}
        onInput=${(/** @type {any} */ { currentTarget }) => model.setDraft({ text: currentTarget.value })}
        onFocus=${onFieldFocus}
        onKeyDown=${onKey}
        onPaste=${(/** @type {ClipboardEvent} */ event) => files(event.clipboardData?.files)}
      ></textarea>
      <button class="primary send" aria-label=${draft.editing === null ? 'Send' : 'Save'}>
        <${Icon} name=${draft.editing === null ? 'send' : 'check'} />
      </button>
    </div>
  </form>`
}

/** Neither quotes nor edits any more; the words of an edit go with it. @param {Model} model */
function cancel(model) {
  const text = model.draft.editing === null ? model.draft.text : ''
  model.setDraft({ replyTo: null, editing: null, files: [], text })
}

/** What is quoted or edited. @param {{ model: Model }} props */
function Quote({ model }) {
  const { draft } = model
  const id = draft.editing ?? draft.replyTo
  const about = model.state.open?.shown?.get(id ?? 0)
  if (about === undefined) return null
  return html`<div class="quote-line">
    <${Icon} name=${draft.editing === null ? 'quote' : 'edit'} />
    <p>
      <strong
        >${draft.editing === null ? html`<${Name} text=${model.nameOf(about.fromId)} />` : 'Edit'}</strong
      >
      <span dir="auto">${about.text || 'a message without text'}</span>
    </p>
    <${IconButton} icon="close" label="Cancel" onClick=${() => cancel(model)} />
  </div>`
}

/** @param {{ model: Model }} props */
function NotHere({ model }) {
  const { person, chat } = model
  if (person === null || chat === null) return null
  const where = { userId: person.id, chatId: chat.id }
  const canJoin = chat.kind !== 'private'
  return html`<div class="composer not-here">
    <p><${Name} text=${person.firstName} /> is not in this chat.</p>
    ${
      canJoin &&
      html`<button class="primary" onClick=${() => model.attempt(() => control.join(where))}>
        Join
      </button>`
    }
  </div>`
}
