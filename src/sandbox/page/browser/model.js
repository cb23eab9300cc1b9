import { control, followEvents } from './api.js'
import { Loading } from './loading.js'
import { toBase64 } from './pictures.js'
import { messageOf } from './refusal.js'
import { chatAddress, readRoute } from './route.js'
import { EMPTY_DRAFT } from './state.js'

/**
 * @typedef {import('./state.js').State} State
 * @typedef {import('./state.js').Person} Person
 * @typedef {import('./state.js').Draft} Draft
 * @typedef {import('./state.js').Notice} Notice
 */

/** How long a notice stays, in ms. */
const NOTICE_MS = 8000
/** How often one asks whether the sidecar is ready, in ms. */
const SIDECAR_MS = 3000

/** The page's memory: what it knows, and what a person can do. Views read `state` and call methods. */
export class Model extends Loading {
  #nextNotice = 1

  start() {
    setInterval(() => {
      const isWatched = this.state.sidecar !== null && document.visibilityState === 'visible'
      if (isWatched) void this.refreshSidecar()
    }, SIDECAR_MS)
    addEventListener('hashchange', () => this.#routed())
    document.addEventListener('visibilitychange', () => {
      if (document.visibilityState === 'visible') this.refreshAll()
    })
    followEvents({
      onOpen: () => {
        this.set({ connection: 'live' })
        this.refreshAll()
      },
      onLost: () => this.set({ connection: 'lost' }),
      onMissed: () => this.refreshAll(),
      onEvent: (event) => this.#happened(event),
    })
  }

  // Where one goes

  /** @param {string} address */
  go(address) {
    if (location.hash === address) this.#routed()
    else location.hash = address
  }

  /** Goes on without a step to come back by, as one walks a list. @param {string} address */
  goQuietly(address) {
    history.replaceState(null, '', address)
    this.set({ route: readRoute(address) })
  }

  /** @param {Partial<State['inspector']>} change */
  filter(change) {
    this.set({ inspector: { ...this.state.inspector, ...change } })
  }

  /** Marks a call, or not any more. @param {string} key of its row */
  toggleMark(key) {
    const marked = new Set(this.state.inspector.marked)
    if (!marked.delete(key)) marked.add(key)
    this.filter({ marked })
  }

  /** Shows the same chat, or one of their own, as somebody else. @param {Person} person */
  become(person) {
    const { chat } = this
    const own = this.state.chats.filter(({ members }) => members.includes(person.id))
    const next = own.find(({ id }) => id === chat?.id) ?? own[0]
    this.go(chatAddress(person.username, next?.id))
  }

  #routed() {
    this.lastPersonId = this.person?.id ?? null
    // The menu goes with what had the focus.
    if (this.state.isMenuOpen) setTimeout(() => document.getElementById('main')?.focus())
    this.set({ route: readRoute(location.hash), isMenuOpen: false })
    const { open } = this.state
    const { chat, person } = this
    if (open?.chatId !== chat?.id || open?.personId !== person?.id) this.set({ open: null })
    if (chat !== null && this.state.unread.has(chat.id)) {
      this.set({ unread: new Set([...this.state.unread].filter((id) => id !== chat.id)) })
    }
    const { route } = this.state
    const isUnknown = route.view === 'chat' && route.chatId !== null && chat === null
    if (route.view === 'world' || isUnknown) void this.refreshWorld()
    else void this.refreshChat()
    if (this.needsCalls) void this.refreshCalls()
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
        if (event.chatId !== chat?.id && event.kind === 'message') {
          this.set({ unread: new Set([...this.state.unread, event.chatId]) })
        }
        // Who came or went is known first, since it decides what may be asked of the chat.
        if (
          event.kind === 'message' &&
          (event.notice !== null || !this.state.chats.some(({ id }) => id === event.chatId))
        ) {
          void this.refreshWorld()
        } else if (event.chatId === chat?.id) {
          void this.refreshChat()
        }
        return
      case 'answer':
        if (event.userId === this.person?.id) this.#showAnswer(event)
        return
      case 'traffic':
        void this.refreshTraffic()
        void this.refreshChat()
        return
      case 'call':
        if (this.needsCalls && event.phase === 'answered') void this.refreshCalls()
        return
      case 'notice': {
        const what =
          event.notice === 'token_revoked' ? 'its token was revoked' : 'its webhook fails'
        this.notify(`The owner of ${this.nameOf(event.botId)} is told that ${what}.`)
        break
      }
      case 'restored':
        this.forget()
        this.refreshAll()
        return
      case 'key':
        this.forgetCertificate(event.userId)
        break
      case 'clock':
        this.noteClock(event.at)
        break
      case 'queued':
      case 'delivered':
      case 'failed':
      case 'fault':
      case 'step':
    }
    void this.refreshWorld()
  }

  /** @param {{ botId: number, text: string | null, alert: boolean, url: string | null }} answer */
  #showAnswer({ botId, text, alert, url }) {
    const words = [text, url].filter((part) => part !== null).join(' ')
    if (words === '') return
    const name = this.nameOf(botId)
    if (alert) this.set({ dialog: { kind: 'answer', name, words } })
    else this.notify(`${name}: ${words}`)
  }

  // What a person does

  /** @param {Partial<Draft>} change */
  setDraft(change) {
    const draft = { ...this.draft, ...change }
    this.set({ drafts: new Map([...this.state.drafts, [this.draftKey, draft]]) })
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
      void this.refreshWorld()
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
