import { Component } from './lib/preact.js'
import { control } from './api.js'
import { Avatar, Name } from './avatar.js'
import { messageKey } from './bot-view.js'
import {
  formatBytes,
  formatCount,
  formatExactTime,
  formatJson,
  formatNumber,
  formatTime,
} from './format.js'
import { html } from './html.js'
import { Icon } from './icons.js'
import { pictureKey } from './model.js'
import { isAnonymous, packetsOf } from './packets.js'
import { chatAddress } from './route.js'

/** @typedef {import('./model.js').Model} Model */
/** @typedef {import('./model.js').StoredMessage} StoredMessage */
/** @typedef {import('./model.js').ShownMessage} ShownMessage */
/** @typedef {import('./bot-view.js').Sighting} Sighting */
/** @typedef {import('./bot-view.js').Press} Press */
/** @typedef {import('./bot-view.js').Sent} Sent */
/** @typedef {import('./packets.js').Packet} Packet */

/** How many packets of a message are listed at first. */
const PACKETS_SHOWN = 50

/** What a phone found out, in words. @type {Record<string, [tone: string, words: string]>} */
const PHONE_VERDICTS = {
  verified: ['good', 'signature verified'],
  bad: ['bad', 'signature is not the sender’s'],
  unsigned: ['doubtful', 'not signed'],
  readable: ['plain', 'readable'],
  unopened: ['bad', 'this phone cannot open it'],
}
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

/**
 * What a row is drawn from. It is drawn anew where one of these is another one.
 * @typedef {object} RowParts
 * @property {StoredMessage} stored
 * @property {ShownMessage | null} shown
 * @property {ShownMessage | null} quoted
 * @property {(Sighting | Press | Sent)[]} entries what the bot got of it and said
 * @property {string} progress of the entries, which only grow and are answered
 * @property {number | undefined} waits the update that waits for the bot
 * @property {unknown[]} around what all rows depend on
 */

/** @param {Model} model @param {StoredMessage} stored @returns {RowParts} */
export function partsOf(model, stored) {
  const { open, people, bots, chats, attachedTo, keyOwners, pictures } = model.state
  const shown = open?.shown?.get(stored.id) ?? null
  const entries = model.botView.byMessage.get(messageKey(open?.chatId ?? 0, stored.id)) ?? []
  const hasFiles = stored.media.length > 0
  return {
    stored,
    shown,
    quoted: open?.shown?.get(shown?.replyTo ?? 0) ?? null,
    entries,
    progress: entries
      .map((entry) => `${entry.kind}${'answer' in entry && entry.answer !== null}`)
      .join(),
    waits: open?.waiting.get(stored.id),
    around: [
      people,
      bots,
      chats,
      attachedTo,
      keyOwners,
      hasFiles && pictures,
      hasFiles && model.botView,
    ],
  }
}

/**
 * A message as each of the three sees it.
 * @extends {Component<{ model: Model, isTarget: boolean } & RowParts>}
 */
export class Row extends Component {
  /** @param {{ isTarget: boolean } & RowParts} next */
  shouldComponentUpdate(next) {
    const { isTarget, stored, shown, quoted, progress, waits, around } = this.props
    const now = [isTarget, stored, shown, quoted, progress, waits, ...around]
    const then = [next.isTarget, next.stored, next.shown, next.quoted, next.progress, next.waits]
    return [...then, ...next.around].some((part, index) => part !== now[index])
  }

  render() {
    const { model, isTarget, stored, shown, quoted, entries, waits } = this.props
    const { person, bot } = model
    const author = model.nameOf(stored.fromId)
    return html`<li
      id=${`message-${stored.id}`}
      data-message-id=${stored.id}
      class=${`row ${isTarget ? 'target' : ''}`}
      tabindex="0"
      aria-label=${`${author}, ${formatTime(stored.date)}`}
    >
      <div class="cell person-cell">
        <${Label} icon="person" text=${`${person?.firstName ?? ''} sees`} />
        <${PersonCell} model=${model} stored=${stored} shown=${shown} quoted=${quoted} />
      </div>
      <div class="cell bot-cell">
        <${Label} icon="bot" text=${bot === null ? 'No bot here' : `${bot.name} sees`} />
        <${BotCell} model=${model} stored=${stored} entries=${entries} waits=${waits} />
      </div>
      <div class="cell service-cell">
        <${Label} icon="service" text="The service sees" />
        <${ServiceCell} model=${model} stored=${stored} />
      </div>
    </li>`
  }
}

/**
 * What the bot got of a message that is not there: it was deleted since, or the service made it up.
 * @param {{ model: Model, sighting: Sighting }} props
 */
export function PhantomRow({ model, sighting }) {
  return html`<li class="row" tabindex="0" aria-label="A message that only the bot got">
    <div class="cell person-cell">
      <${Label} icon="person" text=${`${model.person?.firstName ?? ''} sees`} />
      <p class="nothing">Nothing: no such message is in this chat.</p>
    </div>
    <div class="cell bot-cell">
      <${Label} icon="bot" text=${`${model.bot?.name ?? 'The bot'} sees`} />
      <${Seen} model=${model} sighting=${sighting} isAgain=${false} />
    </div>
    <div class="cell service-cell">
      <${Label} icon="service" text="The service sees" />
      <p class="nothing">Nothing: it was deleted since, or the service made it up.</p>
    </div>
  </li>`
}

