import { control, fetchTraffic, followEvents, RefusedError } from './api.js'
import { exchangesWithService, viewOf } from './bot-view.js'
import { keyIdsOf } from './packets.js'
import { coalesced } from './coalesced.js'
import { kept, keptEach } from './kept.js'
import { bytesOf, pictureType, toBase64 } from './pictures.js'
import { chatAddress, readRoute } from './route.js'
import { EMPTY_DRAFT, initialState } from './state.js'

/**
 * @typedef {import('./state.js').State} State
 * @typedef {import('./state.js').Chat} Chat
 * @typedef {import('./state.js').Person} Person
 * @typedef {import('./state.js').ShownMessage} ShownMessage
 * @typedef {import('./state.js').Picture} Picture
 * @typedef {import('./state.js').Draft} Draft
 * @typedef {import('./state.js').Notice} Notice
 */

/** How long a notice stays, in ms. */
const NOTICE_MS = 8000

/** The page's memory: what it knows, and what a person can do. Views read `state` and call methods. */
export class Model {
  state = initialState()

  /** @type {() => void} */
  #onChange
  #isRenderDue = false
  /** @type {number | null} Whose phone one held last. */
  #lastPersonId = null
  #nextNotice = 1
  /** @type {Map<number, string | null>} Whose key ids are known, with the fingerprint where it is told. */
  #readCertificates = new Map()
  /** @type {{ exchanges: unknown, calls: unknown, botId: number | null, view: import('./bot-view.js').BotView } | null} */
  #botView = null
  #refreshWorld = coalesced(() => this.#loadWorld())
  #refreshChat = coalesced(() => this.#loadChat())
  #refreshTraffic = coalesced(() => this.#loadTraffic())
  #refreshCalls = coalesced(() => this.#loadCalls())

  /** @param {() => void} onChange called after every change, once in a while */
  constructor(onChange) {
    this.#onChange = onChange
  }

