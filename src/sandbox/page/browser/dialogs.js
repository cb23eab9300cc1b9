import { control } from './api.js'
import { Avatar, Name } from './avatar.js'
import { Check, Select } from './controls.js'
import { Dialog, Form, textIn } from './dialog.js'
import { formatFingerprint } from './format.js'
import { html } from './html.js'
import { LIES_TO_TELL } from './lies.js'
import { isSealed } from './mode.js'
import { chatAddress } from './route.js'
import { SafetyNumber } from './safety-number.js'
import { SaveDialog } from './save-dialog.js'

/** @typedef {import('./model.js').Model} Model */

/** @type {Record<string, any>} by kind of dialog */
const DIALOGS = {
  person: NewPerson,
  bot: NewBot,
  chat: NewChat,
  members: Members,
  lies: Lies,
  save: SaveDialog,
  text: CopyText,
  answer: Answer,
}

/** The dialog that is open, if one is. @param {{ model: Model }} props */
export function Dialogs({ model }) {
  const { dialog } = model.state
  if (dialog === null) return null
  const { kind, ...parts } = dialog
  return html`<${DIALOGS[kind]} model=${model} ...${parts} close=${() => model.closeDialog()} />`
}

/** @typedef {{ model: Model, close: () => void }} DialogProps */

/** @param {DialogProps & { name: string, words: string }} props */
function Answer({ model, name, words, close }) {
  return html`<${Dialog} model=${model} title=${name} onClose=${close}>
    <p class="words" dir="auto">${words}</p>
    <div class="buttons"><button class="primary" onClick=${close}>OK</button></div>
  <//>`
}

/**
 * A text to copy by hand, where the browser has no clipboard for this address.
 * @param {DialogProps & { title: string, text: string }} props
 */
function CopyText({ model, title, text, close }) {
  const onFocus = (/** @type {any} */ { currentTarget }) => currentTarget.select()
  return html`<${Dialog} model=${model} title=${title} onClose=${close}>
    <textarea readonly rows="8" aria-label=${title} value=${text} onFocus=${onFocus} autofocus />
  <//>`
}

/** @param {DialogProps} props */
function NewPerson({ model, close }) {
  /** @param {FormData} fields */
  const onSend = (fields) =>
    model.attempt(async () => {
      const firstName = textIn(fields, 'name')
      const username = textIn(fields, 'username') || handleFrom(firstName)
      const { id } = await control.addPerson({ username, firstName: firstName || username })
      await control.givePhone({ userId: id })
      model.go(chatAddress(username))
    })
  return html`<${Dialog} model=${model} title="New person" onClose=${close}>
    <${Form} label="Add" onSend=${onSend} onDone=${close}>
      <${NameFields} />
      <p class="note">Gets a phone with a key of its own.</p>
    <//>
  <//>`
}

/** @param {DialogProps} props */
function NewBot({ model, close }) {
  /** @param {FormData} fields */
  const onSend = (fields) =>
    model.attempt(async () => {
      const name = textIn(fields, 'name')
      const username = textIn(fields, 'username') || handleFrom(name, '_bot')
      const { id, token } = await control.addBot({
        username,
        name: name || username,
        privacyMode: fields.get('privacyMode') !== null,
      })
      model.showToken(id, token)
      model.go('#/world')
    })
  return html`<${Dialog} model=${model} title="New bot" onClose=${close}>
    <${Form} label="Add" onSend=${onSend} onDone=${close}>
      <${NameFields} />
      <${Check} name="privacyMode" checked
        >Privacy mode: in groups it gets only what is addressed to it<//
      >
      <p class="note">Its token is shown once it is there.</p>
    <//>
  <//>`
}

/** What a person or a bot is called: the fields `name` and `username`. */
function NameFields() {
  return html`<label>Name <input name="name" required maxlength="64" dir="auto" autofocus /></label>
    <label
      >Handle
      <input name="username" maxlength="32" placeholder="made from the name" spellcheck=${false} />
    </label>`
}

