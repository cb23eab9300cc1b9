import type { Engine } from '../../openpgp/index.ts'
import type { FileForm } from '../control/fields.ts'
import type { PhoneConnection, SendPlan } from './connection.ts'
import { numberWith, type ShownNumber } from './number.ts'
import { openUnread, readFile, receivedOf } from './read.ts'
import type { MessageReader, ReadFile, ReceivedEvent, UnnumberedEvent } from './read.ts'
import { screenReader, type ChatScreen } from './screen.ts'
import type { PhoneIdentity } from './keys.ts'
import { isInboxEntry } from './seen.ts'
import type { InboxEntry, SeenKeyChange, ReceivedAnswer, SeenEvent } from './seen.ts'
import type { EventBody } from '../events/event.ts'
import type { Persistence } from '../persistence/persistence.ts'
import { Listeners, nextCall } from '../../util/listeners.ts'

/** Options of sending a file. */
export interface SendOptions {
  text?: string | undefined
  replyTo?: number | undefined
  /** Of timed media. */
  durationMs?: number | undefined
  /** How the file is sealed otherwise than usual. */
  form?: FileForm | undefined
  /** Certificates of those who alone can open the file, instead of all who should. */
  to?: string[] | undefined
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
  /** Its own keys, which a test can replace. */
  identity: PhoneIdentity
  readonly #engine: Engine
  readonly #connection: PhoneConnection
  /** What it showed, numbered from 1. */
  readonly #seen: SeenEvent[]
  readonly #stored: Map<number, SeenEvent>
  /** What it does not show yet, by ascending numbers. */
  readonly #unread: Map<number, ReceivedEvent>
  readonly #readScreen = screenReader()
  readonly #listeners = new Listeners()
  /** Calls back each time it showed something, until the returned function is called. */
  readonly onSeen = this.#listeners.add
  #nextUnread: number
  #work: Promise<void> = Promise.resolve()