  start() {
    addEventListener('hashchange', () => this.#routed())
    document.addEventListener('visibilitychange', () => {
      if (document.visibilityState === 'visible') this.#refreshAll()
    })
    followEvents({
      onOpen: () => {
        this.set({ connection: 'live' })
        this.#refreshAll()
      },
      onLost: () => this.set({ connection: 'lost' }),
      onMissed: () => this.#refreshAll(),
      onEvent: (event) => this.#happened(event),
    })
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

  // What is shown

  /** The person whose phone one holds; null before the world is known, or when it is empty. */
  get person() {
    const { route, people, chats } = this.state
    const handle = route.view === 'chat' ? route.handle : null
    const named = people.find(({ username }) => username === handle)
    const withChat = people.find(({ id }) => chats.some(({ members }) => members.includes(id)))
    const last = people.find(({ id }) => id === this.#lastPersonId)
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
    return this.state.drafts.get(this.#draftKey) ?? EMPTY_DRAFT
  }

  get #draftKey() {
    return `${this.person?.id} ${this.chat?.id}`
  }

  // Where one goes

  /** @param {string} address */
  go(address) {
    if (location.hash === address) this.#routed()
    else location.hash = address
  }

  /** Shows the same chat, or one of their own, as somebody else. @param {Person} person */
  become(person) {
    const { chat } = this
    const own = this.state.chats.filter(({ members }) => members.includes(person.id))
    const next = own.find(({ id }) => id === chat?.id) ?? own[0]
    this.go(chatAddress(person.username, next?.id))
  }

  #routed() {
    this.#lastPersonId = this.person?.id ?? null
    this.set({ route: readRoute(location.hash), isMenuOpen: false })
    const { open } = this.state
    const { chat, person } = this
    if (open?.chatId !== chat?.id || open?.personId !== person?.id) this.set({ open: null })
    if (chat !== null && this.state.unread.has(chat.id)) {
      this.set({ unread: new Set([...this.state.unread].filter((id) => id !== chat.id)) })
    }
    const { route } = this.state
    const isUnknown = route.view === 'chat' && route.chatId !== null && chat === null
    if (route.view === 'world' || isUnknown) void this.#refreshWorld()
    else void this.#refreshChat()
    if (this.#needsCalls) void this.#refreshCalls()
  }

  // What happens

  /** @param {import('./api.js').PageEvent} event */
  #happened(event) {
    const { chat } = this
    switch (event.kind) {
      case 'message':
      case 'edited':
      case 'deleted':
      case 'typing':
        if (event.chatId !== chat?.id && event.kind === 'message') this.#markUnread(event.chatId)
        // Who came or went is known first, since it decides what may be asked of the chat.
        if (event.kind === 'message' && (event.notice !== null || !this.#knows(event.chatId))) {
          void this.#refreshWorld()
        } else if (event.chatId === chat?.id) {
          void this.#refreshChat()
        }
        return
      case 'answer':
        if (event.userId === this.person?.id) this.#showAnswer(event)
        return
      case 'traffic':
        void this.#refreshTraffic()
        void this.#refreshChat()
        return
      case 'call':
        if (this.#needsCalls && event.phase === 'answered') void this.#refreshCalls()
        return
      case 'notice': {
        const what =
          event.notice === 'token_revoked' ? 'its token was revoked' : 'its webhook fails'
        this.notify(`The owner of ${this.nameOf(event.botId)} is told that ${what}.`)
        void this.#refreshWorld()
        return
      }
      case 'restored':
        this.#forget()
        this.#refreshAll()
        return
      case 'queued':
      case 'delivered':
      case 'failed':
        void this.#refreshWorld()
        return
      case 'key':
        this.#readCertificates.delete(event.userId)
        void this.#refreshWorld()
        return
      case 'clock':
      case 'fault':
      case 'step':
        void this.#refreshWorld()
    }
  }

  /** @param {number} chatId */
  #knows(chatId) {
    return this.state.chats.some(({ id }) => id === chatId)
  }

  /** @param {number} chatId */
  #markUnread(chatId) {
    this.set({ unread: new Set([...this.state.unread, chatId]) })
  }

  /** @param {{ botId: number, text: string | null, alert: boolean, url: string | null }} answer */
  #showAnswer({ botId, text, alert, url }) {
    const words = [text, url].filter((part) => part !== null).join(' ')
    if (words === '') return
    const name = this.nameOf(botId)
    if (alert) this.set({ dialog: { kind: 'answer', name, words } })
    else this.notify(`${name}: ${words}`)
  }

  /** The transcript is read where it is shown, or is all that is known of a bot. */
  get #needsCalls() {
    const { route } = this.state
    return route.view === 'activity' || (route.view === 'chat' && !this.isAttached)
  }

  // What is loaded

