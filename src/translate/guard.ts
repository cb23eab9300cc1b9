/**
 * The guard: the one place that decides whether a body may leave, and the only maker of what the
 * upstream client takes for a send or an edit (DESIGN: The guard).
 */
import type { KnownChats } from '../chats/known-chats.ts'
import type { ModeAnswer, Modes } from '../chats/modes.ts'
import { Refusal } from '../errors.ts'
import { monotonicNow } from '../fresh-cache.ts'
import { Sealed } from '../openpgp/sealed.ts'
import { issuePermit, type Outbound, type PermitTarget } from '../permit.ts'
import { looksEncrypted } from '../openpgp/format/encrypted-message.ts'
import { Freshness } from './freshness.ts'

/** How the chat must be written to; made by `Guard.rule` alone. */
class ChatRule {
  readonly chatId: number
  readonly body: 'sealed' | 'readable'
  /**
   * False once something was learned that forbids it.
   * @throws Refusal `postern_store_unwritable` when that is not known any more
   */
  readonly holds: () => boolean
  readonly #freshness: Freshness
  readonly #judged = true

  constructor(
    { chatId, body }: Pick<ChatRule, 'chatId' | 'body'>,
    freshness: Freshness,
    holds = () => true,
  ) {
    this.chatId = chatId
    this.body = body
    this.holds = holds
    this.#freshness = freshness
  }

  /**
   * Reads what any sidecar has learned, when the rule is not of just now.
   * @throws Refusal `postern_store_unwritable`
   */
  async renew(): Promise<void> {
    await this.#freshness.renew()
  }

  static isReal(value: unknown): boolean {
    return typeof value === 'object' && value !== null && #judged in value && value.#judged
  }
}
export type Rule = ChatRule

export interface GuardParts {
  /** Brings what is remembered up to what any sidecar has seen (`Store.fresh`). */
  fresh: () => Promise<void>
  /**
   * How old that may be when readable text is written to a connection, in ms; Infinity where no other
   * sidecar learns anything.
   */
  freshForMs: number
  knownChats: KnownChats
  modes: Modes
  /** Whether private chats are protected whatever the service says: from our first key on. */
  privateProtected(): boolean
  /** False for a sidecar without a key: then the service's word for open is taken as it is. */
  sealsForBot: boolean
  /** Setting `readableGroups`. */
  readableGroups: 'allow' | 'refuse'
  /** Setting `cache.chatSeconds`, in ms. */
  chatMaxAgeMs: number
}

export class Guard {
  readonly #parts: GuardParts

  constructor(parts: GuardParts) {
    this.#parts = parts
  }

  /**
   * How a chat must be written to. Readable only by an answer of the service that is no older than
   * the setting; what was seen private or protected is never asked.
   * @throws Refusal `postern_downgrade_refused`, `postern_store_unwritable`; ServiceError and
   *   NoResponseError when the mode cannot be learned
   */
  async rule(chatId: number): Promise<Rule> {
    const { knownChats, modes, chatMaxAgeMs, freshForMs } = this.#parts
    const freshness = new Freshness(this.#parts.fresh)
    await freshness.renew()
    const sealed = new ChatRule({ chatId, body: 'sealed' }, freshness)
    if (this.mustSeal(chatId)) return sealed
    const answer = await modes.get(chatId, monotonicNow() - chatMaxAgeMs)
    if (this.mustSeal(chatId) || answer.mode === 'protected') return sealed
    // it may be seen as a group at any time since the answer
    const whyNot = (): string | null =>
      this.#whyNotReadable(
        { ...answer, kind: knownChats.get(chatId)?.kind ?? answer.kind },
        this.#parts,
      )
    const refused = whyNot()
    if (refused !== null) {
      await knownChats.refused(chatId)
      throw new Refusal('postern_downgrade_refused', refused)
    }
    const holds = (): boolean => {
      freshness.requireWithin(freshForMs)
      return !this.mustSeal(chatId) && whyNot() === null
    }
    return new ChatRule({ chatId, body: 'readable' }, freshness, holds)
  }