  constructor(o: {
    userId: number
    engine: Engine
    identity: PhoneIdentity
    connection: PhoneConnection
    persistence: Persistence
  }) {
    this.userId = o.userId
    this.#engine = o.engine
    this.#connection = o.connection
    this.identity = o.identity
    this.#stored = o.persistence.map('shown', o.userId)
    this.#seen = [...this.#stored.values()]
    this.#unread = o.persistence.map('unread', o.userId)
    const unread = [...this.#unread]
    this.#nextUnread = (unread.at(-1)?.[0] ?? 0) + 1
    for (const [n, received] of unread) this.#showLater(n, received)
  }

  /** Everything that it showed, in order. */
  get seenEvents(): readonly SeenEvent[] {
    return this.#seen
  }

  /** The messages, edits, joins and leaves that it showed, oldest first. */
  get inbox(): readonly InboxEntry[] {
    return this.seenEvents.filter(isInboxEntry)
  }

  get keyChanges(): readonly SeenKeyChange[] {
    return this.seenEvents.filter((event) => event.kind === 'key')
  }

  get answers(): readonly ReceivedAnswer[] {
    return this.seenEvents.filter((event) => event.kind === 'answer')
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
  async write(chatId: number, text: string, { replyTo }: { replyTo?: number | undefined } = {}) {
    const plan = this.#connection.plan({ chatId, text, replyTo })
    const content = await this.#contentOf(text, plan)
    return this.#connection.post({ chatId, replyTo, addressed: plan.addressed, ...content })
  }

  /** A text as it is sent: readable, or sealed. */
  async #contentOf(text: string, { mode, certificates }: SendPlan) {
    return mode === 'open' ? { text } : { armored: await this.seal(text, certificates) }
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
    const content = text === '' ? {} : await this.#contentOf(text, plan)
    const mediaId = this.#connection.upload(stored)
    const messageId = this.#connection.post({
      chatId,
      replyTo,
      addressed: plan.addressed,
      ...content,
      media: [{ id: mediaId, durationMs: durationMs ?? null }],
    })
    return { messageId, mediaId }
  }

  /** Seals to these certificates and its own, and signs. Unusable certificates are left out. */
  async seal(text: string, certificates: string[]): Promise<string> {
    return await this.#engine.seal({
      text,
      certificates: await this.#usableOf(certificates),
      signer: this.identity.key,
      atMs: this.#connection.nowMs(),
      cipher: 'aes256',
      isUnnamed: true,
    })
  }

  /** Seals a file in the same way, unless the options differ. */
  async sealFile(
    file: Uint8Array,
    certificates: string[],
    { form = {}, to, signedBy = this }: Pick<SendOptions, 'form' | 'to' | 'signedBy'> = {},
  ): Promise<Uint8Array> {
    const { sealFile } = await import('./seal-file.ts')
    const own = to === undefined ? [this.identity.certificate] : []
    return await sealFile({
      file,
      certificates: [...(await this.#usableOf(to ?? certificates)), ...own],
      signer: signedBy.identity.key,
      atMs: this.#connection.nowMs(),
      form,
    })
  }

  async #usableOf(certificates: string[]): Promise<string[]> {
    const usable = await Promise.all(certificates.map((one) => this.#engine.judge(one)))
    return certificates.filter((_, index) => usable[index]?.unusable === null)
  }

  /**
   * Edits one of the person's own messages, sealed as `write` would seal it.
   * @throws ControlError when it is not there, or not the person's own
   */
  async edit(chatId: number, messageId: number, text: string): Promise<void> {
    const { replyTo } = this.#connection.ownMessage(chatId, messageId)
    const plan = this.#connection.plan({ chatId, text, replyTo: replyTo ?? undefined })
    this.#connection.edit({ chatId, messageId, ...(await this.#contentOf(text, plan)) })
  }

  /** Deletes one of the person's own messages for everybody. @throws ControlError as `edit` does */
  delete(chatId: number, messageId: number): void {
    this.#connection.ownMessage(chatId, messageId)
    this.#connection.delete(chatId, messageId)
  }

  /**
   * The screen of a chat: its messages as they are now, also the person's own, and who is typing.
   * @param messageId only this message of it
   * @throws ControlError when the person is not in the chat
   */
  async chat(chatId: number, messageId?: number): Promise<ChatScreen> {
    await this.settled()
    return await this.#readScreen({ chatId, messageId, seen: this.inbox }, this.#reader)
  }

  /**
   * A file of a message, as the phone shows it when the person taps on it.
   * @throws ControlError when the person is not in the chat, or the message has no such file
   */
  async openFile(o: { chatId: number; messageId: number; mediaId: string }): Promise<ReadFile> {
    return await readFile(this.#reader, this.#connection.download(o))
  }

  /** The safety number that it shows of a bot or person; null while they have no usable key. */
  async numberWith(otherId: number): Promise<ShownNumber | null> {
    return await numberWith(this.#reader, { ownId: this.userId, otherId })
  }

  /** Handles an event of the world. What it shows of them, it shows one after the other. */
  receive(event: EventBody): void {
    const received = receivedOf(event, { userId: this.userId, connection: this.#connection })
    if (received === null) return
    if ('seen' in received && this.#unread.size === 0) return this.#addSeen(received.seen)
    const n = this.#nextUnread++
    this.#unread.set(n, received)
    this.#showLater(n, received)
  }

  /** Waits until everything received so far is shown. */
  async settled(): Promise<void> {
    await this.#work
  }

  /**
   * The first message in the inbox that matches, now or later.
   * @throws Error after `withinMs`, with the last messages that it showed instead
   */
  async seen(matches: (seen: InboxEntry) => boolean, withinMs = 10_000): Promise<InboxEntry> {
    const timeout = AbortSignal.timeout(withinMs)
    for (;;) {
      const found = this.inbox.find(matches)
      if (found !== undefined) return found
      this.#connection.requireCurrent()
      if (timeout.aborted) throw new Error(describeMissing(this.inbox))
      await nextCall(this.onSeen, timeout)
    }
  }

  get #reader(): MessageReader {
    return { engine: this.#engine, identity: this.identity, connection: this.#connection }
  }

  #showLater(n: number, received: ReceivedEvent): void {
    const open = () => ('seen' in received ? received.seen : openUnread(this.#reader, received))
    this.#work = this.#work.then(open).then((event) => {
      this.#unread.delete(n)
      return this.#addSeen(event)
    })
  }

  #addSeen(event: UnnumberedEvent): void {
    const seen = { n: this.#seen.length + 1, ...event }
    this.#stored.set(seen.n, seen)
    this.#seen.push(seen)
    this.#listeners.emit()
  }
}

/** How much of the last message of an inbox an error repeats. */
const NAMED_CHARACTERS = 80

function describeMissing(inbox: readonly InboxEntry[]): string {
  const last = inbox
    .slice(-3)
    .map(({ text, kind }) => JSON.stringify(text.slice(0, NAMED_CHARACTERS) || kind))
  const shown = last.length === 0 ? 'it showed nothing' : `the last it showed: ${last.join(', ')}`
  return `the phone did not see it in time; ${shown}`
}
