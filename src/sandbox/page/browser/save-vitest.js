/** A scene as a test for Vitest. */
import { variableOf, withVariables } from './variables.js'

/** @typedef {import('./scene.js').Scene} Scene */

/** Node alone, so that it runs in any project. */
const PRELUDE = String.raw`import { expect, test } from 'vitest'

const control = new URL(process.env.POSTERN_SANDBOX_CONTROL || CONTROL)
const base = control.origin + control.pathname.replace(/\/$/, '')
const token = decodeURIComponent(control.password)
const headers = {
  'content-type': 'application/json',
  ...(token === '' ? {} : { authorization: 'Bearer ' + token }),
}

async function call(operation, input = {}) {
  const body = JSON.stringify(input)
  const answer = await fetch(base + '/' + operation, { method: 'POST', headers, body })
  const { ok, result, error } = await answer.json()
  if (!ok) throw new Error(operation + ': ' + error.message)
  return result
}

const byHandle = async (list, handle) =>
  (await call(list)).find(({ username }) => username === handle)?.id

async function person(username, firstName) {
  const id = (await byHandle('people', username)) ?? (await call('addPerson', { username, firstName })).id
  await call('givePhone', { userId: id })
  return id
}

async function bot(username) {
  const id = await byHandle('bots', username)
  if (id === undefined) throw new Error('there is no bot @' + username + ' in this sandbox')
  return id
}

async function room(title, kind, members, historyVisible) {
  const known = (await call('chats')).find((one) => one.title === title)
  return known ?? (await call('addRoom', { kind, title, members, historyVisible }))
}

/** A chat, and what is known of it: what follows is new. */
async function begin({ id }) {
  const messages = await call('messages', { chatId: id })
  return { id, seen: new Set(messages.map((message) => message.id)) }
}

const say = async (userId, chat, text, replyTo) =>
  (await call('write', { userId, chatId: chat.id, text, replyTo })).messageId
const attach = async (userId, chat, base64, text) =>
  (await call('sendMedia', { userId, chatId: chat.id, base64, text })).messageId

/** Waits until the phone shows what the bot said. */
async function expects(userId, chat, from, text) {
  let shown = []
  for (const end = Date.now() + 15_000; Date.now() < end; await new Promise((go) => setTimeout(go, 200))) {
    const { messages } = await call('screen', { userId, chatId: chat.id })
    const fresh = messages.filter((one) => one.fromId === from && !chat.seen.has(one.messageId))
    const found = fresh.find((one) => one.text === text)
    if (found !== undefined) return chat.seen.add(found.messageId), found.messageId
    shown = fresh.map((one) => one.text)
  }
  throw new Error(JSON.stringify(text) + ' did not come, but ' + JSON.stringify(shown))
}

async function press(userId, chat, data, answer) {
  const { messages } = await call('screen', { userId, chatId: chat.id })
  const has = ({ markup }) => markup?.inlineKeyboard.flat().some((one) => one.callbackData === data)
  const messageId = messages.findLast(has)?.messageId
  const { last } = await call('inbox', { userId, after: 1e9 })
  await call('press', { userId, chatId: chat.id, messageId, data })
  if (answer === undefined) return
  const { answers } = await call('inbox', { userId, kinds: ['answer'], after: last, wait: 15_000 })
  expect(answers.map(({ text }) => text)).toContain(answer)
}

async function fault({ chat, user, certificateOf, ...how }) {
  const certificate = certificateOf && (await call('certificate', { userId: certificateOf }))
  await call('fault', { ...how, ...certificate, chatId: chat?.id, userId: user })
}
`

/** @param {Scene} scene */
export function vitestOf(scene) {
  const { name, people, bots, chats, steps, control } = withVariables(scene)
  const lines = [
    ...people.map(
      (one) => `const ${variableOf(one.handle)} = await person(${js(one.handle)}, ${js(one.name)})`,
    ),
    ...bots.map((one) => `const ${variableOf(one.handle)} = await bot(${js(one.handle)})`),
    ...chats.map((chat) => {
      const { key, person, bot, title, kind, members, isOpen } = chat
      const made =
        person === null
          ? `await room(${js(title)}, ${js(kind)}, [${members.join(', ')}], ${isOpen})`
          : `await call('addPrivateChat', { userId: ${person}, botId: ${bot} })`
      return `const ${key} = await begin(${made})`
    }),
    "await call('clearFaults')",
    ...steps.map((step, index) => lineOf(step, index)),
    "await call('clearFaults')",
  ]
  return `// Saved from the page of a Postern sandbox. Start the sandbox with the bot, such as with
// \`postern dev -- …\`, and run: npx vitest run saved.test.js
${PRELUDE.replace('CONTROL)', `${js(control)})`)}
test(${js(name)}, { timeout: 120_000 }, async () => {
${lines.map((line) => `  ${line}`).join('\n')}
})
`
}

/** @param {import('./scene.js').Step} step @param {number} index */
function lineOf(step, index) {
  switch (step.do) {
    case 'say': {
      const reply = step.reply === null ? '' : `, step${step.reply}`
      return `const step${index} = await say(${step.who}, ${step.chat}, ${js(step.text)}${reply})`
    }
    case 'attach':
      return `const step${index} = await attach(${step.who}, ${step.chat}, ${js(step.base64)}${step.text === '' ? '' : `, ${js(step.text)}`})`
    case 'expect':
      return `const step${index} = await expects(${step.who}, ${step.chat}, ${step.from}, ${js(step.text)})`
    case 'press':
      return `await press(${step.who}, ${step.chat}, ${js(step.data)}${step.answer === null ? '' : `, ${js(step.answer)}`})`
    case 'clock':
      return `await call('advance', { ms: ${step.ms} })`
    case 'clear':
      return `await call('clearFaults')`
    case 'fault':
    default: {
      const fields = Object.entries(step.fault).map(([field, value]) =>
        ['chat', 'user', 'certificateOf'].includes(field)
          ? `${field}: ${value}`
          : `${field}: ${js(value)}`,
      )
      return `await fault({ ${fields.join(', ')} })`
    }
  }
}

/** @param {unknown} value */
const js = (value) => JSON.stringify(value)
