/** What the bot got of a message and said to it, as its sidecar hands it on; or why it got nothing. */
import { Name } from './avatar.js'
import { parsed } from './bot-view.js'
import { formatCount } from './format.js'
import { html } from './html.js'
import { Icon } from './icons.js'
import { Raw, Verdict, Words } from './words.js'

/** @typedef {import('./model.js').Model} Model */
/** @typedef {import('./state.js').StoredMessage} StoredMessage */
/** @typedef {import('./bot-view.js').Sighting} Sighting */
/** @typedef {import('./bot-view.js').Press} Press */
/** @typedef {import('./bot-view.js').Sent} Sent */

/** What the sidecar found out, in words. @type {Record<string, [tone: string, words: string]>} */
const BOT_VERDICTS = {
  verified: ['good', 'signature verified'],
  unsigned: ['doubtful', 'not signed'],
  'before-key': ['doubtful', 'from before the first key'],
  'unknown-signer': ['bad', 'unknown signer'],
  'signer-unavailable': ['bad', 'signer’s certificate unavailable'],
  'bad-signature': ['bad', 'bad signature'],
  replayed: ['bad', 'replayed'],
  'plaintext-in-protected': ['bad', 'readable text in an encrypted chat'],
  'not-recipient': ['bad', 'not sealed to the bot'],
  damaged: ['bad', 'damaged'],
  'too-large': ['bad', 'too large'],
  locked: ['bad', 'could not be opened'],
  'mode-unknown': ['bad', 'mode of the chat unknown'],
}

/** @param {{ model: Model, stored: StoredMessage, entries: (Sighting | Press | Sent)[], waits: number | undefined }} props */
export function BotCell({ model, stored, entries, waits }) {
  if (model.bot === null) return html`<p class="nothing">No bot is in this chat.</p>`
  if (entries.length === 0) return html`<p class="nothing">${nothingText(model, stored, waits)}</p>`
  return entries.map((entry, index) => {
    if (entry.kind === 'message') {
      return html`<${Seen} key=${index} model=${model} sighting=${entry} isAgain=${index > 0} />`
    }
    if (entry.kind === 'press') {
      return html`<${Pressed} key=${index} model=${model} press=${entry} />`
    }
    return html`<${Said} key=${index} model=${model} sent=${entry} />`
  })
}

/**
 * Why the bot saw nothing of a message, as far as it is known.
 * @param {Model} model
 * @param {StoredMessage} stored
 * @param {number | undefined} waits
 */
function nothingText(model, stored, waits) {
  const { bot, chat, state, isAttached } = model
  if (bot === null || chat === null) return ''
  if (waits !== undefined) {
    return bot.webhook === null
      ? `Not yet: it waits as update ${waits} until the bot asks for updates.`
      : `Not yet: it waits as update ${waits} for the bot’s webhook.`
  }
  if (stored.date < state.trafficSinceMs && isAttached) {
    return 'From before the sidecar of this process was started.'
  }
  if (stored.fromId === bot.id) return 'Its own words, which it sent before this was recorded.'
  if (stored.kind !== 'user') return 'Nothing: the service does not tell it.'
  if (chat.kind !== 'private' && bot.privacyMode) {
    return 'Nothing: it is not addressed, and the bot’s privacy mode is on.'
  }
  return 'Nothing.'
}

/** @param {{ model: Model, sighting: Sighting, isAgain: boolean }} props */
export function Seen({ model, sighting, isAgain }) {
  const { message, update, updateId, how } = sighting
  const { text, armored, postern, kind } = message
  const isNotice = kind !== undefined && kind !== 'user'
  return html`<div class=${`card ${toneOf(postern?.verdict)}`}>
    <p class="meta">
      <span>update ${updateId}${isAgain ? ', again' : ''}</span>
      ${how === 'webhook' && html`<span>by webhook</span>`}
    </p>
    ${typeof text === 'string' && html`<${Words} text=${text} />`}
    ${isNotice && html`<p><code>${kind}</code></p>`}
    ${
      typeof text !== 'string' &&
      typeof armored === 'string' &&
      html`<p class="note">
        ${
          postern === undefined
            ? 'It got this sealed. A sidecar in another process may have opened it: not known here.'
            : 'Withheld: the bot gets the sealed message as it came.'
        }
      </p>`
    }
    ${
      typeof postern?.withheldText === 'string' &&
      html`<p class="note">
          Withheld; the bot finds it in <code>postern.withheldText</code> alone:
        </p>
        <${Words} text=${postern.withheldText} />`
    }
    <${KeyChanges} model=${model} changed=${postern?.keyChanged} />
    ${(message.media ?? []).map(
      (/** @type {any} */ one) => html`<${BotFile} key=${one.id} model=${model} id=${one.id} />`,
    )}
    ${
      postern !== undefined &&
      html`<${Verdict}
        verdicts=${BOT_VERDICTS}
        verdict=${postern.verdict}
        reason=${postern.reason}
      />`
    }
    <${Raw} label="JSON" value=${update} />
  </div>`
}

