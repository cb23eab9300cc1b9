import type { Engine } from '../../pgp/engine.ts'
import type { PhoneConnection } from './connection.ts'
import type { InboxEntry, KeyChange, PhoneMemory, ReceivedAnswer, UnreadMessage } from './memory.ts'
import { readMessage } from './read.ts'
import { PhoneSealer, type FileSealingOptions, type PhoneIdentity } from './seal.ts'
import type { WorldEvent } from '../state.ts'

/** Options of sending a file. */
export interface SendOptions extends Omit<FileSealingOptions, 'signer'> {
  text?: string | undefined
  replyTo?: number | undefined
  /** Of timed media. */
  durationMs?: number | undefined
  /** Another person's phone, whose key signs the file. */
  signedBy?: Phone | undefined
}

export interface SentFile {
  messageId: number
  /** The file is at `/media/<mediaId>` of the service. */
  mediaId: string
}

/**
 * A person's phone. It seals what the person writes, opens and verifies what others write, and
 * remembers what it showed. It asks the service for modes and certificates as a real one would.
 */
export class Phone {
  readonly userId: number
  readonly #engine: Engine
  readonly #connection: PhoneConnection
  readonly #sealer: PhoneSealer
  readonly #memory: PhoneMemory
  #nextUnread: number
  readonly #waiters = new Set<() => void>()
  #work: Promise<void> = Promise.resolve()

  constructor(o: {
    userId: number
    engine: Engine
    identity: PhoneIdentity
    connection: PhoneConnection
    memory: PhoneMemory
  }) {
    this.userId = o.userId
    this.#engine = o.engine
    this.#connection = o.connection
    this.#sealer = new PhoneSealer(o.engine, o.identity)
    this.#memory = o.memory
    const unread = [...o.memory.unread]
    this.#nextUnread = (unread.at(-1)?.[0] ?? 0) + 1
    for (const [n, message] of unread) this.#showLater(n, message)
  }

  /** The messages that it showed, oldest first. */
  get inbox(): readonly InboxEntry[] {
    return this.#memory.inbox.all
  }

  get keyChanges(): readonly KeyChange[] {
    return this.#memory.keyChanges.all
  }

  get answers(): readonly ReceivedAnswer[] {
    return this.#memory.answers.all
  }

  /** Its own keys, which a test can replace. */
  get identity(): PhoneIdentity {
    return this.#sealer.identity
  }

  set identity(identity: PhoneIdentity) {
    this.#sealer.identity = identity
  }

  get fingerprint(): string {
    return this.identity.key.fingerprint
  }

  get certificate(): string {
    return this.identity.certificate
  }

  /**
   * Writes into a chat. In an encrypted chat it seals to all people, and to the bots that the text
   * is for. Gives the message id.
   */
  async write(
    chatId: number,
    text: string,
    o: { replyTo?: number | undefined } = {},
  ): Promise<number> {
    const plan = this.#connection.plan({ chatId, text, replyTo: o.replyTo })
    const common = { chatId, replyTo: o.replyTo, addressed: plan.addressed }
    if (plan.mode === 'open') return this.#connection.post({ ...common, text })
    const armored = await this.seal(text, plan.certificates)
    return this.#connection.post({ ...common, armored })
  }

  /**
   * Sends a file into a chat, with or without text. In an encrypted chat it is sealed; in a group
   * only to the chat's key list, so not to a bot in privacy mode (spec, GET /media/{id}).
   */
  async send(chatId: number, file: Uint8Array, o: SendOptions = {}): Promise<SentFile> {
    const { text = '', replyTo, durationMs } = o
    const plan = this.#connection.plan({ chatId, text, replyTo })
    const isOpen = plan.mode === 'open'
    const stored = isOpen ? file : await this.sealFile(file, plan.fileCertificates, o)
    const content = isOpen || text === '' ? text : await this.seal(text, plan.certificates)
    const mediaId = this.#connection.upload(stored)
    const messageId = this.#connection.post({
      chatId,
      replyTo,
      addressed: plan.addressed,
      ...(content === '' ? {} : { [isOpen ? 'text' : 'armored']: content }),
      media: [{ id: mediaId, durationMs: durationMs ?? null }],
    })
    return { messageId, mediaId }
  }

  /** Seals to these certificates and its own, and signs. Unusable certificates are left out. */
  async seal(text: string, certificates: string[]): Promise<string> {
    return await this.#sealer.sealText(text, certificates)
  }

  /** Seals a file in the same way, unless the options say otherwise. */
  async sealFile(
    file: Uint8Array,
    certificates: string[],
    { form, to, signedBy }: Pick<SendOptions, 'form' | 'to' | 'signedBy'> = {},
  ): Promise<Uint8Array> {
    const options = { form, to, signer: signedBy?.identity.key }
    return await this.#sealer.sealFile(file, certificates, options)
  }

  /** Handles an event of the world. Messages are opened one after the other. */
  receive(event: WorldEvent): void {
    if (event.kind === 'key' && this.#connection.hasCommonChatWith(event.userId)) {
      const fingerprint = event.key?.fingerprint ?? null
      this.#memory.keyChanges.push({ userId: event.userId, fingerprint })
    }
    if (event.kind === 'answer' && event.press.userId === this.userId) {
      this.#memory.answers.push({ callbackId: event.press.id, ...event.answer })
    }
    if (event.kind !== 'message' && event.kind !== 'edited') return
    const { chat, message, kind } = event
    if (message.fromId === this.userId || !chat.members.has(this.userId)) return
    const unread = { chatId: chat.id, message: { ...message }, edited: kind === 'edited' }
    const n = this.#nextUnread++
    this.#memory.unread.set(n, unread)
    this.#showLater(n, unread)
  }

  /** Waits until every message received so far is in the inbox. */
  async settled(): Promise<void> {
    await this.#work
  }

  /** The first message in the inbox that matches, now or later. @throws Error after `withinMs` */
  async seen(matches: (seen: InboxEntry) => boolean, withinMs = 10_000): Promise<InboxEntry> {
    const endMs = Date.now() + withinMs
    for (;;) {
      const found = this.inbox.find(matches)
      if (found !== undefined) return found
      this.#connection.requireCurrent()
      if (Date.now() >= endMs) throw new Error('the phone did not see it in time')
      await this.#nextMessage(endMs - Date.now())
    }
  }

  #showLater(n: number, unread: UnreadMessage): void {
    this.#work = this.#work.then(() => this.#show(n, unread))
  }

  async #show(n: number, { chatId, message, edited }: UnreadMessage): Promise<void> {
    const { id: messageId, fromId } = message
    const reader = { engine: this.#engine, identity: this.identity, connection: this.#connection }
    const read = await readMessage(reader, message)
    this.#memory.unread.delete(n)
    this.#memory.inbox.push({ messageId, chatId, fromId, edited, ...read })
    for (const waiter of this.#waiters) waiter()
  }

  #nextMessage(withinMs: number): Promise<void> {
    return new Promise((resolve) => {
      const done = (): void => {
        clearTimeout(timer)
        this.#waiters.delete(done)
        resolve()
      }
      const timer = setTimeout(done, withinMs)
      this.#waiters.add(done)
    })
  }
}