  #refreshAll() {
    void this.#refreshWorld()
    void this.#refreshTraffic()
  }

  /** The world was put back: its ids may come again with other things. */
  #forget() {
    for (const picture of this.state.pictures.values()) {
      if (picture.state === 'shown') URL.revokeObjectURL(picture.url)
    }
    this.set({ open: null, pictures: new Map(), unread: new Set(), calls: [], traffic: [] })
  }

  async #loadWorld() {
    const [people, bots, chats, clock, faults, snapshots] = await Promise.all([
      control.people(),
      control.bots(),
      control.chats(),
      control.now(),
      control.faults(),
      control.snapshots(),
    ])
    const before = this.state
    this.set({
      people: kept(before.people, people),
      bots: kept(before.bots, bots),
      chats: kept(before.chats, chats),
      clock: { ...clock, readAt: Date.now() },
      faults: kept(before.faults, faults),
      snapshots: snapshots.map(({ name }) => name),
      isLoaded: true,
    })
    void this.#readKeys()
    await this.#refreshChat()
    if (this.#needsCalls) await this.#refreshCalls()
  }

  async #loadChat() {
    const { chat, person, bot } = this
    if (chat === null || person === null) return
    const at = { chatId: chat.id, personId: person.id }
    const [stored, screen, queued] = await Promise.all([
      control.messages({ chatId: chat.id }),
      this.isMember ? control.screen({ userId: person.id, chatId: chat.id }) : null,
      bot === null ? [] : control.queued({ botId: bot.id }),
    ])
    if (this.chat?.id !== at.chatId || this.person?.id !== at.personId) return
    /** @type {Map<number, number>} */
    const waiting = new Map()
    for (const { updateId, message } of /** @type {any[]} */ (queued)) {
      if (message?.chat?.id === chat.id) waiting.set(message.id, updateId)
    }
    const shown = screen?.messages ?? null
    this.#announce(at, shown ?? [])
    const { open } = this.state
    const before = [...(open?.shown?.values() ?? [])]
    const byId = shown && keptEach(before, shown, ({ messageId }) => messageId)
    this.set({
      open: {
        ...at,
        stored: keptEach(open?.stored ?? [], stored, ({ id }) => id),
        shown: byId && new Map(byId.map((message) => [message.messageId, message])),
        typing: screen?.typing ?? [],
        waiting,
      },
    })
    for (const message of shown ?? []) {
      for (const { id } of message.media) void this.#loadPicture(at, message.messageId, id)
    }
  }

  /**
   * @param {{ chatId: number, personId: number }} at
   * @param {ShownMessage[]} shown
   */
  #announce({ chatId, personId }, shown) {
    const { open } = this.state
    const newest = shown.at(-1)
    if (newest === undefined || open?.chatId !== chatId || open.personId !== personId) return
    const isNew = newest.messageId > (open.stored.at(-1)?.id ?? 0)
    if (!isNew || newest.fromId === personId) return
    const what = newest.kind === 'user' ? newest.text || 'a message without text' : newest.kind
    this.set({ announcement: `${this.nameOf(newest.fromId)}: ${what}` })
  }

  async #loadTraffic() {
    const known = this.state.traffic.at(-1)?.n ?? 0
    const { attachedTo, sinceMs, last, exchanges } = await fetchTraffic(known)
    // Another process: what was known is of the one before.
    const isAnew = last < known
    const traffic = isAnew ? exchanges : [...this.state.traffic, ...exchanges]
    this.set({ attachedTo, trafficSinceMs: sinceMs, traffic })
    if (isAnew) await this.#refreshTraffic()
  }

  async #loadCalls() {
    const open = this.state.calls.find(({ status }) => status === 0)
    const known = (open?.n ?? (this.state.calls.at(-1)?.n ?? 0) + 1) - 1
    const newer = await control.transcript({ after: known })
    const older = this.state.calls.filter(({ n }) => n <= known)
    this.set({ calls: [...older, ...newer].slice(-2000) })
  }

  /** Learns whose key ids are whose, so that recipients can be named. */
  async #readKeys() {
    const { people, bots } = this.state
    const owners = new Map(this.state.keyOwners)
    const withKey = [
      ...people.filter(({ fingerprint }) => fingerprint !== null),
      ...bots
        .filter(({ mode }) => mode === 'protected')
        .map(({ id }) => ({ id, fingerprint: null })),
    ]
    for (const { id, fingerprint } of withKey) {
      if (this.#readCertificates.get(id) === fingerprint) continue
      this.#readCertificates.set(id, fingerprint)
      const certificate = await control.certificate({ userId: id })
      if (certificate === null) continue
      for (const keyId of await keyIdsOf(certificate.publicKey)) owners.set(keyId, id)
    }
    if (owners.size > this.state.keyOwners.size) this.set({ keyOwners: owners })
  }

  /**
   * @param {{ chatId: number, personId: number }} at
   * @param {number} messageId
   * @param {string} mediaId
   */
  async #loadPicture({ chatId, personId }, messageId, mediaId) {
    const key = pictureKey(personId, mediaId)
    if (this.state.pictures.has(key)) return
    this.#setPicture(key, { state: 'loading' })
    try {
      const opened = await control.openMedia({ userId: personId, chatId, messageId, mediaId })
      const bytes = bytesOf(opened.base64)
      if (opened.verdict === 'unopened') {
        this.#setPicture(key, { state: 'failed', reason: 'sealed to others' })
        return
      }
      const type = pictureType(bytes)
      const blob = new Blob([bytes], { type: type ?? 'application/octet-stream' })
      const { verdict, storedBytes } = opened
      const url = URL.createObjectURL(blob)
      this.#setPicture(key, {
        state: 'shown',
        url,
        type,
        bytes: bytes.length,
        storedBytes,
        verdict,
      })
    } catch (error) {
      this.#setPicture(key, { state: 'failed', reason: messageOf(error) })
    }
  }

  /**
   * It begins like a picture, and the browser cannot show it.
   * @param {string} key
   */
  markNoPicture(key) {
    const picture = this.state.pictures.get(key)
    if (picture?.state === 'shown') this.#setPicture(key, { ...picture, type: null })
  }

  /**
   * @param {string} key
   * @param {Picture} picture
   */
  #setPicture(key, picture) {
    this.set({ pictures: new Map([...this.state.pictures, [key, picture]]) })
  }

  // What a person does

  /** @param {Partial<Draft>} change */
  setDraft(change) {
    const draft = { ...this.draft, ...change }
    this.set({ drafts: new Map([...this.state.drafts, [this.#draftKey, draft]]) })
  }

  /** Sends what is written. Gives false when it was refused, and then keeps it. */
  async send() {
    const { draft, chat, person } = this
    const text = draft.text.trim()
    if (chat === null || person === null || (text === '' && draft.files.length === 0)) return false
    this.setDraft(EMPTY_DRAFT)
    const where = { userId: person.id, chatId: chat.id }
    const quote = draft.replyTo === null ? {} : { replyTo: draft.replyTo }
    const isSent = await this.attempt(async () => {
      if (draft.editing !== null) {
        await control.editMessage({ ...where, messageId: draft.editing, text })
        return
      }
      if (draft.files.length === 0) await control.write({ ...where, text, ...quote })
      for (const [index, file] of draft.files.entries()) {
        const caption = index === 0 ? { ...(text === '' ? {} : { text }), ...quote } : {}
        await control.sendMedia({ ...where, base64: await toBase64(file), ...caption })
      }
    })
    if (!isSent && this.draft.text === '' && this.chat?.id === chat.id) this.setDraft(draft)
    return isSent
  }

  /**
   * Does something to the sandbox and loads what is different then; a refusal is shown.
   * @param {() => Promise<unknown>} action
   * @returns {Promise<boolean>} whether it was done
   */
  async attempt(action) {
    try {
      await action()
      return true
    } catch (error) {
      this.notify(messageOf(error), 'problem')
      return false
    } finally {
      void this.#refreshWorld()
    }
  }

  /**
   * @param {string} text
   * @param {Notice['tone']} [tone]
   */
  notify(text, tone = 'info') {
    const id = this.#nextNotice++
    this.set({ notices: [...this.state.notices, { id, tone, text }] })
    setTimeout(() => this.dismiss(id), NOTICE_MS)
  }

  /** @param {number} id of a notice */
  dismiss(id) {
    this.set({ notices: this.state.notices.filter((notice) => notice.id !== id) })
  }

  /** @param {State['dialog']} dialog */
  ask(dialog) {
    this.set({ dialog, isMenuOpen: false })
  }

  closeDialog() {
    this.set({ dialog: null })
  }

  /**
   * @param {number} botId
   * @param {string} token
   */
  showToken(botId, token) {
    this.set({ tokens: new Map([...this.state.tokens, [botId, token]]) })
  }
}

/**
 * @param {number} personId
 * @param {string} mediaId
 */
export function pictureKey(personId, mediaId) {
  return `${personId} ${mediaId}`
}

/** @param {unknown} error */
function messageOf(error) {
  if (error instanceof RefusedError) return error.message
  return 'The sandbox does not answer.'
}
