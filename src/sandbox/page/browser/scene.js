/** What happened in chats as steps that can be taken again: what is saved as a test. */
import { control } from './api.js'
import { messageKey } from './bot-view.js'

/**
 * @typedef {import('./model.js').Model} Model
 * @typedef {import('./state.js').StoredMessage} StoredMessage
 * @typedef {{ key: string, title: string, person: string | null, bot: string | null, kind: string, members: string[], isOpen: boolean }} SceneChat
 *
 * `reply` is the number of the step that wrote what is quoted, from 0.
 * @typedef {{ at: number } & (
 *   { do: 'say', who: string, chat: string, text: string, reply: number | null } |
 *   { do: 'attach', who: string, chat: string, text: string, reply: number | null, base64: string } |
 *   { do: 'press', who: string, chat: string, data: string, answer: string | null } |
 *   { do: 'expect', who: string, chat: string, from: string, text: string, reply: number | null, verdict: string | undefined, markup: any } |
 *   { do: 'clock', ms: number } |
 *   { do: 'fault', fault: Record<string, any> } |
 *   { do: 'clear' }
 * )} Step
 * @typedef {object} Scene
 * @property {{ handle: string, name: string }[]} people
 * @property {{ handle: string, name: string }[]} bots
 * @property {SceneChat[]} chats
 * @property {Step[]} steps
 */

/**
 * The scene of a chat, or of the messages that were marked in Activity.
 * @param {Model} model
 * @param {{ chatId: number | null }} of null: what was marked
 * @param {ReadonlySet<string>} markedMessages keys of messages
 * @returns {Promise<Scene>}
 */
export async function sceneOf(model, { chatId }, markedMessages) {
  const { chats } = model.state
  const of = chats.filter(({ id }) =>
    chatId === null ? [...markedMessages].some((key) => key.startsWith(`${id}:`)) : id === chatId,
  )
  /** @type {Step[]} */
  const steps = []
  for (const chat of of) {
    steps.push(...(await stepsOf(model, chat, chatId === null ? markedMessages : null)))
  }
  const [from = 0] = steps.map(({ at }) => at).toSorted((one, other) => one - other)
  const doings = model.state.doings
    .filter(({ at }) => at >= from || at === 0)
    .map((step) => (step.do === 'fault' ? { ...step, fault: named(model, step.fault, of) } : step))
  const ordered = [...steps, ...doings].sort((one, other) => one.at - other.at)
  const ids = new Set(of.flatMap(({ members }) => members))
  const faulty = ordered.flatMap((step) =>
    step.do === 'fault' ? [step.fault['user'], step.fault['certificateOf']] : [],
  )
  const isIn = (/** @type {{ id: number, username: string }} */ { id, username }) =>
    ids.has(id) || faulty.includes(username)
  return {
    people: model.state.people
      .filter(isIn)
      .map(({ username, firstName }) => ({ handle: username, name: firstName })),
    bots: model.state.bots.filter(isIn).map(({ username, name }) => ({ handle: username, name })),
    chats: of.map((chat) => sceneChat(model, chat)),
    steps: withReplies(ordered),
  }
}

/**
 * A fault with names in the place of ids: `chat`, `user`, and `certificateOf` for a certificate.
 * @param {Model} model
 * @param {Record<string, any>} fault
 * @param {import('./state.js').Chat[]} chats of the scene
 */
function named(model, fault, chats) {
  const { chatId, userId, botId: _, publicKey, fingerprint, ...others } = fault
  const owner = model.state.people.find((one) => one.fingerprint === fingerprint)
  const isKnown = fingerprint !== undefined && owner !== undefined
  return {
    ...others,
    ...(chats.some(({ id }) => id === chatId) ? { chat: keyOf(chatId) } : {}),
    ...(userId === undefined ? {} : { user: handleOf(model, userId) }),
    ...(isKnown ? { certificateOf: owner.username } : {}),
    ...(!isKnown && publicKey !== undefined ? { publicKey } : {}),
    ...(!isKnown && fingerprint !== undefined ? { fingerprint } : {}),
  }
}