/** @param {DialogProps} props */
function NewChat({ model, close }) {
  const { people, bots } = model.state
  const { person } = model
  const others = people.filter(({ id, gone }) => id !== person?.id && !gone)
  if (person === null) return null
  const open = (/** @type {number} */ chatId) => model.go(chatAddress(person.username, chatId))
  /** @param {FormData} fields */
  const withBot = (fields) =>
    model.attempt(async () => {
      const botId = Number(fields.get('botId'))
      open((await control.addPrivateChat({ userId: person.id, botId })).id)
    })
  /** @param {FormData} fields */
  const group = (fields) =>
    model.attempt(async () => {
      const { id } = await control.addRoom({
        kind: 'group',
        title: textIn(fields, 'title'),
        historyVisible: fields.get('historyVisible') !== null,
        members: [person.id, ...fields.getAll('member').map(Number)],
      })
      open(id)
    })
  return html`<${Dialog}
    model=${model}
    title=${`New chat for ${person.firstName}`}
    onClose=${close}
  >
    <h3>With a bot</h3>
    <${Form} label="Open" onSend=${withBot} onDone=${close}>
      <${Select} name="botId" label="Bot" options=${bots.map(({ id, name }) => [id, name])} />
    <//>
    <h3>A group</h3>
    <${Form} label="Create" onSend=${group} onDone=${close}>
      <label>Title <input name="title" required maxlength="64" dir="auto" /></label>
      <fieldset>
        <legend>With</legend>
        ${[
          ...others.map(({ id, firstName }) => ({ id, name: firstName, isBot: false })),
          ...bots.map(({ id, name }) => ({ id, name, isBot: true })),
        ].map(
          ({ id, name, isBot }) =>
            html`<${Check} key=${id} name="member" value=${id} checked=${isBot}>
              <${Name} text=${name} />${isBot ? ' (bot)' : ''}
            <//>`,
        )}
      </fieldset>
      <${Check} name="historyVisible"
        >Readable: its history is open to everybody, and nothing is encrypted<//
      >
    <//>
  <//>`
}

/** @param {DialogProps & { chatId: number }} props */
function Members({ model, chatId, close }) {
  const { chats, people, bots, keyOwners } = model.state
  const { person, bot } = model
  const chat = chats.find(({ id }) => id === chatId)
  if (chat === undefined) return null
  const isRoom = chat.kind !== 'private'
  const absent = [
    ...people.filter(({ gone }) => !gone).map(({ id, firstName }) => ({ id, name: firstName })),
    ...bots.filter(({ allowGroups }) => allowGroups).map(({ id, name }) => ({ id, name })),
  ].filter(({ id }) => !chat.members.includes(id))
  return html`<${Dialog} model=${model} title=${model.titleOf(chat)} onClose=${close}>
    <ul class="member-list">
      ${chat.members.map((id) => {
        const fingerprint = people.find((one) => one.id === id)?.fingerprint ?? null
        return html`<li key=${id}>
          <${Avatar}
            id=${id}
            name=${model.nameOf(id)}
            icon=${model.isBot(id) ? 'bot' : undefined}
          />
          <div>
            <p><${Name} text=${model.nameOf(id)} /> <span class="note">${id}</span></p>
            ${
              fingerprint !== null &&
              html`<p class="fingerprint">${formatFingerprint(fingerprint)}</p>`
            }
          </div>
          ${
            isRoom &&
            html`<button
              onClick=${() => model.attempt(() => control.leave({ chatId, userId: id }))}
              aria-label=${`Remove ${model.nameOf(id)}`}
            >
              Remove
            </button>`
          }
        </li>`
      })}
    </ul>
    ${
      person !== null &&
      bot !== null &&
      html`<${SafetyNumber} model=${model} userId=${person.id} botId=${bot.id} keys=${keyOwners} />`
    }
    ${
      isRoom &&
      absent.length > 0 &&
      html`<${Form}
        label="Add"
        onSend=${(/** @type {FormData} */ fields) =>
          model.attempt(() => control.join({ chatId, userId: Number(fields.get('userId')) }))}
      >
        <${Select}
          name="userId"
          label="Add to the group"
          options=${absent.map(({ id, name }) => [id, name])}
        />
      <//>`
    }
    ${
      isRoom &&
      html`<${Check}
        checked=${!isSealed(chat)}
        onCheck=${(/** @type {boolean} */ historyVisible) =>
          model.attempt(() => control.changeChat({ chatId, historyVisible }))}
        >Open history, which makes the chat readable<//
      >`
    }
  <//>`
}

/** @param {DialogProps & { chatId: number }} props */
function Lies({ model, chatId, close }) {
  const chat = model.state.chats.find(({ id }) => id === chatId)
  if (chat === undefined) return null
  return html`<${Dialog} model=${model} title="Let the service misbehave" onClose=${close}>
    <p class="note">
      See beside the messages what the sidecar answers. It asks for keys and modes again after a
      while, so write something, and once more within a minute.
    </p>
    <ul class="choices">
      ${LIES_TO_TELL.map(({ id, title, does, isPossible, act }) => {
        const can = isPossible(model, chat)
        return html`<li key=${id}>
          <button
            class="choice"
            disabled=${!can}
            onClick=${async () => {
              if (await model.attempt(() => act(model, chat))) close()
            }}
          >
            <strong>${title}</strong><span>${does}</span>
          </button>
        </li>`
      })}
    </ul>
    <p class="note">
      <a href="#/world" onClick=${close}>All faults, and which are set</a>
    </p>
  <//>`
}

/** @param {string} name @param {string} [ending] */
function handleFrom(name, ending = '') {
  const plain = name
    .normalize('NFKD')
    .replaceAll(/\p{M}/gu, '')
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '_')
    .replaceAll(/^_+|_+$/g, '')
  const base = /^[a-z]/.test(plain) ? plain : `p_${plain || Date.now().toString(36)}`
  return `${base.padEnd(3, '0').slice(0, 24)}${ending}`
}
