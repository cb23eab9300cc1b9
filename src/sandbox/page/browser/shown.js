import { exchangesWithService, viewOf } from './bot-view.js'
import { chatAddress } from './route.js'
import { EMPTY_DRAFT, initialState } from './state.js'

/**
 * @typedef {import('./state.js').State} State
 * @typedef {import('./state.js').Chat} Chat
 */

/** What is shown, as it follows from the state. */
export class Shown {
  state = initialState()
  /** @type {number | null} Whose phone one held last. */
  lastPersonId = null

  /** @type {() => void} */
  #onChange
  #isRenderDue = false
  /** @type {{ exchanges: unknown, calls: unknown, botId: number | null, view: import('./bot-view.js').BotView } | null} */
  #botView = null

  /** @param {() => void} onChange called after every change, once in a while */
  constructor(onChange) {
    this.#onChange = onChange
  }

  /** @param {Partial<State>} change */
  set(change) {
    this.state = { ...this.state, ...change }
    if (this.#isRenderDue) return
    this.#isRenderDue = true
    queueMicrotask(() => {
      this.#isRenderDue = false
      this.#onChange()
    })
  }

  /** The person whose phone one holds; null before the world is known, or when it is empty. */
  get person() {
    const { route, people, chats } = this.state
    const handle = route.view === 'chat' ? route.handle : null
    const named = people.find(({ username }) => username === handle)
    const withChat = people.find(({ id }) => chats.some(({ members }) => members.includes(id)))
    const last = people.find(({ id }) => id === this.lastPersonId)
    return named ?? last ?? withChat ?? people[0] ?? null
  }

  /** The chat that is shown; null when there is none. */
  get chat() {
    const { route, chats } = this.state
    if (route.view !== 'chat') return null
    const { person } = this
    const own = chats.filter(({ members }) => person !== null && members.includes(person.id))
    if (route.chatId === null) return own[0] ?? null
    return chats.find(({ id }) => id === route.chatId) ?? null
  }

  /** Whether one looks at a chat as somebody who is in it. */
  get isMember() {
    const { person, chat } = this
    return person !== null && chat !== null && chat.members.includes(person.id)
  }

  /** The bot whose column is shown beside a chat; null when none is in it. */
  get bot() {
    const { bots, attachedTo } = this.state
    const { chat } = this
    const members = bots.filter(({ id }) => chat?.members.includes(id))
    return members.find(({ id }) => id === attachedTo) ?? members[0] ?? null
  }

  /** Whether what the bot exchanges with its sidecar is watched. */
  get isAttached() {
    const { bot } = this
    return bot !== null && bot.id === this.state.attachedTo
  }

  /** What the bot of the chat saw. */
  get botView() {
    const { traffic, calls, attachedTo } = this.state
    const { bot } = this
    const botId = bot?.id ?? null
    const known = this.#botView
    if (known?.exchanges === traffic && known.calls === calls && known.botId === botId) {
      return known.view
    }
    const isAttached = botId !== null && botId === attachedTo
    const exchanges = isAttached ? traffic : bot === null ? [] : exchangesWithService(calls, bot)
    this.#botView = { exchanges: traffic, calls, botId, view: viewOf(exchanges) }
    return this.#botView.view
  }

  /** @param {number} id of a person or a bot */
  nameOf(id) {
    const { people, bots } = this.state
    const person = people.find((one) => one.id === id)
    return person?.firstName ?? bots.find((one) => one.id === id)?.name ?? `#${id}`
  }

  /** @param {number} id of a person or a bot */
  isBot(id) {
    return this.state.bots.some((one) => one.id === id)
  }

  /** @param {Chat} chat */
  titleOf(chat) {
    const { person } = this
    if (chat.title !== null && chat.title !== '') return chat.title
    const others = chat.members.filter((id) => id !== person?.id)
    return others.map((id) => this.nameOf(id)).join(' and ') || `Chat ${chat.id}`
  }

  /** @param {Chat} chat */
  addressOf(chat) {
    return this.person === null ? '#' : chatAddress(this.person.username, chat.id)
  }

  /** Ms since 1970 by the sandbox's clock, as far as the page knows it. */
  get nowMs() {
    const { now, mode, readAt } = this.state.clock
    return mode === 'still' ? now : now + (Date.now() - readAt)
  }

  /** What is being written in the chat that is shown. */
  get draft() {
    return this.state.drafts.get(this.draftKey) ?? EMPTY_DRAFT
  }

  /** Of the draft that belongs to what is shown. */
  get draftKey() {
    return `${this.person?.id} ${this.chat?.id}`
  }
}
