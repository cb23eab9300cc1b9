/** The messages and actions of chats as steps of a scenario. */
import { control } from './api.js'
import { messageKey } from './bot-view.js'

/**
 * @typedef {import('./model.js').Model} Model
 * @typedef {import('./state.js').Chat} Chat
 * @typedef {import('./state.js').StoredMessage} StoredMessage
 *
 * An action of a scenario with its input, and the time of it. `id` is that of its message, `quotes`
 * that of the quoted one.
 * @typedef {{ at: number, action: string, input: Record<string, any>, id?: number, quotes?: number | null, markup?: any }} Step
 * @typedef {object} Scene
 * @property {Record<string, object>} people as a seed has them
 * @property {Record<string, object>} bots
 * @property {Record<string, object>} chats
 * @property {Step[]} steps
 */

/**
 * The scene of a chat, or of the messages that were marked in Activity.
 * @param {Model} model
 * @param {number | null} chatId null: of the marked messages
 * @param {ReadonlySet<string>} markedMessages keys of messages
 * @returns {Promise<Scene>}
 */
export async function sceneOf(model, chatId, markedMessages) {
  const chats = model.state.chats.filter(({ id }) =>
    chatId === null ? [...markedMessages].some((key) => key.startsWith(`${id}:`)) : id === chatId,
  )
  /** @type {Step[]} */
  const steps = []
  for (const chat of chats) {
    steps.push(...(await stepsOf(model, chat, chatId === null ? markedMessages : null)))
  }
  const from = Math.min(...steps.map(({ at }) => at))
  for (const step of model.state.doings) {
    if (step.at < from && step.at !== 0) continue
    const input = step.action === 'fault' ? named(model, step.input, chats) : step.input
    steps.push({ ...step, input })
  }
  steps.sort((one, other) => one.at - other.at)
  const ids = new Set(chats.flatMap(({ members }) => members))
  const faulty = steps.flatMap(({ action, input }) =>
    action === 'fault' ? [input['userId'], input['certificateOf']] : [],
  )
  const isIn = (/** @type {{ id: number, username: string }} */ { id, username }) =>
    ids.has(id) || faulty.includes(username)
  const { people, bots } = model.state
  return {
    people: Object.fromEntries(
      people.filter(isIn).map(({ username, firstName }) => [username, { firstName }]),
    ),
    bots: Object.fromEntries(bots.filter(isIn).map(({ username, name }) => [username, { name }])),
    chats: Object.fromEntries(chats.map((chat) => [keyOf(chat.id), seedChat(model, chat)])),
    steps,
  }
}

/**
 * A fault with names in the place of ids, and `certificateOf` for a certificate.
 * @param {Model} model
 * @param {Record<string, any>} fault
 * @param {Chat[]} chats of the scene
 */
function named(model, fault, chats) {
  const { chatId, userId, botId: _, publicKey, fingerprint, ...others } = fault
  const owner = model.state.people.find((one) => one.fingerprint === fingerprint)
  const certificate =
    fingerprint !== undefined && owner !== undefined
      ? { certificateOf: owner.username }
      : { publicKey, fingerprint }
  return {
    ...others,
    chatId: chats.some(({ id }) => id === chatId) ? keyOf(chatId) : undefined,
    userId: userId === undefined ? undefined : handleOf(model, userId),
    ...certificate,
  }
}

/** @param {Model} model @param {Chat} chat */
function seedChat(model, { id, kind, title, members, trueMode: mode }) {
  const [owner = '', ...others] = members.map((member) => handleOf(model, member))
  if (kind === 'private') {
    const [person, bot] = members.toSorted(
      (a, b) => Number(model.isBot(a)) - Number(model.isBot(b)),
    )
    return { kind, person: handleOf(model, person ?? 0), bot: handleOf(model, bot ?? 0) }
  }
  const roles = Object.fromEntries(others.map((one) => [one, 'member']))
  return { kind, mode, title: title ?? keyOf(id), members: { [owner]: 'owner', ...roles } }
}

/** @param {number} chatId */
const keyOf = (chatId) => `chat${chatId}`

/** @param {Model} model @param {number} id */
function handleOf(model, id) {
  const { people, bots } = model.state
  return [...people, ...bots].find((one) => one.id === id)?.username ?? `#${id}`
}

/**
 * @param {Model} model
 * @param {Chat} chat
 * @param {ReadonlySet<string> | null} only keys of messages
 */
async function stepsOf(model, chat, only) {
  const reader = chat.members.find((id) => !model.isBot(id))
  if (reader === undefined) return []
  const chatId = keyOf(chat.id)
  const stored = await control.messages({ chatId: chat.id })
  const { messages } = await control.screen({ userId: reader, chatId: chat.id })
  const shown = new Map(messages.map((one) => [one.messageId, one]))
  /** @type {Step[]} */
  const steps = []
  let isBegun = false
  for (const message of stored) {
    const { id, fromId, replyTo: quotes, markup } = message
    const key = messageKey(chat.id, id)
    if (only !== null && !only.has(key)) continue
    const { text = '', verdict } = shown.get(id) ?? {}
    const userId = handleOf(model, fromId)
    if (message.kind === 'user' && !model.isBot(fromId)) {
      isBegun = true
      const file = await fileOf(chat.id, message)
      const action = file === null ? 'write' : 'sendMedia'
      const caption = file === null || text !== '' ? { text } : {}
      const input = { userId, chatId, ...caption, ...file }
      steps.push({ at: message.date, action, input, id, quotes })
    } else if (message.kind === 'user' && isBegun && text !== '') {
      // No action of people causes the messages of a bot before the first of theirs.
      const buttons = markup?.inlineKeyboard.map((row) => row.map((button) => button.text))
      const seen = { userId: handleOf(model, reader), chatId, fromId: userId, text }
      const input = { ...seen, verdict, buttons }
      const at = message.editedAt ?? message.date
      steps.push({ at, action: 'expect', input, id, quotes, markup })
    }
    for (const entry of model.botView.byMessage.get(key) ?? []) {
      if (entry.kind !== 'press') continue
      const answer = typeof entry.answer?.text === 'string' ? entry.answer.text : undefined
      const input = { userId: handleOf(model, entry.from?.id), chatId, data: entry.data, answer }
      steps.push({ at: entry.at, action: 'press', input })
    }
  }
  return steps
}

/** The first file of a message that a person sent; or null. @param {number} chatId @param {StoredMessage} message */
async function fileOf(chatId, { id: messageId, fromId: userId, media: [file] }) {
  if (file === undefined) return null
  const { base64 } = await control.openMedia({ userId, chatId, messageId, mediaId: file.id })
  return { base64 }
}
