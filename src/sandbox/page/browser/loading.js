import { control, fetchFaultKinds, fetchSidecar, fetchTraffic, RefusedError } from './api.js'
import { coalesced } from './coalesced.js'
import { kept, keptEach } from './kept.js'
import { keyIdsOf } from './packets.js'
import { bytesOf, pictureType } from './pictures.js'
import { messageOf } from './refusal.js'
import { Shown } from './shown.js'

/**
 * @typedef {import('./state.js').State} State
 * @typedef {import('./state.js').ShownMessage} ShownMessage
 * @typedef {import('./state.js').Picture} Picture
 */

/** How many calls to the service are kept. */
const CALLS_KEPT = 2000

/** Loads what is shown, and keeps what is not different. */
export class Loading extends Shown {
  refreshWorld = coalesced(() => this.#loadWorld())
  refreshChat = coalesced(() => this.#loadChat())
  refreshTraffic = coalesced(() => this.#loadTraffic())
  refreshCalls = coalesced(() => this.#loadCalls())
  refreshSidecar = coalesced(() => this.#loadSidecar())

  /** @type {Map<number, string | null>} Whose key ids are known, with the fingerprint where it is told. */
  #readCertificates = new Map()

  refreshAll() {
    void this.refreshWorld()
    void this.refreshTraffic()
    void this.refreshSidecar()
  }

  /** Lets the key ids of somebody be read again. @param {number} userId */
  forgetCertificate(userId) {
    this.#readCertificates.delete(userId)
  }

  /** The transcript is read where it is shown, or is all that is known of a bot. */
  get needsCalls() {
    const { route } = this.state
    return route.view === 'activity' || (route.view === 'chat' && !this.isAttached)
  }

  /** The world was put back: its ids may come again with other things. */
  forget() {
    for (const picture of this.state.pictures.values()) {
      if (picture.state === 'shown') URL.revokeObjectURL(picture.url)
    }
    this.set({ open: null, pictures: new Map(), unread: new Set(), calls: [], traffic: [] })
  }

  async #loadWorld() {
    const [people, bots, chats, clock, faults, snapshots, worlds, faultKinds] = await Promise.all([
      control.people(),
      control.bots(),
      control.chats(),
      control.now(),
      control.faults(),
      control.snapshots(),
      control.worlds(),
      this.state.faultKinds ?? fetchFaultKinds(),
    ])
    const before = this.state
    this.#noteFaults(faults, clock.now)
    this.set({
      people: kept(before.people, people),
      bots: kept(before.bots, bots),
      chats: kept(before.chats, chats),
      clock: { ...clock, readAt: Date.now() },
      faults: kept(before.faults, faults),
      faultKinds,
      snapshots: snapshots.map(({ name }) => name),
      worlds: kept(before.worlds, worlds),
      world: worlds.find(({ path }) => `${path}/` === location.pathname) ?? null,
      isLoaded: true,
    })
    void this.#readKeys()
    await this.refreshChat()
    if (this.needsCalls) await this.refreshCalls()
  }

  /** Notes by how much the clock was moved. @param {number} at the time that it has now */
  noteClock(at) {
    const ms = Math.round((at - this.nowMs) / 1000) * 1000
    if (ms > 0) this.#note({ at, action: 'advance', input: { ms } })
  }

  /** @param {State['faults']} faults those that are set now @param {number} at */
  #noteFaults(faults, at) {
    const { isLoaded, faults: before } = this.state
    for (const { id, struck: _, left: __, ...fault } of faults) {
      const isNew = !before.some((one) => one.id === id)
      // Those that were there when the page came belong to the beginning.
      if (isNew) this.#note({ at: isLoaded ? at : 0, action: 'fault', input: fault })
    }
    if (before.length > 0 && faults.length === 0)
      this.#note({ at, action: 'clearFaults', input: {} })
  }

  /** @param {State['doings'][number]} doing */
  #note(doing) {
    this.set({ doings: [...this.state.doings, doing] })
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

  async #loadSidecar() {
    this.set({ sidecar: kept(this.state.sidecar, await fetchSidecar()) })
  }

  async #loadTraffic() {
    const known = this.state.traffic.at(-1)?.n ?? 0
    const { attachedTo, sinceMs, last, exchanges } = await fetchTraffic(known)
    // Another process: what was known is of the one before.
    const isAnew = last < known
    const traffic = isAnew ? exchanges : [...this.state.traffic, ...exchanges]
    this.set({ attachedTo, trafficSinceMs: sinceMs, traffic })
    if (isAnew) await this.refreshTraffic()
  }

  async #loadCalls() {
    const open = this.state.calls.find(({ status }) => status === 0)
    const known = (open?.n ?? (this.state.calls.at(-1)?.n ?? 0) + 1) - 1
    const newer = await control.transcript({ after: known })
    const older = this.state.calls.filter(({ n }) => n <= known)
    this.set({ calls: [...older, ...newer].slice(-CALLS_KEPT) })
  }

  /** Learns whose key ids are whose, so that recipients can be named. */
  async #readKeys() {
    const { people, bots } = this.state
    const owners = new Map(this.state.keyOwners)
    const sealing = bots.filter(({ mode }) => mode === 'protected')
    const withKey = [
      ...people.filter(({ fingerprint }) => fingerprint !== null),
      ...sealing.map(({ id }) => ({ id, fingerprint: null })),
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
      if (opened.verdict === 'unopened') throw new RefusedError('sealed to others')
      const type = pictureType(bytes)
      const blob = new Blob([bytes], { type: type ?? 'application/octet-stream' })
      const { storedBytes, verdict } = opened
      const url = URL.createObjectURL(blob)
      const size = { bytes: bytes.length, storedBytes }
      this.#setPicture(key, { state: 'shown', url, type, verdict, ...size })
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
}

/**
 * @param {number} personId
 * @param {string} mediaId
 */
export function pictureKey(personId, mediaId) {
  return `${personId} ${mediaId}`
}
