/** The fields of a fault, and what is written into them. */
import { control } from './api.js'
import { Check, Select } from './controls.js'
import { textIn } from './dialog.js'
import { html } from './html.js'

/** @typedef {import('./model.js').Model} Model */

/** Fields that hold a number. */
const NUMBERS = new Set(['status', 'delayMs', 'bytes', 'retryAfter', 'chatId', 'userId'])

/** Fields of one line, with an example. @type {Record<string, [label: string, example: string]>} */
const LINES = {
  status: ['Status', '503'],
  delayMs: ['Milliseconds', '1000'],
  bytes: ['Bytes', '67108864'],
  retryAfter: ['retryAfter in the body, in seconds', '5'],
  code: ['Code', 'internal'],
  retryAfterHeader: ['Header Retry-After', '5'],
  location: ['Where to', 'https://example.org/'],
  limits: ['Limits', 'textMax=100, pollLimitMax=7'],
}

/** Fields with a few values. @param {Model} model @returns {Record<string, [label: string, options: (string | number)[][]]>} */
function choicesOf(model) {
  const { people, bots, chats } = model.state
  const persons = people.map((one) => [one.id, one.firstName])
  const withKey = people.filter((one) => one.fingerprint !== null)
  return {
    expected: ['What it says that it expects', [['', 'nothing'], ['text'], ['armored']]],
    mode: ['Mode that it claims', Object.entries({ open: 'readable', protected: 'encrypted' })],
    kind: ['Kind that it claims', [['private'], ['group'], ['channel']]],
    chatId: ['Chat', chats.map((one) => [one.id, model.titleOf(one)])],
    userId: ['Whose', [...persons, ...bots.map((one) => [one.id, one.name])]],
    fingerprint: ['Shows the certificate of', withKey.map((one) => [one.id, one.firstName])],
  }
}

/** @param {{ model: Model, name: string }} props */
export function FaultField({ model, name }) {
  const choice = choicesOf(model)[name]
  if (choice !== undefined) {
    const [label, options] = choice
    const field = name === 'fingerprint' ? 'certificateOf' : name
    return html`<${Select} name=${field} label=${label} options=${options} />`
  }
  if (name === 'historyVisible') {
    return html`<${Check} name=${name}>claims open history<//>`
  }
  if (name === 'headers' || name === 'body') {
    const [label, rows, example] =
      name === 'body' ? ['Body', 3] : ['Headers, one a line', 2, 'Content-Type: text/plain']
    return html`<label
      >${label}
      <textarea name=${name} rows=${rows} placeholder=${example} spellcheck=${false}></textarea>
    </label>`
  }
  const [label, example] = LINES[name] ?? []
  if (label === undefined) return null
  const type = NUMBERS.has(name) ? 'number' : 'text'
  return html`<label
    >${label} <input name=${name} type=${type} min="0" placeholder=${example} spellcheck=${false}
  /></label>`
}

/**
 * What the fields hold, as `fault` of the control takes it.
 * @param {FormData} form
 * @param {readonly string[]} fields of the fault
 */
export async function faultOptions(form, fields) {
  /** @type {Record<string, any>} */
  const options = {}
  for (const name of fields) {
    const written = textIn(form, name)
    if (name === 'historyVisible') options[name] = form.get(name) !== null
    else if (name === 'headers') Object.assign(options, headersIn(written))
    else if (name === 'limits') options[name] = limitsIn(written)
    else if (name === 'fingerprint' || name === 'publicKey') {
      const certificate = await control.certificate({ userId: Number(form.get('certificateOf')) })
      if (certificate !== null) options[name] = certificate[name]
    } else if (written !== '') {
      options[name] = NUMBERS.has(name) ? Number(written) : written
    }
  }
  return options
}

/** @param {string} lines */
function headersIn(lines) {
  const pairs = [...lines.matchAll(/^([^:\n]*):(.*)$/gm)]
  if (pairs.length === 0) return {}
  const headers = Object.fromEntries(
    pairs.map(([, name = '', value = '']) => [name.trim(), value.trim()]),
  )
  return { headers }
}

/** @param {string} pairs */
const limitsIn = (pairs) =>
  Object.fromEntries(
    Array.from(pairs.matchAll(/(\w+) *= *(-?[\d.]+)/g), ([, name, value]) => [name, Number(value)]),
  )