/**
 * A call of the bot that was refused: nobody else sees anything of it.
 * @param {{ model: Model, refused: import('./bot-view.js').Refused }} props
 */
export function RefusedRow({ model, refused }) {
  const { exchange, request, error, at } = refused
  const path = exchange.path.split('?', 1)[0]?.replace(/^\/bot\/v1/, '')
  const isBySidecar = String(error?.code).startsWith('postern_')
  const by = model.isAttached && isBySidecar ? 'the sidecar' : 'the service'
  return html`<li class="row refused" tabindex="0" aria-label="Refused call">
    <div class="cell person-cell empty"></div>
    <div class="cell bot-cell">
      <${Label} icon="bot" text=${`${model.bot?.name ?? 'The bot'} is refused`} />
      <div class="card problem">
        <p class="meta">
          <code>${exchange.method} ${path}</code>
          <time title=${formatExactTime(at)}>${formatTime(at)}</time>
        </p>
        ${typeof request?.text === 'string' && html`<${Words} text=${request.text} />`}
        <p><span class="verdict bad">${exchange.status} ${error?.code}</span> by ${by}</p>
        <p class="note" dir="auto">${error?.message}</p>
        <${Raw} label="JSON" value=${{ request, error }} />
      </div>
    </div>
    <div class="cell service-cell empty"></div>
  </li>`
}

/** @param {{ icon: 'person' | 'bot' | 'service', text: string }} props */
function Label({ icon, text }) {
  return html`<p class="label"><${Icon} name=${icon} /><span dir="auto">${text}</span></p>`
}

/** @param {{ model: Model, stored: StoredMessage, shown: ShownMessage | null, quoted: ShownMessage | null }} props */
function PersonCell({ model, stored, shown, quoted }) {
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
      <${Verdict} verdicts=${PHONE_VERDICTS} verdict=${shown.verdict} isOwn=${isOwn} />
      <${Tools} model=${model} stored=${stored} shown=${shown} />
    </div>
  </div>`
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
  const write = (/** @type {Partial<import('./model.js').Draft>} */ draft) => {
    model.setDraft(draft)
    document.getElementById('words')?.focus()
  }
  return html`<div class="tools">
    <button
      class="plain"
      title="Quote (r)"
      aria-label="Quote"
      onClick=${() => write({ replyTo: stored.id, editing: null })}
    >
      <${Icon} name="quote" />
    </button>
    ${
      isOwn &&
      html`<button
          class="plain"
          title="Edit"
          aria-label="Edit"
          onClick=${() => write({ editing: stored.id, replyTo: null, text: shown.text, files: [] })}
        >
          <${Icon} name="edit" />
        </button>
        <button
          class="plain"
          title="Delete for everybody"
          aria-label="Delete"
          onClick=${() => model.attempt(() => control.deleteMessage(where))}
        >
          <${Icon} name="remove" />
        </button>`
    }
  </div>`
}

/** @param {{ model: Model, stored: StoredMessage, entries: RowParts['entries'], waits: number | undefined }} props */
function BotCell({ model, stored, entries, waits }) {
  if (model.bot === null) return html`<p class="nothing">No bot is in this chat.</p>`
  if (entries.length === 0) return html`<p class="nothing">${whyNothing(model, stored, waits)}</p>`
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
function whyNothing(model, stored, waits) {
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
function Seen({ model, sighting, isAgain }) {
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
      html`<p class="note">Withheld, beside the verdict:</p>
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
      html`<p key=${userId}>
        <span class="verdict doubtful"
          ><span>told: the key of <${Name} text=${model.nameOf(userId)} /> changed</span></span
        >
      </p>`,
  )
}

