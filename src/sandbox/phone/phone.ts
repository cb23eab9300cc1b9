import type { Engine } from '../../pgp/engine.ts'
import type { PhoneConnection } from './connection.ts'
import type { PhoneMemory, UnreadMessage } from './memory.ts'
import { readMessage, type ReadMessage } from './read.ts'
import { PhoneSealer, type FileSealingOptions, type PhoneIdentity } from './seal.ts'
import type { ButtonAnswer, WorldEvent } from '../state.ts'

/** One thing that a phone showed its person. */
export interface Seen extends ReadMessage {
  messageId: number
  chatId: number
  fromId: number
  /** An edit of a message shown before. */
  edited: boolean
}

export interface KeyChange {
  userId: number
  /** Null when the key was removed. */
  fingerprint: string | null
}

export interface ReceivedAnswer extends ButtonAnswer {
  callbackId: string
}

/** What goes with a file. */
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
 * A person's phone: seals what the person writes, opens and verifies what others write, and keeps
 * what it showed. It asks the service for modes and certificates as a real one would.
 */
export class Phone {
  readonly userId: number
  readonly #engine: Engine
  readonly #line: PhoneConnection
  readonly #sealer: PhoneSealer
  readonly #notes: PhoneMemory
  #nextUnread: number
  readonly #waiters = new Set<() => void>()
  #work: Promise<void> = Promise.resolve()

  constructor(o: {
    userId: number
    engine: Engine
    identity: PhoneIdentity
    line: PhoneConnection
    notes: PhoneMemory
  }) {
    this.userId = o.userId
    this.#engine = o.engine
    this.#line = o.line
    this.#sealer = new PhoneSealer(o.engine, o.identity)
    this.#notes = o.notes
    const left = [...o.notes.unread]
    this.#nextUnread = (left.at(-1)?.[0] ?? 0) + 1
    for (const [n, unread] of left) this.#showLater(n, unread)
  }

  /** What it showed, oldest first. */
  get inbox(): readonly Seen[] {
    return this.#notes.inbox.all
  }

  get keyChanges(): readonly KeyChange[] {
    return this.#notes.keyChanges.all
  }

  get answers(): readonly ReceivedAnswer[] {
    return this.#notes.answers.all
  }

  /** Its own keys; others can be put in their place. */
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
   * Writes into a chat, sealed where it is encrypted: to everybody in it, and to the bot when it
   * is addressed. Gives the message's id.
   */
  async write(
    chatId: number,
    text: string,
    o: { replyTo?: number | undefined } = {},
  ): Promise<number> {
    const plan = this.#line.plan({ chatId, text, replyTo: o.replyTo })
    const common = { chatId, replyTo: o.replyTo, addressed: plan.addressed }
    if (plan.mode === 'open') return this.#line.post({ ...common, text })
    const armored = await this.seal(text, plan.certificates)
    return this.#line.post({ ...common, armored })
  }

  /**
   * Sends a file into a chat, with or without words: sealed where the chat is encrypted, in a
   * group to its key list alone, so not to a bot in privacy mode (spec, GET /media/{id}).
   */
  async send(chatId: number, file: Uint8Array, o: SendOptions = {}): Promise<SentFile> {
    const { text = '', replyTo, durationMs } = o
    const plan = this.#line.plan({ chatId, text, replyTo })
    const isOpen = plan.mode === 'open'
    const stored = isOpen ? file : await this.sealFile(file, plan.fileCertificates, o)
    const words = isOpen || text === '' ? text : await this.seal(text, plan.certificates)
    const mediaId = this.#line.upload(stored)
    const messageId = this.#line.post({
      chatId,
      replyTo,
      addressed: plan.addressed,
      ...(words === '' ? {} : { [isOpen ? 'text' : 'armored']: words }),
      media: [{ id: mediaId, durationMs: durationMs ?? null }],
    })
    return { messageId, mediaId }
  }

  /** Seals and signs to these certificates and to itself; certificates of no use are left out. */
  async seal(text: string, certificates: string[]): Promise<string> {
    return await this.#sealer.words(text, certificates)
  }

  /** The same for a file; `o` says what is to be unusual about it. */
  async sealFile(
    file: Uint8Array,
    certificates: string[],
    { form, to, signedBy }: Pick<SendOptions, 'form' | 'to' | 'signedBy'> = {},
  ): Promise<Uint8Array> {
    const options = { form, to, signer: signedBy?.identity.key }
    return await this.#sealer.file(file, certificates, options)
  }

  /** Takes up what the service tells. Everything is worked on in order. */
  receive(event: WorldEvent): void {
    if (event.kind === 'key' && this.#line.knows(event.userId)) {
      const fingerprint = event.key?.fingerprint ?? null
      this.#notes.keyChanges.push({ userId: event.userId, fingerprint })
    }
    if (event.kind === 'answer' && event.press.userId === this.userId) {
      this.#notes.answers.push({ callbackId: event.press.id, ...event.answer })
    }
    if (event.kind !== 'message' && event.kind !== 'edited') return
    const { chat, message, kind } = event
    if (message.fromId === this.userId || !chat.members.has(this.userId)) return
    const unread = { chatId: chat.id, message: { ...message }, edited: kind === 'edited' }
    const n = this.#nextUnread++
    this.#notes.unread.set(n, unread)
    this.#showLater(n, unread)
  }

  /** Waits until everything received so far is in the inbox. */
  async settled(): Promise<void> {
    await this.#work
  }

  /** The first thing in the inbox that matches, now or later. @throws Error after `withinMs` */
  async seen(matches: (seen: Seen) => boolean, withinMs = 10_000): Promise<Seen> {
    const endMs = Date.now() + withinMs
    for (;;) {
      const found = this.inbox.find(matches)
      if (found !== undefined) return found
      if (Date.now() >= endMs) throw new Error('the phone did not see it in time')
      await this.#change(endMs - Date.now())
    }
  }

  #showLater(n: number, unread: UnreadMessage): void {
    this.#work = this.#work.then(() => this.#show(n, unread))
  }

  async #show(n: number, { chatId, message, edited }: UnreadMessage): Promise<void> {
    const { id: messageId, fromId } = message
    const who = { engine: this.#engine, identity: this.identity, line: this.#line }
    const read = await readMessage(who, message)
    this.#notes.unread.delete(n)
    this.#notes.inbox.push({ messageId, chatId, fromId, edited, ...read })
    for (const waiter of this.#waiters) waiter()
  }

  #change(withinMs: number): Promise<void> {
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
