import type { Engine, Opened, UnlockedKey } from '../pgp/engine.ts'
import type { ChatState, StoredMessage, WorldEvent } from './state.ts'
import type { PhoneLine } from './phone-line.ts'

/** What a phone could establish about what it was sent. */
export type PhoneVerdict =
  /** Sealed to this phone and signed by the sender's published key. */
  | 'verified'
  /** Opened, but the signature is not the sender's, or is meant for others. */
  | 'bad'
  /** Opened; nobody signed it. */
  | 'unsigned'
  /** It came as readable words. */
  | 'readable'
  /** Sealed, and this phone cannot open it. */
  | 'unopened'

/** One thing that a phone showed its person. */
export interface Seen {
  messageId: number
  chatId: number
  fromId: number
  /** Empty for what could not be opened, and for service notices. */
  text: string
  verdict: PhoneVerdict
  /** Fingerprint of the certificate that verified it, else null. */
  signer: string | null
  /** An edit of a message shown before. */
  edited: boolean
}

export interface KeyChange {
  userId: number
  /** Null when the key was removed. */
  fingerprint: string | null
}

export interface ShownAnswer {
  callbackId: string
  text: string | null
  alert: boolean
  url: string | null
}

/** A phone's own key. */
export interface Identity {
  certificate: string
  key: UnlockedKey
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
  readonly #engine: Engine
  readonly #identity: Identity
  readonly #line: PhoneLine
  readonly #usable = new Map<string, Promise<boolean>>()
  readonly #waiters = new Set<() => void>()
  #work: Promise<void> = Promise.resolve()

  constructor(o: { userId: number; engine: Engine; identity: Identity; line: PhoneLine }) {
    this.userId = o.userId
    this.#engine = o.engine
    this.#identity = o.identity
    this.#line = o.line
  }

  get fingerprint(): string {
    return this.#identity.key.fingerprint
  }

  get certificate(): string {
    return this.#identity.certificate
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

  /** Seals and signs to these certificates and to itself; certificates of no use are left out. */
  async seal(text: string, certificates: string[]): Promise<string> {
    const usable = await Promise.all(certificates.map((one) => this.#isUsable(one)))
    return await this.#engine.seal({
      text,
      certificates: certificates.filter((_, index) => usable[index]),
      signer: this.#identity.key,
      cipher: 'aes256',
    })
  }

  /** Takes up what the service tells. Everything is worked on in order. */
  receive(event: WorldEvent): void {
    if (event.kind === 'key' && this.#line.knows(event.userId)) {
      this.keyChanges.push({ userId: event.userId, fingerprint: event.key?.fingerprint ?? null })
    }
    if (event.kind === 'answer' && event.press.userId === this.userId) {
      this.answers.push({ callbackId: event.press.id, ...event.answer })
    }
    if (event.kind !== 'message' && event.kind !== 'edited') return
    const { chat, message, kind } = event
    if (message.fromId === this.userId || !chat.seats.has(this.userId)) return
    const { text, armored } = message
    const copy = { ...message, text, armored }
    this.#work = this.#work.then(() => this.#show(chat, copy, kind === 'edited'))
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

  async #show(chat: ChatState, message: StoredMessage, edited: boolean): Promise<void> {
    const { id: messageId, fromId } = message
    const read = await this.#read(message).catch(() => UNOPENED)
    this.inbox.push({ messageId, chatId: chat.id, fromId, edited, ...read })
    for (const waiter of this.#waiters) waiter()
  }

  async #read({ armored, text, fromId }: StoredMessage): Promise<ReadWords> {
    if (armored === null) return { text: text ?? '', verdict: 'readable', signer: null }
    const opened = await this.#engine.open(armored, [this.#identity.key])
    if (opened.outcome !== 'opened') return UNOPENED
    const signer = this.#line.keyOf(fromId)
    const verdict = await this.#judge(opened, signer?.publicKey ?? null)
    return {
      text: opened.text,
      verdict,
      signer: verdict === 'verified' ? (signer?.fingerprint ?? null) : null,
    }
  }

  async #judge(
    opened: Extract<Opened, { outcome: 'opened' }>,
    certificate: string | null,
  ): Promise<PhoneVerdict> {
    if (opened.signatures.length === 0) return 'unsigned'
    if (certificate === null) return 'bad'
    const results = await this.#engine.verify(opened.signed, certificate, Date.now())
    const good = opened.signatures.some(
      ({ intended }, index) => results[index] === 'valid' && this.#isMeant(intended),
    )
    return good ? 'verified' : 'bad'
  }

  #isMeant(intended: string[]): boolean {
    return intended.length === 0 || intended.includes(this.fingerprint)
  }

  #isUsable(certificate: string): Promise<boolean> {
    const known = this.#usable.get(certificate)
    const judged =
      known ?? this.#engine.judge(certificate).then(({ unusable }) => unusable === null)
    this.#usable.set(certificate, judged)
    return judged
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

type ReadWords = Pick<Seen, 'text' | 'verdict' | 'signer'>
const UNOPENED: ReadWords = { text: '', verdict: 'unopened', signer: null }