/** @param {{ model: Model, id: string }} props */
function BotFile({ model, id }) {
  const fetched = model.botView.media.get(id)
  const what =
    fetched === undefined
      ? 'a file, which it did not fetch'
      : fetched.status >= 200 && fetched.status < 300
        ? 'a file, fetched and opened'
        : `a file, refused: ${fetched.status} ${codeIn(fetched.answer)}`
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
    ${isAttached && postern?.sealed !== true && html`<p><span class="verdict plain">readable</span></p>`}
    <${KeyChanges} model=${model} changed=${postern?.keyChanged} />
    ${skipped.map(
      (/** @type {any} */ one) =>
        html`<p key=${one.userId}>
          <span class="verdict doubtful"
            ><span>skipped <${Name} text=${model.nameOf(one.userId)} />: ${one.reason}</span></span
          >
        </p>`,
    )}
    <${Raw} label="JSON" value=${{ request, answer }} />
  </div>`
}

/** @param {{ model: Model, stored: StoredMessage }} props */
function ServiceCell({ model, stored }) {
  const { armored, text, kind, media } = stored
  if (kind !== 'user') {
    return html`<p class="nothing">A service notice: <code>${kind}</code></p>`
  }
  return html`<div class="record">
    ${armored !== null && html`<${Armor} model=${model} armored=${armored} />`}
    ${
      armored === null &&
      text !== null &&
      text !== '' &&
      html`<p>
          <span class="verdict plain"><${Icon} name="open" />it can read this</span>
        </p>
        <${Words} text=${text} />`
    }
    ${media.map(
      ({ id }) =>
        html`<${StoredFile}
          key=${id}
          model=${model}
          id=${id}
          isSealed=${model.chat?.mode === 'protected'}
        />`,
    )}
    ${
      stored.markup !== null &&
      html`<p class="note">The buttons, which are never encrypted.</p>
        <${Raw} label="markup" value=${stored.markup} />`
    }
  </div>`
}

/** @param {{ model: Model, id: string, isSealed: boolean }} props */
function StoredFile({ model, id, isSealed }) {
  const picture = model.state.pictures.get(pictureKey(model.person?.id ?? 0, id))
  const size = picture?.state === 'shown' ? `, ${formatBytes(picture.storedBytes)}` : ''
  return html`<p class="file">
    <${Icon} name=${isSealed ? 'lock' : 'file'} />${isSealed ? 'a sealed file' : 'a file'}${size}
  </p>`
}

/** @param {{ model: Model, armored: string }} props */
function Armor({ model, armored }) {
  const packets = packetsOf(armored)
  return html`<p class="meta">
      <span class="verdict sealed"><${Icon} name="lock" />sealed</span>
      <span>${formatNumber(armored.length)} characters</span>
    </p>
    <${PacketList} model=${model} packets=${packets} />
    <details class="armor">
      <summary>armor</summary>
      <pre tabindex="0">${armored.trim()}</pre>
    </details>`
}

/**
 * The first packets, and all of them when one asks: a hostile message may have thousands.
 * @extends {Component<{ model: Model, packets: Packet[] }, { hasAll: boolean }>}
 */
class PacketList extends Component {
  state = { hasAll: false }

  render() {
    const { model, packets } = this.props
    const shown = this.state.hasAll ? packets : packets.slice(0, PACKETS_SHOWN)
    const left = packets.length - shown.length
    return html`<ul class="packets">
      ${shown.map(
        (packet, index) =>
          html`<li key=${index}>
            <code>${packet.name}</code>
            <span>${aboutPacket(model, packet)}</span>
          </li>`,
      )}
      ${
        left > 0 &&
        html`<li>
          <button onClick=${() => this.setState({ hasAll: true })}>
            ${formatCount(left, 'more packet')}
          </button>
        </li>`
      }
      ${packets.length === 0 && html`<li>No packets: the armor is broken.</li>`}
    </ul>`
  }
}

/** @param {Model} model @param {Packet} packet */
function aboutPacket(model, { keyId, detail, bytes }) {
  if (keyId === null) return formatBytes(bytes)
  if (isAnonymous(keyId)) return 'to somebody unnamed'
  const owner = model.state.keyOwners.get(keyId)
  const algorithm = detail === '' ? '' : `, ${detail}`
  if (owner === undefined) return `to key ${keyId}, nobody’s here${algorithm}`
  return html`to <${Name} text=${model.nameOf(owner)} />${algorithm}`
}

/** Somebody's words, as they are. @param {{ text: string }} props */
function Words({ text }) {
  return text === '' ? null : html`<p class="words" dir="auto">${text}</p>`
}

/** @param {{ verdicts: Record<string, [string, string]>, verdict: string, reason?: string, isOwn?: boolean }} props */
function Verdict({ verdicts, verdict, reason, isOwn = false }) {
  const [tone, words] = verdicts[verdict] ?? ['bad', verdict]
  // What one wrote oneself needs no proof.
  if (isOwn && tone === 'good') return html`<span></span>`
  return html`<p>
    <span class=${`verdict ${tone}`}>
      ${tone === 'good' && html`<${Icon} name="check" />`}${words}${
        reason !== undefined && html`<span class="reason">${reason}</span>`
      }
    </span>
  </p>`
}

/** @param {{ label: string, value: unknown }} props */
function Raw({ label, value }) {
  return html`<details class="raw">
    <summary>${label}</summary>
    <pre tabindex="0">${formatJson(value)}</pre>
  </details>`
}

/** @param {string | undefined} verdict */
function toneOf(verdict) {
  const tone = verdict === undefined ? 'plain' : (BOT_VERDICTS[verdict]?.[0] ?? 'bad')
  return tone === 'bad' ? 'problem' : ''
}

/** @param {string} answer */
function codeIn(answer) {
  try {
    return JSON.parse(answer).error.code
  } catch {
    return ''
  }
}

/** Of a button, which the service lets lead to the web alone; a hostile one may hold anything. @param {string | undefined} url */
function safeUrl(url) {
  return url !== undefined && /^https?:\/\//i.test(url) ? url : undefined
}