  /** Whether a chat takes no readable text by what we remember of it. */
  mustSeal(chatId: number): boolean {
    const { knownChats } = this.#parts
    return (
      knownChats.isLatched(chatId) ||
      (knownChats.isPrivate(chatId) && this.#parts.privateProtected())
    )
  }

  /** Whether a chat will be sealed once there is a key, by an answer of the service. */
  willSeal(chatId: number, { mode }: Pick<ModeAnswer, 'mode'>): boolean {
    const { knownChats } = this.#parts
    const isPrivate = knownChats.isPrivate(chatId) && !knownChats.privateReadable
    return isPrivate || mode === 'protected' || this.mustSeal(chatId)
  }

  /** Why readable text will be refused once there is a key; null when it may leave. */
  whyNotReadable(chatId: number, answer: ModeAnswer): string | null {
    const kind = this.#parts.knownChats.get(chatId)?.kind ?? answer.kind
    const { readableGroups } = this.#parts
    return this.#whyNotReadable({ ...answer, kind }, { readableGroups, sealsForBot: true })
  }

  /** True without a key, now or ever: then whatever the bot sends is between it and the service. */
  get passesAll(): boolean {
    return !this.#parts.sealsForBot && !this.#parts.privateProtected()
  }

  /**
   * Lets what a bot sealed by itself leave. Where there was ever a key of ours, it must be an
   * encrypted message; otherwise the service judges it.
   * @throws Refusal `bad_request`
   */
  permitOwnSealing(
    target: PermitTarget,
    fields: { chatId: number; [name: string]: unknown },
    armored: string,
  ): Outbound {
    if (!this.passesAll) return permitSealed(target, fields, armored)
    return issuePermit(target, json({ ...fields, armored }))
  }

  #whyNotReadable(
    answer: { kind: string; historyVisible: boolean },
    { readableGroups, sealsForBot }: Pick<GuardParts, 'readableGroups' | 'sealsForBot'>,
  ): string | null {
    if (readableGroups === 'refuse') return 'the setting readableGroups refuses it'
    if (answer.kind === 'private' || answer.kind === 'channel') return null
    if (answer.kind !== 'group' && sealsForBot) {
      return 'the chat is of a kind that is not known'
    }
    if (!sealsForBot || answer.historyVisible) return null
    return 'the group claims to be open without an open history'
  }
}

/**
 * Lets a sealed body leave. Takes the other fields of the send or edit.
 * @param sealed what sealing made, or what a bot that does its own sealing gave
 * @param mayLeave asked before every attempt; throws a Refusal once it may not
 * @throws Refusal `bad_request` when it is not an encrypted message
 */
export function permitSealed(
  target: PermitTarget,
  fields: { chatId: number; [name: string]: unknown },
  sealed: Sealed | string,
  mayLeave?: () => boolean,
): Outbound {
  const isSealed = typeof sealed === 'string' ? looksEncrypted(sealed) : Sealed.isReal(sealed)
  if (!isSealed || 'text' in fields || 'armored' in fields) {
    throw new Refusal('bad_request', 'armored: must be an OpenPGP message')
  }
  if (typeof sealed === 'string') return issuePermit(target, json({ ...fields, armored: sealed }))
  // A hundred thousand characters that are ready for JSON are not gone through once more.
  const start = Buffer.from(`${JSON.stringify(fields).slice(0, -1)},"armored":"`)
  return issuePermit(target, Buffer.concat([start, ...sealed.json, Buffer.from('"}')]), mayLeave)
}

/** Lets readable text leave, for a chat that the guard ruled readable. */
export function permitReadable(
  rule: Rule,
  target: PermitTarget,
  fields: { chatId: number; [name: string]: unknown },
): Outbound {
  if (!ChatRule.isReal(rule) || rule.body !== 'readable' || rule.chatId !== fields.chatId) {
    throw new Refusal('postern_downgrade_refused')
  }
  return issuePermit(target, json(fields), rule.holds, () => rule.renew())
}

/** Lets an edit of the buttons alone leave: it has no body, and buttons are never encrypted. */
export function permitMarkup(
  target: PermitTarget,
  fields: { chatId: number; markup: unknown },
): Outbound {
  return issuePermit(target, json({ chatId: fields.chatId, markup: fields.markup }))
}

function json(fields: Record<string, unknown>): Buffer {
  return Buffer.from(JSON.stringify(fields))
}