/** @param {Model} model @param {import('./state.js').Chat} chat @returns {SceneChat} */
function sceneChat(model, chat) {
  const handles = chat.members.map((id) => handleOf(model, id))
  const isPrivate = chat.kind === 'private'
  const bot = chat.members.find((id) => model.isBot(id))
  const person = chat.members.find((id) => !model.isBot(id))
  return {
    key: keyOf(chat.id),
    title: chat.title ?? keyOf(chat.id),
    person: isPrivate && person !== undefined ? handleOf(model, person) : null,
    bot: isPrivate && bot !== undefined ? handleOf(model, bot) : null,
    kind: chat.kind,
    members: handles,
    isOpen: chat.trueMode === 'open',
  }
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
 * @param {import('./state.js').Chat} chat
 * @param {ReadonlySet<string> | null} only keys of messages
 */
async function stepsOf(model, chat, only) {
  const persons = chat.members.filter((id) => !model.isBot(id))
  const [reader] = persons
  if (reader === undefined) return []
  const stored = await control.messages({ chatId: chat.id })
  const { messages } = await control.screen({ userId: reader, chatId: chat.id })
  const shown = new Map(messages.map((one) => [one.messageId, one]))
  /** @type {(Step & { id?: number, quotes?: number | null })[]} */
  const steps = []
  let isBegun = false
  for (const message of stored) {
    const key = messageKey(chat.id, message.id)
    const isWanted = message.kind === 'user' && (only === null || only.has(key))
    const { text = '', verdict } = shown.get(message.id) ?? {}
    const common = { chat: keyOf(chat.id), id: message.id, quotes: message.replyTo, reply: null }
    if (isWanted && model.isBot(message.fromId)) {
      // What a bot says unasked, nobody can bring about.
      if (isBegun && text !== '') {
        const [who, from] = [handleOf(model, reader), handleOf(model, message.fromId)]
        const at = message.editedAt ?? message.date
        const { markup } = message
        steps.push({ do: 'expect', at, who, from, text, verdict, markup, ...common })
      }
    } else if (isWanted) {
      isBegun = true
      const who = handleOf(model, message.fromId)
      steps.push(await written(chat.id, message, { who, text, ...common }))
    }
    steps.push(...pressesOf(model, chat.id, message.id, only === null || isWanted))
  }
  return steps
}

/**
 * @param {number} chatId
 * @param {StoredMessage} message
 * @param {{ who: string, text: string, chat: string, id: number, quotes: number | null, reply: null }} common
 * @returns {Promise<Step>}
 */
async function written(chatId, { id: messageId, fromId: userId, media, date: at }, common) {
  const [file] = media
  if (file === undefined) return { do: 'say', at, ...common }
  const { base64 } = await control.openMedia({ userId, chatId, messageId, mediaId: file.id })
  return { do: 'attach', at, base64, ...common }
}

/**
 * @param {Model} model
 * @param {number} chatId
 * @param {number} messageId
 * @param {boolean} isWanted
 * @returns {Step[]}
 */
function pressesOf(model, chatId, messageId, isWanted) {
  const entries = model.botView.byMessage.get(messageKey(chatId, messageId)) ?? []
  return entries.flatMap((entry) => {
    if (entry.kind !== 'press' || !isWanted) return []
    const who = handleOf(model, entry.from?.id)
    const answer = typeof entry.answer?.text === 'string' ? entry.answer.text : null
    return [{ do: 'press', at: entry.at, who, chat: keyOf(chatId), data: entry.data, answer }]
  })
}

/**
 * Names what is quoted by its step instead of its id.
 * @param {(Step & { id?: number, quotes?: number | null })[]} steps
 * @returns {Step[]}
 */
function withReplies(steps) {
  return steps.map((found) => {
    const { id: _, quotes, ...step } = found
    if (!('reply' in step) || typeof quotes !== 'number') return step
    const reply = steps.findIndex(
      (one) => one.id === quotes && 'chat' in one && one.chat === step.chat,
    )
    return { ...step, reply: reply === -1 ? null : reply }
  })
}
