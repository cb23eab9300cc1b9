import { control } from './api.js'
import { Avatar, Name } from './avatar.js'
import { Dialog, Form, textIn } from './dialog.js'
import { formatFingerprint } from './format.js'
import { html } from './html.js'
import { LIES_TO_TELL } from './lies.js'
import { isSealed } from './mode.js'
import { chatAddress } from './route.js'
import { SafetyNumber } from './safety-number.js'
import { SaveDialog } from './save-dialog.js'
import { TextDialog } from './text-dialog.js'

/** @typedef {import('./model.js').Model} Model */

/** The dialog that is open, if one is. @param {{ model: Model }} props */
export function Dialogs({ model }) {
  const { dialog } = model.state
  if (dialog === null) return null
  const close = () => model.closeDialog()
  switch (dialog.kind) {
    case 'person':
      return html`<${NewPerson} model=${model} close=${close} />`
    case 'bot':
      return html`<${NewBot} model=${model} close=${close} />`
    case 'chat':
      return html`<${NewChat} model=${model} close=${close} />`
    case 'members':
      return html`<${Members} model=${model} chatId=${dialog['chatId']} close=${close} />`
    case 'lies':
      return html`<${Lies} model=${model} chatId=${dialog['chatId']} close=${close} />`
    case 'save':
      return html`<${SaveDialog} model=${model} chatId=${dialog['chatId']} close=${close} />`
    case 'text':
      return html`<${TextDialog}
        model=${model}
        title=${dialog['title']}
        text=${dialog['text']}
        close=${close}
      />`
    case 'answer':
      return html`<${Dialog} model=${model} title=${dialog['name']} onClose=${close}>
        <p class="words" dir="auto">${dialog['words']}</p>
        <div class="buttons"><button class="primary" onClick=${close}>OK</button></div>
      <//>`
    default:
      return null
  }
}

/** @typedef {{ model: Model, close: () => void }} DialogProps */

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
      <label class="check">
        <input type="checkbox" name="privacyMode" checked />
        <span>Privacy mode: in groups it gets only what is addressed to it</span>
      </label>
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
      <label
        >Bot
        <select name="botId" required>
          ${bots.map(({ id, name }) => html`<option key=${id} value=${id}>${name}</option>`)}
        </select>
      </label>
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
            html`<label class="check" key=${id}>
              <input type="checkbox" name="member" value=${id} checked=${isBot} />
              <span><${Name} text=${name} />${isBot ? ' (bot)' : ''}</span>
            </label>`,
        )}
      </fieldset>
      <label class="check">
        <input type="checkbox" name="historyVisible" />
        <span>Readable: its history is open to everybody, and nothing is encrypted</span>
      </label>
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
        onDone=${() => undefined}
      >
        <label
          >Add to the group
          <select name="userId">
            ${absent.map(({ id, name }) => html`<option key=${id} value=${id}>${name}</option>`)}
          </select>
        </label>
      <//>`
    }
    ${
      isRoom &&
      html`<label class="check">
        <input
          type="checkbox"
          checked=${!isSealed(chat)}
          onChange=${(/** @type {any} */ { currentTarget }) =>
            model.attempt(() =>
              control.changeChat({ chatId, historyVisible: currentTarget.checked }),
            )}
        />
        <span>Open history, which makes the chat readable</span>
      </label>`
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
