import type { Engine } from '../pgp/engine.ts'
import type { PhoneLine } from './phone-line.ts'
import { readWords, type Opener, type ReadWords } from './phone-open.ts'
import { Sealer, type FileSealing, type Identity } from './phone-seal.ts'
import type { AnswerShown, ChatState, StoredMessage, WorldEvent } from './state.ts'

/** One thing that a phone showed its person. */
export interface Seen extends ReadWords {
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

export interface ShownAnswer extends AnswerShown {
  callbackId: string
}

/** What goes with a file. */
export interface SendOptions extends Omit<FileSealing, 'signer'> {
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
  readonly inbox: Seen[] = []
  readonly keyChanges: KeyChange[] = []
  readonly answers: ShownAnswer[] = []
  readonly #opener: Opener
  readonly #sealer: Sealer
  readonly #waiters = new Set<() => void>()
  #work: Promise<void> = Promise.resolve()

  constructor(o: { userId: number; engine: Engine; identity: Identity; line: PhoneLine }) {
    this.userId = o.userId
    this.#opener = o
    this.#sealer = new Sealer(o.engine, o.identity)
  }

  get fingerprint(): string {
    return this.#opener.identity.key.fingerprint
  }

  get certificate(): string {
    return this.#opener.identity.certificate
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
    const { line } = this.#opener
    const plan = line.plan({ chatId, text, replyTo: o.replyTo })
    const common = { chatId, replyTo: o.replyTo, addressed: plan.addressed }
    if (plan.mode === 'open') return line.post({ ...common, text })
    const armored = await this.seal(text, plan.certificates)
    return line.post({ ...common, armored })
  }

  /**
   * Sends a file into a chat, with or without words: sealed where the chat is encrypted, in a
   * group to its key list alone, so not to a bot in privacy mode (spec, GET /media/{id}).
   */
  async send(chatId: number, file: Uint8Array, o: SendOptions = {}): Promise<SentFile> {
    const { line } = this.#opener
    const { text = '', replyTo, durationMs } = o
    const plan = line.plan({ chatId, text, replyTo })
    const isOpen = plan.mode === 'open'
    const stored = isOpen ? file : await this.sealFile(file, plan.fileCertificates, o)
    const words = isOpen || text === '' ? text : await this.seal(text, plan.certificates)
    const mediaId = line.upload(stored)
    const messageId = line.post({
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
    const signer = signedBy === undefined ? undefined : signedBy.#opener.identity.key
    return await this.#sealer.file(file, certificates, { form, to, signer })
  }

  /** Takes up what the service tells. Everything is worked on in order. */
  receive(event: WorldEvent): void {
    if (event.kind === 'key' && this.#opener.line.knows(event.userId)) {
      this.keyChanges.push({ userId: event.userId, fingerprint: event.key?.fingerprint ?? null })
    }
    if (event.kind === 'answer' && event.press.userId === this.userId) {
      this.answers.push({ callbackId: event.press.id, ...event.answer })
    }
    if (event.kind !== 'message' && event.kind !== 'edited') return
    const { chat, message, kind } = event
    if (message.fromId === this.userId || !chat.seats.has(this.userId)) return
    const copy = { ...message }
    this.#work = this.#work.then(() => this.#show(chat, copy, kind))
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

  async #show(chat: ChatState, message: StoredMessage, how: 'message' | 'edited'): Promise<void> {
    const { id: messageId, fromId } = message
    const read = await readWords(this.#opener, message)
    this.inbox.push({ messageId, chatId: chat.id, fromId, edited: how === 'edited', ...read })
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
