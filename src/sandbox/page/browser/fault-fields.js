/** The fields of a fault, and what is written into them. */
import { control } from './api.js'
import { textIn } from './dialog.js'
import { html } from './html.js'

/** @typedef {import('./model.js').Model} Model */

/** Fields that hold a number, with what stands beside them. @type {Record<string, [label: string, example: string]>} */
const NUMBERS = {
  status: ['Status', '503'],
  delayMs: ['Milliseconds', '1000'],
  bytes: ['Bytes', '67108864'],
  retryAfter: ['retryAfter in the body, in seconds', '5'],
}
/** Fields that hold a text. @type {Record<string, [label: string, example: string]>} */
const TEXTS = {
  code: ['Code', 'internal'],
  retryAfterHeader: ['Header Retry-After', '5'],
  location: ['Where to', 'https://example.org/'],
}
/** Fields with a few values. @type {Record<string, [label: string, values: [value: string, words: string][]]>} */
const CHOICES = {
  expected: [
    'What it says that it expects',
    [
      ['', 'nothing'],
      ['text', 'text'],
      ['armored', 'armored'],
    ],
  ],
  mode: [
    'Mode that it claims',
    [
      ['open', 'readable'],
      ['protected', 'encrypted'],
    ],
  ],
  kind: [
    'Kind that it claims',
    [
      ['private', 'private'],
      ['group', 'group'],
      ['channel', 'channel'],
    ],
  ],
}

/** @param {{ model: Model, name: string }} props */
export function FaultField({ model, name }) {
  const { people, bots, chats } = model.state
  const number = NUMBERS[name]
  if (number !== undefined) {
    const [label, example] = number
    return html`<label
      >${label} <input name=${name} type="number" min="0" placeholder=${example}
    /></label>`
  }
  const text = TEXTS[name]
  if (text !== undefined) {
    const [label, example] = text
    return html`<label
      >${label} <input name=${name} placeholder=${example} spellcheck=${false}
    /></label>`
  }
  const choice = CHOICES[name]
  if (choice !== undefined)
    return html`<${Select} name=${name} label=${choice[0]} options=${choice[1]} />`
  switch (name) {
    case 'chatId':
      return html`<${Select}
        name="chatId"
        label="Chat"
        options=${chats.map((one) => [one.id, model.titleOf(one)])}
      />`
    case 'userId':
      return html`<${Select}
        name="userId"
        label="Whose"
        options=${[...people.map((one) => [one.id, one.firstName]), ...bots.map((one) => [one.id, one.name])]}
      />`
    case 'fingerprint':
      return html`<${Select}
        name="certificateOf"
        label="Shows the certificate of"
        options=${people.filter((one) => one.fingerprint !== null).map((one) => [one.id, one.firstName])}
      />`
    case 'historyVisible':
      return html`<label class="check"
        ><input type="checkbox" name="historyVisible" /><span>claims open history</span></label
      >`
    case 'headers':
      return html`<label
        >Headers, one a line
        <textarea
          name="headers"
          rows="2"
          placeholder="Content-Type: text/plain"
          spellcheck=${false}
        ></textarea>
      </label>`
    case 'body':
      return html`<label
        >Body <textarea name="body" rows="3" spellcheck=${false}></textarea>
      </label>`
    default:
      return null
  }
}

/** @param {{ name: string, label: string, options: (string | number)[][] }} props */
export function Select({ name, label, options }) {
  return html`<label
    >${label}
    <select name=${name}>
      ${options.map(([value, words]) => html`<option key=${value} value=${value}>${words}</option>`)}
    </select>
  </label>`
}

/**
 * What the fields hold, as `fault` of the control takes it.
 * @param {FormData} form
 * @param {string[]} fields of the fault
 */
export async function faultOptions(form, fields) {
  /** @type {Record<string, any>} */
  const options = {}
  for (const name of fields) {
    const written = textIn(form, name)
    if (name === 'historyVisible') options[name] = form.get(name) !== null
    else if (name === 'headers') Object.assign(options, headersIn(written))
    else if (name === 'fingerprint' || name === 'publicKey') {
      const certificate = await control.certificate({ userId: Number(form.get('certificateOf')) })
      if (certificate !== null) options[name] = certificate[name]
    } else if (written !== '') {
      const isNumber = name in NUMBERS || name === 'chatId' || name === 'userId'
      options[name] = isNumber ? Number(written) : written
    }
  }
  return options
}

/** @param {string} lines */
function headersIn(lines) {
  const pairs = lines.split('\n').filter((line) => line.includes(':'))
  if (pairs.length === 0) return {}
  const entries = pairs.map((line) => {
    const at = line.indexOf(':')
    return [line.slice(0, at).trim(), line.slice(at + 1).trim()]
  })
  return { headers: Object.fromEntries(entries) }
}