/**
 * Whose certificate is another one than before, as the sidecar tells the bot.
 * @param {{ model: Model, changed: { userId: number }[] | undefined }} props
 */
function KeyChanges({ model, changed = [] }) {
  return changed.map(
    ({ userId }) =>
      html`<${Doubt} key=${userId}>
        told: the key of <${Name} text=${model.nameOf(userId)} /> changed
      <//>`,
  )
}

/** @param {{ children?: any }} props */
const Doubt = ({ children }) =>
  html`<p>
    <span class="verdict doubtful"><span>${children}</span></span>
  </p>`

/** @param {{ model: Model, id: string }} props */
function BotFile({ model, id }) {
  const fetched = model.botView.media.get(id)
  const what =
    fetched === undefined
      ? 'a file, which it did not fetch'
      : fetched.status >= 200 && fetched.status < 300
        ? 'a file, fetched and opened'
        : `a file, refused: ${fetched.status} ${parsed(fetched.answer)?.error?.code ?? ''}`
  return html`<p class="file"><${Icon} name="file" />${what}</p>`
}

/** @param {{ model: Model, press: Press }} props */
function Pressed({ model, press }) {
  const { updateId, data, from, answer, update } = press
  return html`<div class="card">
    <p class="meta"><span>update ${updateId}</span></p>
    <p>
      <${Name} text=${model.nameOf(from?.id)} /> pressed <code class="wrap">${data}</code>
      ${
        answer !== null &&
        html`; answered${typeof answer.text === 'string' && html`: <bdi>${answer.text}</bdi>`}`
      }
    </p>
    <${Raw} label="JSON" value=${update} />
  </div>`
}

/** @param {{ model: Model, sent: Sent }} props */
function Said({ model, sent }) {
  const { isAttached } = model
  const { request, answer, kind } = sent
  const { postern } = answer?.result ?? {}
  const skipped = postern?.skipped ?? []
  return html`<div class="card said">
    <p class="meta"><span>${kind === 'edited' ? 'it edited' : 'it wrote'}</span></p>
    ${typeof request?.text === 'string' && html`<${Words} text=${request.text} />`}
    ${
      typeof request?.armored === 'string' &&
      html`<p class="note">Sealed by its sidecar, which runs in another process.</p>`
    }
    ${
      request?.markup !== undefined &&
      request.markup !== null &&
      html`<p class="note">with buttons</p>`
    }
    ${
      postern?.sealed === true &&
      html`<p>
        <span class="verdict good"
          ><${Icon} name="lock" />sealed to ${formatCount(postern.recipients, 'recipient')}</span
        >
      </p>`
    }
    ${isAttached && request?.text && postern?.sealed !== true && html`<p><span class="verdict plain">readable</span></p>`}
    <${KeyChanges} model=${model} changed=${postern?.keyChanged} />
    ${skipped.map(
      (/** @type {any} */ one) =>
        html`<${Doubt} key=${one.userId}>
          skipped <${Name} text=${model.nameOf(one.userId)} />: ${one.reason}
        <//>`,
    )}
    <${Raw} label="JSON" value=${{ request, answer }} />
  </div>`
}

/** @param {string | undefined} verdict */
function toneOf(verdict) {
  const tone = verdict === undefined ? 'plain' : (BOT_VERDICTS[verdict]?.[0] ?? 'bad')
  return tone === 'bad' ? 'problem' : ''
}
