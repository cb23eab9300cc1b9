/** What a service can do to a chat that is not its job, each with one press. */
import { control, RefusedError } from './api.js'
import { parsed } from './bot-view.js'
import { isSealed } from './mode.js'

/** @typedef {import('./model.js').Model} Model */
/** @typedef {import('./state.js').Chat} Chat */

/** Who owns the certificates that a lying service puts in. */
const STRANGER = 'mallory'

/** @type {Record<string, string>} */
const NAMES = {
  'swap-key': 'a key is swapped',
  ghost: 'a ghost is on the key list',
  'hide-key': 'a key is hidden',
  'claim-mode': 'the mode is flipped',
  'claim-kind': 'the kind is false',
  'claim-unprotected': 'the bot’s key is denied',
  'claim-fingerprint': 'the bot’s fingerprint is false',
  'lost-answer': 'an answer is lost',
}

/** @param {string} name of a fault */
export const lieName = (name) => NAMES[name] ?? name

/** @param {string} name of a fault */
export const isLie = (name) => name in NAMES && name !== 'lost-answer'

/**
 * @typedef {{ id: string, title: string, does: string, isPossible: (model: Model, chat: Chat) => boolean, act: (model: Model, chat: Chat) => Promise<unknown> }} Lie
 * @type {Lie[]}
 */
export const LIES_TO_TELL = [
  {
    id: 'swap',
    title: 'Swap a key',
    does: 'Key lists name a stranger’s certificate as that of the first person here.',
    isPossible: (model, chat) => personsIn(model, chat).length > 0,
    act: async (model, chat) => {
      const [userId = 0] = personsIn(model, chat)
      const { publicKey, fingerprint } = await strangersKey(model)
      return await control.fault({ name: 'swap-key', userId, publicKey, fingerprint })
    },
  },
  {
    id: 'ghost',
    title: 'Add a ghost',
    does: 'The key list of this chat also names a stranger, who would read along.',
    isPossible: (_model, chat) => isSealed(chat),
    act: async (model, chat) => {
      const { userId, publicKey, fingerprint } = await strangersKey(model)
      return await control.fault({ name: 'ghost', chatId: chat.id, userId, publicKey, fingerprint })
    },
  },
  {
    id: 'mode',
    title: 'Flip the mode',
    does: 'The service claims that an encrypted chat is readable, or the reverse.',
    isPossible: () => true,
    act: async (_model, chat) => {
      const isProtected = isSealed(chat)
      return await control.fault({
        name: 'claim-mode',
        chatId: chat.id,
        mode: isProtected ? 'open' : 'protected',
        historyVisible: isProtected,
      })
    },
  },
  {
    id: 'replay',
    title: 'Replay a message',
    does: 'The newest message of a person comes to the bot once more, as another update.',
    isPossible: (model) => newestUpdate(model) !== null,
    act: async (model) => {
      const { botId, update } = await newestOriginal(model)
      return await control.injectUpdate({ botId, update })
    },
  },
  {
    id: 'forge',
    title: 'Forge a message',
    does: 'Readable words come in the name of the first person here, who never wrote them.',
    isPossible: (model, chat) => isSealed(chat) && newestUpdate(model) !== null,
    act: async (model, chat) => {
      const { botId, update } = await newestOriginal(model)
      const { armored: _, media: __, ...message } = update.message
      const id = 1 + Math.max(0, ...(model.state.open?.stored ?? []).map((one) => one.id))
      const forged = { ...message, id: id + 1_000_000, chat: { id: chat.id, kind: chat.kind } }
      return await control.injectUpdate({
        botId,
        update: { ...update, message: { ...forged, text: 'Send me the key to the gate.' } },
      })
    },
  },
  {
    id: 'lost',
    title: 'Lose an answer',
    does: 'The next message of the bot is taken, and the connection breaks before it is told.',
    isPossible: (model) => model.bot !== null,
    act: async () => await control.fault({ name: 'lost-answer', route: 'sendMessage', times: 1 }),
  },
  {
    id: 'deny',
    title: 'Deny the bot’s key',
    does: 'The service says that the bot has published none.',
    isPossible: (model) => model.bot?.mode === 'protected',
    act: async () => await control.fault({ name: 'claim-unprotected' }),
  },
]

/** @param {Model} model @param {Chat} chat */
function personsIn(model, chat) {
  const { people } = model.state
  return chat.members.filter((id) =>
    people.some((one) => one.id === id && one.fingerprint !== null && one.username !== STRANGER),
  )
}

/** A certificate that is nobody's here, and whose it is. @param {Model} model */
async function strangersKey(model) {
  const known = model.state.people.find(({ username }) => username === STRANGER)
  const { id } = known ?? (await control.addPerson({ username: STRANGER, firstName: 'Mallory' }))
  await control.givePhone({ userId: id })
  const certificate = await control.certificate({ userId: id })
  if (certificate === null) throw new RefusedError('The stranger’s phone has no key.')
  return { userId: id, ...certificate }
}

/**
 * The newest message of a person in the open chat that the bot of the chat got as an update.
 * @param {Model} model
 */
function newestUpdate(model) {
  const { open } = model.state
  const { botView, bot } = model
  const ids = (open?.stored ?? [])
    .filter(({ fromId, kind }) => kind === 'user' && fromId !== bot?.id)
    .map(({ id }) => id)
  for (const id of ids.toReversed()) {
    const entries = botView.byMessage.get(`${open?.chatId}:${id}`) ?? []
    const seen = entries.find((entry) => entry.kind === 'message')
    if (seen !== undefined && seen.kind === 'message') return seen.updateId
  }
  return null
}

/** The newest update of the bot as the service gave it, without its id. @param {Model} model */
async function newestOriginal(model) {
  const { bot } = model
  const updateId = newestUpdate(model)
  if (bot === null || updateId === null) throw new RefusedError('The bot got no message here yet.')
  const { updateId: _, ...update } = await originalOf(bot.id, updateId)
  return { botId: bot.id, update }
}

/**
 * An update as the service gave it, before any sidecar.
 * @param {number} botId
 * @param {number} updateId
 * @returns {Promise<any>}
 */
async function originalOf(botId, updateId) {
  const calls = await control.transcript()
  for (const { path, answer, body } of calls.toReversed()) {
    const result = /\/updates(?:\?|$)/.test(path) ? parsed(answer)?.result : [parsed(body)]
    const found = Array.isArray(result) ? result.find((one) => one?.updateId === updateId) : null
    if (found !== undefined && found !== null) return found
  }
  const queued = await control.queued({ botId })
  const found = queued.find((one) => one.updateId === updateId)
  if (found === undefined) throw new RefusedError('The update is recorded no longer.')
  return found
}
